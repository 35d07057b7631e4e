//! Three-way merge: commits a change that was computed from a snapshot onto the entry that is stored now (S-12.4, S-8.1).

use serde_json::{Map, Value};

use crate::entry::{FailoverState, SessionEntry};

/// The outcome of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The change is in; store this.
    Applied(SessionEntry),
    /// The selection changed meanwhile: the person has to try again. Everything else of the change is in; store this
    /// (S-8.1).
    SelectionConflict(SessionEntry),
    /// The session points to another transcript now; nothing was applied (hazard 5).
    OtherSession,
}

/// Merges the step from `snapshot` to `changed` into `current` (S-12.4).
///
/// The selection group, with a pin that it displaced, and the runtime override are one transaction, applied as a whole
/// or not at all, together with the pending mark and the thinking level; a changed model override takes the runtime group along.
/// Without a selection change on either side the runtime group is applied as it is. Every other member is applied only
/// where `current` still has the snapshot's value. The later activity wins.
pub fn merge(snapshot: &SessionEntry, changed: &SessionEntry, current: &SessionEntry) -> MergeOutcome {
    if current.session_id != snapshot.session_id {
        return MergeOutcome::OtherSession;
    }
    let mut next = current.clone();
    next.updated_at = current.updated_at.max(changed.updated_at);
    merge_rest(&mut next, snapshot, changed);
    let wanted = transaction(changed) != transaction(snapshot);
    let raced = transaction(current) != transaction(snapshot);
    match (wanted, raced) {
        (true, true) => MergeOutcome::SelectionConflict(next),
        (true, false) => {
            next.restore(changed.selection());
            next.failover.parked_pin.clone_from(&changed.failover.parked_pin);
            next.failover.fallback_since = changed.failover.fallback_since;
            next.agent_runtime_override
                .clone_from(&changed.agent_runtime_override);
            next.thinking_level.clone_from(&changed.thinking_level);
            next.live_model_switch_pending = changed.live_model_switch_pending;
            if changed.model_override != snapshot.model_override {
                write_runtime_group(&mut next, changed);
            }
            MergeOutcome::Applied(next)
        }
        (false, raced) => {
            if !raced && runtime_group(changed) != runtime_group(snapshot) {
                write_runtime_group(&mut next, changed);
            }
            adopt(
                &mut next.thinking_level,
                &snapshot.thinking_level,
                &changed.thinking_level,
            );
            adopt(
                &mut next.live_model_switch_pending,
                &snapshot.live_model_switch_pending,
                &changed.live_model_switch_pending,
            );
            MergeOutcome::Applied(next)
        }
    }
}

fn transaction(entry: &SessionEntry) -> impl PartialEq {
    (
        entry.selection(),
        entry.failover.parked_pin.clone(),
        entry.agent_runtime_override.clone(),
    )
}

fn runtime_group(entry: &SessionEntry) -> impl PartialEq {
    (entry.last_answer.clone(), entry.notice.clone())
}

fn write_runtime_group(next: &mut SessionEntry, changed: &SessionEntry) {
    next.last_answer = changed.last_answer.clone();
    next.notice = changed.notice.clone();
}

/// The members that belong to no group, each on its own.
fn merge_rest(next: &mut SessionEntry, snapshot: &SessionEntry, changed: &SessionEntry) {
    adopt(&mut next.session_id, &snapshot.session_id, &changed.session_id);
    adopt(
        &mut next.compaction_count,
        &snapshot.compaction_count,
        &changed.compaction_count,
    );
    merge_failover(&mut next.failover, &snapshot.failover, &changed.failover);
    merge_members(
        next.unknown_members_mut(),
        snapshot.unknown_members(),
        changed.unknown_members(),
    );
}

/// Each memory on its own, so that a finished turn costs a person's choice nothing, nor the choice the turn. The parked
/// pin and the time when a fallback began belong to the selection.
fn merge_failover(next: &mut FailoverState, snapshot: &FailoverState, changed: &FailoverState) {
    adopt(&mut next.probes, &snapshot.probes, &changed.probes);
    adopt(
        &mut next.sticky_profiles,
        &snapshot.sticky_profiles,
        &changed.sticky_profiles,
    );
    adopt(&mut next.recent_runs, &snapshot.recent_runs, &changed.recent_runs);
    if (next.notices, &next.pending_notice) == (snapshot.notices, &snapshot.pending_notice) {
        next.notices = changed.notices;
        next.pending_notice.clone_from(&changed.pending_notice);
    }
    merge_members(&mut next.unknown, &snapshot.unknown, &changed.unknown);
}

/// Takes the changed value where no other writer changed it.
fn adopt<T: Clone + PartialEq>(current: &mut T, snapshot: &T, changed: &T) {
    if *current == *snapshot {
        current.clone_from(changed);
    }
}

fn merge_members(
    current: &mut Map<String, Value>,
    snapshot: &Map<String, Value>,
    changed: &Map<String, Value>,
) {
    let names: Vec<&String> = snapshot.keys().chain(changed.keys()).collect();
    for name in names {
        if current.get(name) != snapshot.get(name) {
            continue;
        }
        match changed.get(name) {
            Some(value) => {
                current.insert(name.clone(), value.clone());
            }
            None => {
                current.shift_remove(name);
            }
        }
    }
}

#[cfg(test)]
mod tests;
