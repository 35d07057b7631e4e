//! Applies a person's choice of model: `/model`, a picker, `session_status`, `sessions.patch` (S-8, S8).

mod three_way_merge;

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId};

use crate::entry::{LastAnswer, NoticeState, SessionEntry};
use crate::entry::{ModelOverride, PinSource, ProfilePin, StoredPin};

pub use three_way_merge::{MergeOutcome, merge};

/// A person's choice of model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// Whatever is configured: the override goes (`/model default`, `model: null`).
    Default,
    /// This model, also when it is the configured one (S8).
    Model(ModelRef),
}

/// What becomes of the session's auth profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileChoice {
    /// No profile was named: the pin goes.
    Drop,
    /// The pin stays, as the person took it when a fallback displaced it (R5); for callers that know it belongs to the
    /// chosen model's provider (S-5.5f), see [`SessionEntry::pin_after_fallback`].
    Keep,
    /// This profile, strict until the session ends (S-5.5a, R5).
    Named(ProfileId),
}

/// What the choice means for a run that is busy right now (S-12.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveEffect {
    /// It should switch when it can: the choice came from a person's surface.
    Mark,
    /// It is left alone.
    None,
    /// It should forget an earlier mark (`sessions.patch` with `model: null`).
    Unmark,
}

/// A person's choice as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSelection {
    /// The model.
    pub model: ModelChoice,
    /// The auth profile.
    pub profile: ProfileChoice,
    /// What a busy run should do.
    pub live: LiveEffect,
}

impl UserSelection {
    /// `/model <ref>[@profile]` and the pickers.
    pub fn model(model: ModelRef, profile: Option<ProfileId>) -> Self {
        Self {
            model: ModelChoice::Model(model),
            profile: profile.map_or(ProfileChoice::Drop, ProfileChoice::Named),
            live: LiveEffect::Mark,
        }
    }

    /// `/model default`: the override and the pin go (S-9).
    pub fn default_model() -> Self {
        Self {
            model: ModelChoice::Default,
            profile: ProfileChoice::Drop,
            live: LiveEffect::Mark,
        }
    }

    /// `sessions.patch` with `model: null`: the override and a pending mark go (S-9).
    pub fn cleared(profile: ProfileChoice) -> Self {
        Self {
            model: ModelChoice::Default,
            profile,
            live: LiveEffect::Unmark,
        }
    }
}

/// The entry after a person's choice, or `None` when it holds already (S-8).
///
/// `configured` is the model the session has without an override; only the record of what answered last is compared
/// with it. Whatever is chosen, nothing of an automatic override survives, not even its origin.
pub fn apply_user_selection(
    entry: &SessionEntry,
    selection: &UserSelection,
    configured: &ModelRef,
    now: Timestamp,
) -> Option<SessionEntry> {
    let mut next = entry.clone();
    let chosen = match &selection.model {
        ModelChoice::Default => {
            next.model_override = ModelOverride::default();
            configured
        }
        ModelChoice::Model(model) => {
            next.model_override = ModelOverride::user(model);
            model
        }
    };
    match &selection.profile {
        ProfileChoice::Drop => next.pin = StoredPin::default(),
        ProfileChoice::Keep => next.unpark_pin(),
        ProfileChoice::Named(profile) => {
            next.pin = StoredPin::from(Some(ProfilePin {
                profile: profile.clone(),
                source: PinSource::User,
            }));
        }
    }
    next.failover.parked_pin = None;
    next.forget_ended_fallback();
    let selection_changed = next.selection() != entry.selection();
    forget_another_answer(&mut next, entry, chosen);
    let changed = next != *entry;
    match selection.live {
        LiveEffect::Mark if selection_changed => next.live_model_switch_pending = true,
        LiveEffect::Mark | LiveEffect::None => {}
        LiveEffect::Unmark => next.live_model_switch_pending = false,
    }
    if next == *entry {
        return None;
    }
    if changed {
        next.notice = NoticeState::default();
    }
    next.touch(now);
    Some(next)
}

/// What the last answer came from, and what was derived from it, goes when the model changed or was another one.
fn forget_another_answer(next: &mut SessionEntry, before: &SessionEntry, chosen: &ModelRef) {
    let names =
        |model_override: &ModelOverride| (model_override.provider.clone(), model_override.model.clone());
    let model_changed = names(&next.model_override) != names(&before.model_override);
    let other_answered =
        !next.last_answer.names_no_model() && next.last_answer.model_ref().as_ref() != Some(chosen);
    if model_changed || other_answered {
        next.last_answer = LastAnswer::default();
    }
}

#[cfg(test)]
mod tests;
