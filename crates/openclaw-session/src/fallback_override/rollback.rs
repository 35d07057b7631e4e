//! The narrow rollback: undoes a fallback choice and nothing else (S-4, S1).

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId, SessionId};

use crate::entry::SessionEntry;
use crate::entry::{SelectionSnapshot, StoredPin};

/// What is needed to undo one write of [`persist_fallback`](crate::persist_fallback); used at most once (S-4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rollback {
    session_id: SessionId,
    written: SelectionSnapshot,
    before: SelectionSnapshot,
    parked_before: Option<StoredPin>,
    since_before: Option<i64>,
    sticky_before: BTreeMap<ProviderId, ProfileId>,
}

impl Rollback {
    /// How to get from an entry with `written` in it back to `before`.
    pub(crate) fn new(before: &SessionEntry, written: SelectionSnapshot) -> Self {
        Self {
            session_id: before.session_id.clone(),
            written,
            before: before.selection(),
            parked_before: before.failover.parked_pin.clone(),
            since_before: before.failover.fallback_since,
            sticky_before: before.failover.sticky_profiles.clone(),
        }
    }

    /// The transcript whose entry was written.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// The selection group that was written.
    pub fn written(&self) -> &SelectionSnapshot {
        &self.written
    }

    /// The selection group that the write replaced.
    pub fn before(&self) -> &SelectionSnapshot {
        &self.before
    }

    /// The same rollback for the transcript that continues this one after a compaction (S1).
    #[must_use]
    pub fn with_session_id(self, session_id: SessionId) -> Self {
        Self { session_id, ..self }
    }
}

impl SessionEntry {
    pub(crate) fn restore(&mut self, selection: SelectionSnapshot) {
        self.model_override = selection.model_override;
        self.pin = selection.pin;
    }
}

/// Restores what the write replaced, as far as it is still there; `None` when nothing is left to undo.
///
/// Two units (S-4.6): the model override goes back only when all its fields still hold what was written, and the pin only
/// when that is true for it too *and* the override went back. So a newer choice is never split, whatever it shares with
/// the fallback. Fields outside the selection group are left alone (S-4.5), and so is another transcript (S-13
/// hazard 5).
pub fn roll_back(entry: &SessionEntry, rollback: &Rollback, now: Timestamp) -> Option<SessionEntry> {
    if entry.session_id != rollback.session_id || entry.model_override != rollback.written.model_override {
        return None;
    }
    let mut next = entry.clone();
    next.model_override = rollback.before.model_override.clone();
    next.failover.fallback_since = rollback.since_before;
    if entry.pin == rollback.written.pin {
        next.failover.sticky_profiles.clone_from(&rollback.sticky_before);
        next.pin = rollback.before.pin.clone();
        next.failover.parked_pin.clone_from(&rollback.parked_before);
    } else {
        next.unpark_pin();
    }
    if next == *entry {
        return None;
    }
    next.touch(now);
    Some(next)
}

#[cfg(test)]
mod tests;
