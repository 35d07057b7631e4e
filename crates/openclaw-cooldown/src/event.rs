//! The outcome of an attempt, as input of the usage state: a failure or a success.

use jiff::Timestamp;
use openclaw_classify::{Reason, ResetHint, Scope, Verdict};
use openclaw_ids::{ModelId, ProviderId};

/// One failed attempt that concerns a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureEvent {
    /// The profile's provider; decides the billing override and the bypass (D8).
    pub provider: ProviderId,
    /// Why it failed.
    pub reason: Reason,
    /// What the signal concerns.
    pub scope: MarkScope,
    /// The model of the request, when known.
    pub model: Option<ModelId>,
    /// The end that the provider stated (D7).
    pub hint: Option<ResetHint>,
    /// When the attempt started; `None` counts as the same episode while a window is active, else as now (D2).
    pub started_at: Option<Timestamp>,
}

/// What a mark concerns: `classify`'s scope without the two that never reach a profile (C-10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MarkScope {
    /// This model of the profile.
    Model,
    /// This model of the profile alone, also for reasons that otherwise concern all of them: the provider tied the
    /// refusal to the model.
    OneModel,
    /// The whole profile: the signal is account-wide.
    Profile,
}

impl MarkScope {
    /// The part of a verdict's scope that concerns a profile; `None` when it concerns none (C-10, D4).
    pub fn of(scope: Scope) -> Option<Self> {
        match scope {
            Scope::Model => Some(Self::Model),
            Scope::Profile => Some(Self::Profile),
            Scope::Endpoint | Scope::None => None,
        }
    }

    /// What a verdict marks: a bill or login that is refused for one model leaves the others of the profile alone.
    pub fn of_verdict(verdict: &Verdict) -> Option<Self> {
        let scope = Self::of(verdict.scope)?;
        Some(match (verdict.reason, scope) {
            (Reason::Auth | Reason::AuthPermanent | Reason::Billing, Self::Model) => Self::OneModel,
            _ => scope,
        })
    }
}

/// One successful attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuccessEvent {
    /// The model that answered; `None` disproves the windows of all models.
    pub model: Option<ModelId>,
    /// When the attempt started (D2); see [`FailureEvent::started_at`].
    pub started_at: Option<Timestamp>,
}
