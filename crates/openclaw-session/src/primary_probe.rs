//! The probe of the primary: a turn tries it again while its session runs on a fallback (S-6, S3, S6).

use jiff::{SignedDuration, Timestamp};
use openclaw_ids::{ModelRef, SessionId};

use crate::entry::{ModelOverride, PinSource, ProfilePin, SelectionSnapshot, StoredPin};
use crate::entry::{NoticeState, SessionEntry};

/// How long a probe of one primary in one session keeps others away (S-6.1).
pub const PROBE_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

/// A turn that tries the primary instead of the session's fallback, and the fallback it would replace (S-6.4b).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrimaryProbe {
    session_id: SessionId,
    primary: ModelRef,
    fallback: ModelRef,
    replaces: SelectionSnapshot,
    marked_before: Option<i64>,
}

impl PrimaryProbe {
    /// The model to request, and the origin of whatever is persisted when it fails (S-6.4a, S-3.4).
    pub fn primary(&self) -> &ModelRef {
        &self.primary
    }

    /// The transcript the probe was planned on; the entry of another one is left alone.
    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// The same probe for the transcript that continues this one after a compaction (S1).
    #[must_use]
    pub fn with_session_id(self, session_id: SessionId) -> Self {
        Self { session_id, ..self }
    }

    /// The fallback that the session is on.
    pub fn fallback(&self) -> &ModelRef {
        &self.fallback
    }

    /// The pin for a candidate of the fallback's own provider, which gets its profile back (S-3.4a); other
    /// candidates get none.
    pub fn profile_for(&self, candidate: &ModelRef) -> Option<ProfilePin> {
        if candidate.provider() == self.fallback.provider() {
            self.replaces.pin.pin()
        } else {
            None
        }
    }

    /// Whether the entry is still the one this probe was planned on.
    fn matches(&self, entry: &SessionEntry) -> bool {
        let names = |model_override: &ModelOverride| {
            let ModelOverride {
                provider,
                model,
                source: _,
                origin_provider,
                origin_model,
            } = model_override.clone();
            (provider, model, origin_provider, origin_model)
        };
        entry.session_id == self.session_id
            && entry.is_auto()
            && names(&entry.model_override) == names(&self.replaces.model_override)
    }
}

/// Whether this turn should try `primary` first; evaluated when the turn is prepared and again when it starts (S-6.6).
///
/// The session must run on an automatic override with both halves and a complete origin, other than that origin, and
/// no probe of this primary may have started within [`PROBE_INTERVAL`] (S-6.3). The primary need not be the stored
/// origin: a newly configured one is probed too (S3). A mark from the future comes from a moved clock and holds no turn back.
/// Which turns may ask is up to [`TurnRights`](crate::TurnRights).
pub fn probe_due(entry: &SessionEntry, primary: &ModelRef, now: Timestamp) -> Option<PrimaryProbe> {
    if !entry.is_auto() || entry.model_override.provider.is_none() || entry.model_override.model.is_none() {
        return None;
    }
    let fallback = entry.active_fallback()?;
    let marked_before = entry.failover.probes.get(&primary.key()).copied();
    if marked_before.is_some_and(|mark| is_recent(mark, now)) {
        return None;
    }
    Some(PrimaryProbe {
        session_id: entry.session_id.clone(),
        primary: primary.clone(),
        fallback,
        replaces: entry.selection(),
        marked_before,
    })
}

/// Records that the attempt on the primary starts now (S-6.5), so that a primary that is skipped costs nothing.
///
/// `None` when another turn of this session started one since this probe was planned; leave the primary to it
/// (hazard 11). Marks survive restarts, `/new` and `/model` (S6, S-6.2c).
pub fn mark_probe(entry: &SessionEntry, probe: &PrimaryProbe, now: Timestamp) -> Option<SessionEntry> {
    let key = probe.primary.key();
    if entry.failover.probes.get(&key).copied() != probe.marked_before {
        return None;
    }
    let mut next = entry.clone();
    next.failover.probes.retain(|_, mark| is_recent(*mark, now));
    next.failover.probes.insert(key, now.as_millisecond());
    Some(next)
}

fn is_recent(mark: i64, now: Timestamp) -> bool {
    let age = now.as_millisecond().saturating_sub(mark);
    age >= 0 && SignedDuration::from_millis(age) < PROBE_INTERVAL
}

/// Clears the automatic selection after the primary answered well, when the entry is still exactly what the probe
/// was planned on (S-6.7); `None` leaves a newer choice alone (hazard 4).
///
/// An automatic profile pin and the notice group go too; a person's pin that the fallback displaced comes back (R5). The
/// previous notice group must be read before, in the same fold, for the notice
/// ([`record_notice`](crate::record_notice), S4).
pub fn clear_after_probe(entry: &SessionEntry, probe: &PrimaryProbe, now: Timestamp) -> Option<SessionEntry> {
    if !probe.matches(entry) {
        return None;
    }
    let mut next = without_auto_selection(entry);
    next.notice = NoticeState::default();
    next.touch(now);
    Some(next)
}

/// A copy of the entry without its automatic selection: what the pin of a probe turn is chosen on (S-5.1c).
#[must_use]
pub fn without_auto_selection(entry: &SessionEntry) -> SessionEntry {
    let mut next = without_auto_pin(entry);
    next.model_override = ModelOverride::default();
    next.unpark_pin();
    next.forget_ended_fallback();
    next
}

fn without_auto_pin(entry: &SessionEntry) -> SessionEntry {
    let mut next = entry.clone();
    if entry.pin.effective_source() == PinSource::Auto {
        next.pin = StoredPin::default();
    }
    next
}

/// Stores the winner of a failed probe turn that did not persist its candidates one by one (S-6.8).
///
/// `None` when the entry is not what the probe was planned on any more, or the primary itself won. An automatic
/// profile is dropped when the winner has another provider.
pub fn settle_failed_probe(
    entry: &SessionEntry,
    probe: &PrimaryProbe,
    winner: &ModelRef,
    now: Timestamp,
) -> Option<SessionEntry> {
    if !probe.matches(entry) || winner == &probe.primary {
        return None;
    }
    let mut next = if winner.provider() == probe.fallback.provider() {
        entry.clone()
    } else {
        without_auto_pin(entry)
    };
    next.model_override = ModelOverride::fallback(winner, &probe.primary);
    if next == *entry {
        return None;
    }
    next.touch(now);
    Some(next)
}

#[cfg(test)]
mod tests;
