//! Fallback notices: when a person is notified that another model answered, and the text (S-10, S4).

mod outbox;
mod reason;

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProviderId, SessionId};
use openclaw_providers::cli_runtime_owner;

use crate::entry::{Notice, NoticeKind, NoticeState, SessionEntry};

pub use outbox::NoticeOutbox;
pub use reason::{FailedAttempt, reason_summary};

/// The reason that is shown when no attempt failed (S-10.4a).
pub(crate) const NO_REASON: &str = "selected model unavailable";

/// How a turn changed the announced fallback state (S-10.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeTransition {
    /// The selected model answers again.
    Cleared,
    /// Another model answers than before.
    Entered,
    /// The selected model answered, as before.
    None,
    /// The same other model answered as last time.
    Sticky,
}

/// The model that a person believes to use: the one that an automatic override replaces, else the requested one
/// (S-10.2). Evaluated on the entry as it is after the run.
pub fn selected_model(entry: &SessionEntry, requested: &ModelRef) -> ModelRef {
    let origin = entry.is_auto().then(|| entry.origin()).flatten();
    origin.unwrap_or_else(|| requested.clone())
}

/// Whether two references are one model to a person (S-10.2).
fn same_model(one: &ModelRef, other: &ModelRef) -> bool {
    fn home(provider: &ProviderId) -> &str {
        cli_runtime_owner(provider).map_or(provider.as_str(), |owner| owner.id)
    }
    one == other || (home(one.provider()) == home(other.provider()) && one.model() == other.model())
}

/// Compares what was announced with what happened (S-10.3); tolerates any stored combination (hazard 14).
pub fn notice_transition(before: &NoticeState, selected: &ModelRef, active: &ModelRef) -> NoticeTransition {
    let known = (before.selected.as_deref(), before.active.as_deref());
    if same_model(selected, active) {
        return match known {
            (Some(one), Some(other)) if one != other => NoticeTransition::Cleared,
            _ => NoticeTransition::None,
        };
    }
    if known == (Some(&selected.key()), Some(&active.key())) {
        NoticeTransition::Sticky
    } else {
        NoticeTransition::Entered
    }
}

/// How a finished turn went, for [`record_notice`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTurn {
    /// The transcript of the turn; no notice is made in another one (S1).
    pub session_id: SessionId,
    /// See [`selected_model`].
    pub selected: ModelRef,
    /// The model that answered.
    pub active: ModelRef,
    /// See [`reason_summary`].
    pub reason: String,
}

/// Stores the fallback state of a finished turn and the notice that it calls for (S-10.3).
///
/// `before` is the notice group before a successful probe cleared it (S-10.3c, S4), read in the same fold; without a
/// probe it is the entry's own. A sticky turn keeps the stored reason (S-10.3b). The notice is stored with the state
/// until it was handed over, see [`NoticeOutbox`]. A turn that outlived its session changes nothing (S-13 hazard 5).
pub fn record_notice(
    entry: &SessionEntry,
    before: &NoticeState,
    turn: &FinishedTurn,
    now: Timestamp,
) -> (Option<SessionEntry>, NoticeTransition) {
    let (selected, active) = (turn.selected.key(), turn.active.key());
    if entry.session_id != turn.session_id {
        return (None, NoticeTransition::None);
    }
    let outcome = notice_transition(before, &turn.selected, &turn.active);
    let mut next = entry.clone();
    let announced = match outcome {
        NoticeTransition::Sticky => None,
        NoticeTransition::None => {
            next.notice = NoticeState::default();
            None
        }
        NoticeTransition::Entered => {
            next.notice = NoticeState {
                selected: Some(selected.clone()),
                active: Some(active.clone()),
                reason: Some(turn.reason.clone()),
            };
            let text = entered_text(&selected, &active, &turn.reason);
            Some((NoticeKind::Fallback, text, Some(turn.reason.clone())))
        }
        NoticeTransition::Cleared => {
            next.notice = NoticeState::default();
            let was = before.active.as_deref().filter(|was| *was != selected);
            let reason = was.map(|was| format!("was {was}"));
            Some((NoticeKind::FallbackCleared, cleared_text(&selected, was), reason))
        }
    };
    if let Some((kind, text, reason)) = announced {
        next.failover.notices = next.failover.notices.saturating_add(1);
        next.failover.pending_notice = Some(Notice {
            id: format!("{}:{}", next.session_id, next.failover.notices),
            kind,
            selected,
            active,
            reason,
            text,
        });
    }
    if next == *entry {
        return (None, outcome);
    }
    next.touch(now);
    (Some(next), outcome)
}

fn entered_text(selected: &str, active: &str, reason: &str) -> String {
    format!("↪️ Model Fallback: {active} (selected {selected}; {reason})")
}

fn cleared_text(selected: &str, was: Option<&str>) -> String {
    match was {
        Some(was) if was != selected => format!("↪️ Model Fallback cleared: {selected} (was {was})"),
        _ => format!("↪️ Model Fallback cleared: {selected}"),
    }
}

/// The text for a fallback that answered without visible content (S-10.5b).
pub fn no_visible_reply_text(selected: &ModelRef, active: &ModelRef) -> String {
    format!(
        "⚠️ I couldn't reach the configured model backend {selected}. \
         Fallback used {active}, but it produced no visible reply."
    )
}

/// Forgets the stored notice once it was handed over; `None` when another one took its place.
pub fn acknowledge_notice(entry: &SessionEntry, id: &str) -> Option<SessionEntry> {
    entry.pending_notice().filter(|notice| notice.id == id)?;
    let mut next = entry.clone();
    next.failover.pending_notice = None;
    Some(next)
}

#[cfg(test)]
mod tests;
