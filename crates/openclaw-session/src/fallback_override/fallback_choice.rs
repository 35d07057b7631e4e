//! Writes a fallback choice before its attempt starts, so that every reader sees the model about to be used (S-3).

use jiff::Timestamp;
use openclaw_ids::{ModelRef, SessionId};

use crate::entry::SessionEntry;
use crate::entry::{ModelOverride, PinSource, ProfilePin, SelectionSnapshot, StoredPin};
use crate::fallback_override::Rollback;

/// A fallback choice to write: the candidate that is about to be attempted, and what the run read when it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FallbackChoice {
    /// The transcript the run belongs to; an entry with another one is left alone (S1).
    pub session_id: SessionId,
    /// The model about to be attempted.
    pub candidate: ModelRef,
    /// The model that the run's request names, normalised like the candidates (S-3.3a).
    pub requested: ModelRef,
    /// On a probe turn the probed primary, which becomes the origin (S-3.4, S3).
    pub origin: Option<ModelRef>,
    /// The run's profile, or `None` when the candidate's provider uses other credentials (S-3.4).
    pub profile: Option<ProfilePin>,
    /// The selection group the run read at its start, after its own pin was stored (S-3.10).
    pub read: SelectionSnapshot,
}

/// Whether a [`FallbackChoice`] was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once per attempt and matched at once"
)]
pub enum PersistOutcome {
    /// The entry names the candidate now; keep the rollback until the attempt ends.
    Written(Rollback),
    /// Nothing was written, so there is nothing to roll back (S-4.8).
    Skipped(SkipCause),
}

/// Why a fallback choice was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipCause {
    /// The candidate is the requested model (S-3.3 item 2).
    RequestedModel,
    /// The selection changed since the run read it; the newer one stays (S-3.10).
    SelectionChanged,
    /// The entry is gone or belongs to another transcript (S-3.3 item 1, S-13 hazard 5).
    SessionChanged,
    /// The entry says so already (S-3.6).
    Unchanged,
    /// A person chose the model (S-3.3 item 3).
    UserPin,
}

/// Tests, snapshots and writes in one step, for use inside one compare-and-set on the stored entry (S-3, S-3.10, S1).
///
/// Only the selection group, `updatedAt` and our own note of when the fallback began change (S-3.8). A person's profile
/// pin that does not fit the candidate is parked until the fallback is over, for it is strict as long as its session
/// lasts (R5). A successful attempt leaves the result in place (S-3.9).
pub fn persist_fallback(
    entry: &SessionEntry,
    change: &FallbackChoice,
    now: Timestamp,
) -> (Option<SessionEntry>, PersistOutcome) {
    match written(entry, change) {
        Err(cause) => (None, PersistOutcome::Skipped(cause)),
        Ok(written) => {
            let rollback = Rollback::new(entry, written);
            let mut next = entry.clone();
            next.restore(rollback.written().clone());
            if entry.is_pinned_by_user() && next.pin != entry.pin {
                next.failover.parked_pin = Some(entry.pin.clone());
            }
            keep_displaced_pin(&mut next, entry, change);
            if !entry.is_active_fallback() {
                next.failover.fallback_since = Some(now.as_millisecond());
            }
            next.touch(now);
            (Some(next), PersistOutcome::Written(rollback))
        }
    }
}

/// The automatic pin of the provider that is left is kept for the way back (F-2).
fn keep_displaced_pin(next: &mut SessionEntry, before: &SessionEntry, change: &FallbackChoice) {
    let displaced = before
        .profile_pin()
        .filter(|pin| pin.source == PinSource::Auto && next.pin != before.pin);
    if let Some(pin) = displaced {
        let active = before
            .model_override
            .provider
            .as_ref()
            .filter(|_| before.is_auto());
        let provider = active.unwrap_or(change.requested.provider());
        next.failover
            .sticky_profiles
            .insert(provider.clone(), pin.profile);
    }
}

fn written(entry: &SessionEntry, change: &FallbackChoice) -> Result<SelectionSnapshot, SkipCause> {
    if entry.session_id != change.session_id {
        return Err(SkipCause::SessionChanged);
    }
    if change.candidate == change.requested {
        return Err(SkipCause::RequestedModel);
    }
    if entry.is_user_pin() {
        return Err(SkipCause::UserPin);
    }
    if entry.selection() != change.read {
        return Err(SkipCause::SelectionChanged);
    }
    let written = SelectionSnapshot {
        model_override: ModelOverride::fallback(&change.candidate, &origin(entry, change)),
        pin: StoredPin::from(change.profile.clone()),
    };
    if written == entry.selection() {
        return Err(SkipCause::Unchanged);
    }
    Ok(written)
}

/// The first origin survives a walk along the chain (S-3.4b); a probe turn starts a new one (S3).
fn origin(entry: &SessionEntry, change: &FallbackChoice) -> ModelRef {
    let kept = || entry.is_auto().then(|| entry.origin()).flatten();
    change
        .origin
        .clone()
        .or_else(kept)
        .unwrap_or_else(|| change.requested.clone())
}

#[cfg(test)]
mod tests;
