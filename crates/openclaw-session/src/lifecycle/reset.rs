//! Resets and compaction: what a new transcript keeps of the old one (S-9, S1).

use jiff::Timestamp;
use openclaw_ids::{ModelRef, SessionId};

use crate::entry::{LastAnswer, NoticeState, SessionEntry};
use crate::entry::{ModelOverride, OverrideSource, StoredPin};

/// Why a session starts over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// A person said `/new` or `/reset`, or the session expired by day or by idleness.
    NewSession,
    /// The call `sessions.reset`, which records the model it will use.
    Call {
        /// The selection after the reset.
        selection: ModelRef,
    },
}

/// Members of the host that count tokens of the transcript; a new one starts without them (S-9).
const TOKEN_COUNTERS: &[&str] = &["inputTokens", "outputTokens", "totalTokens"];

/// The entry of a session that starts over with the transcript `session_id` (S-9).
///
/// A person's model stays and is marked as theirs, also when it was stored before there were marks; an automatic
/// override goes. Every profile pin ends with the session, a person's too, whatever starts it over (R5, F-10). Probe marks belong to the session's key and stay (S-6.2c).
#[must_use]
pub fn reset(entry: &SessionEntry, session_id: SessionId, kind: &Reset, now: Timestamp) -> SessionEntry {
    let mut next = entry.clone();
    next.session_id = session_id;
    next.model_override = if entry.is_user_pin() {
        ModelOverride {
            source: Some(OverrideSource::User),
            origin_provider: None,
            origin_model: None,
            ..entry.model_override.clone()
        }
    } else {
        ModelOverride::default()
    };
    next.notice = NoticeState::default();
    next.failover.parked_pin = None;
    next.failover.sticky_profiles.clear();
    next.forget_ended_fallback();
    next.failover.pending_notice = None;
    next.live_model_switch_pending = false;
    next.pin = StoredPin::default();
    match kind {
        Reset::NewSession => {
            next.last_answer = LastAnswer::default();
            next.compaction_count = 0;
            for counter in TOKEN_COUNTERS {
                next.unknown_members_mut().shift_remove(*counter);
            }
        }
        Reset::Call { selection } => {
            next.last_answer.model_provider = Some(selection.provider().clone());
            next.last_answer.model = Some(selection.model().clone());
        }
    }
    next.touch(now);
    next
}

/// Why a session key points to another transcript now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationCause {
    /// The transcript was compacted into a new one; the conversation goes on.
    Compaction,
    /// The session was idle or old.
    Expiry,
    /// A person or a call started over.
    Reset,
}

/// A session key points to another transcript now; an event for runs that are busy (S1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRotation {
    /// The transcript until now.
    pub old: SessionId,
    /// The transcript from now on.
    pub new: SessionId,
    /// Why.
    pub cause: RotationCause,
}

impl SessionRotation {
    /// The transcript that a run of `current` writes to from now on; `None` ends its writes (S1, hazards 5 and 7).
    pub fn adopt(&self, current: &SessionId) -> Option<SessionId> {
        if *current != self.old {
            return Some(current.clone());
        }
        match self.cause {
            RotationCause::Compaction => Some(self.new.clone()),
            RotationCause::Expiry | RotationCause::Reset => None,
        }
    }
}

/// The entry after a compaction, which may have moved it to another transcript. Selection and pin stay; the higher
/// count moves an automatic pin on in the next turn (S-5.3 row 4, hazard 7).
#[must_use]
pub fn record_compaction(entry: &SessionEntry, moved_to: Option<SessionId>, now: Timestamp) -> SessionEntry {
    let mut next = entry.clone();
    next.session_id = moved_to.unwrap_or(next.session_id);
    next.compaction_count = next.compaction_count.saturating_add(1);
    next.failover.sticky_profiles.clear();
    next.touch(now);
    next
}

#[cfg(test)]
mod tests;
