//! Lanes: the independent windows of one profile, and which reason belongs to which.

use std::fmt;
use std::str::FromStr;

use openclaw_classify::Reason;
use openclaw_ids::ModelId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{FailureEvent, MarkScope};

/// One of a profile's independent windows; each has its own step count (D4, D5).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// A dead credential; doubles from `authPermanentBackoffMinutes`.
    AuthPermanent,
    /// An unpaid bill; doubles from `billingBackoffHours`.
    Billing,
    /// An account-wide limit whose end the provider stated (D7); it has no ladder of its own.
    Blocked,
    /// One model of this profile; the short ladder.
    Model(ModelId),
    /// The whole profile; the short ladder.
    Profile,
}

/// The lanes without a model, with their names in JSON.
const NAMES: &[(&str, Lane)] = &[
    ("auth_permanent", Lane::AuthPermanent),
    ("billing", Lane::Billing),
    ("blocked", Lane::Blocked),
    ("profile", Lane::Profile),
];

/// The prefix of a model id in JSON.
const MODEL_PREFIX: &str = "model:";

impl Lane {
    /// Whether a window of this lane blocks `model`; `None` asks about any model, so every lane counts
    /// (cooldown.md 6). Model ids are compared exactly (cooldown.md 5, M3).
    pub fn concerns(&self, model: Option<&ModelId>) -> bool {
        match self {
            Self::Model(own) => model.is_none_or(|model| model == own),
            Self::AuthPermanent | Self::Billing | Self::Blocked | Self::Profile => true,
        }
    }

    /// Whether a window of this lane blocks every model of the profile (cooldown.md 5, M4).
    pub(crate) fn is_profile_wide(&self) -> bool {
        match self {
            Self::Model(_) => false,
            Self::AuthPermanent | Self::Billing | Self::Blocked | Self::Profile => true,
        }
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AuthPermanent => f.write_str("auth_permanent"),
            Self::Billing => f.write_str("billing"),
            Self::Blocked => f.write_str("blocked"),
            Self::Model(model) => write!(f, "{MODEL_PREFIX}{model}"),
            Self::Profile => f.write_str("profile"),
        }
    }
}

/// A text that names no lane.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a window lane; use auth_permanent, billing, blocked, profile or model:<id>")]
pub struct ParseLaneError(pub String);

impl FromStr for Lane {
    type Err = ParseLaneError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fixed = NAMES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, lane)| lane.clone());
        let model = || Some(Self::Model(text.strip_prefix(MODEL_PREFIX)?.parse().ok()?));
        fixed
            .or_else(model)
            .ok_or_else(|| ParseLaneError(text.to_owned()))
    }
}

impl Serialize for Lane {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Lane {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// In which lane a reason opens its window.
#[derive(Debug, Clone, PartialEq, Eq)]
enum LaneRule {
    /// Always this lane.
    Always(Lane),
    /// By the scope of the signal: account-wide, or the model when it is known.
    ByScope,
    /// The model when it is known, whatever the scope (D4).
    Model,
    /// None: it is never a credential's fault (C-10).
    None,
}

/// Whether a stated reset time decides about the end of this reason's window (D7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HintPolicy {
    Believe,
    Ignore,
}

/// The lane table (D4, D6, C2): an invalid key or a missing model doesn't come back by itself at a stated time.
#[rustfmt::skip]
fn policy(reason: Reason) -> (LaneRule, HintPolicy) {
    match reason {
        Reason::Auth            => (LaneRule::Always(Lane::Profile),       HintPolicy::Ignore),
        Reason::AuthPermanent   => (LaneRule::Always(Lane::AuthPermanent), HintPolicy::Ignore),
        Reason::Billing         => (LaneRule::Always(Lane::Billing),       HintPolicy::Believe),
        Reason::RateLimit       => (LaneRule::ByScope,                       HintPolicy::Believe),
        Reason::Overloaded
        | Reason::ServerError
        | Reason::Timeout       => (LaneRule::Model,                       HintPolicy::Believe),
        Reason::ModelNotFound   => (LaneRule::Model,                       HintPolicy::Ignore),
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::Local
        | Reason::NoErrorDetails
        | Reason::SessionExpired
        | Reason::Unclassified
        | Reason::Unknown       => (LaneRule::None,                     HintPolicy::Ignore),
    }
}

/// The lane of `event`'s ladder, or `None` when nothing is marked.
pub(crate) fn lane_of(event: &FailureEvent) -> Option<Lane> {
    let model = || event.model.clone().map_or(Lane::Profile, Lane::Model);
    match (policy(event.reason).0, event.scope) {
        (LaneRule::Always(lane), MarkScope::Model | MarkScope::Profile) => Some(lane),
        (LaneRule::ByScope, MarkScope::Profile) => Some(Lane::Profile),
        (LaneRule::Always(_) | LaneRule::ByScope, MarkScope::OneModel)
        | (LaneRule::ByScope, MarkScope::Model)
        | (LaneRule::Model, _) => Some(model()),
        (LaneRule::None, _) => None,
    }
}

/// Whether a window of this reason may be that of one model (D4).
pub(crate) fn may_block_one_model(reason: Reason) -> bool {
    match policy(reason).0 {
        LaneRule::ByScope | LaneRule::Model => true,
        LaneRule::Always(_) | LaneRule::None => false,
    }
}

/// What a stated reset time means for a failure with this reason.
pub(crate) fn hint_policy(reason: Reason) -> HintPolicy {
    policy(reason).1
}

#[cfg(test)]
mod tests;
