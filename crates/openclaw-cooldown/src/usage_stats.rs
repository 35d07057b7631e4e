//! The other program's usage state of one profile: exact member names, and what is accepted (cooldown.md 1).

mod conversion;

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::{BlockedSource, millis};

pub use conversion::{adopt_usage_stats, to_usage_stats};

/// One entry of `usageStats`.
///
/// Deserialising drops values of known members that are of no use (cooldown.md 1.2) and keeps members it doesn't
/// know (D13).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Map<String, Value>", rename_all = "camelCase")]
pub struct UsageStats {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_used: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_count: Option<Number>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) failure_counts: BTreeMap<Reason, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_failure_at: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cooldown_until: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cooldown_reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cooldown_model: Option<ModelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disabled_until: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disabled_reason: Option<Reason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked_until: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked_reason: Option<BlockedReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked_source: Option<BlockedSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked_model: Option<ModelId>,
    #[serde(flatten)]
    pub(crate) unknown: Map<String, Value>,
}

/// The only reason a blocked window can have there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BlockedReason {
    SubscriptionLimit,
}

/// The reason under which the other program stores this one (C2).
pub(crate) fn stored_reason(reason: Reason) -> Reason {
    if reason == Reason::ServerError {
        Reason::Timeout
    } else {
        reason
    }
}

/// Whether the other program can store `reason` (cooldown.md 1.1: 13 of them).
pub(crate) fn is_persistable(reason: Reason) -> bool {
    match reason {
        Reason::Auth
        | Reason::AuthPermanent
        | Reason::Billing
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::RateLimit
        | Reason::SessionExpired
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => true,
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::Local
        | Reason::ServerError => false,
    }
}

impl UsageStats {
    /// The members of an entry that the other program knows; it drops all others when it saves (cooldown.md 1).
    pub const MEMBERS: &[&str] = &[
        "lastUsed",
        "errorCount",
        "failureCounts",
        "lastFailureAt",
        "cooldownUntil",
        "cooldownReason",
        "cooldownModel",
        "disabledUntil",
        "disabledReason",
        "blockedUntil",
        "blockedReason",
        "blockedSource",
        "blockedModel",
    ];

    /// Whether nothing is left to store; such an entry is dropped (cooldown.md 1.2).
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The stored count of consecutive errors; negative counts are 0, fractions are cut.
    pub(crate) fn episodes(&self) -> u32 {
        let count = self
            .error_count
            .as_ref()
            .and_then(Number::as_f64)
            .and_then(millis::whole);
        u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX)
    }
}

/// The last instant the other program can hold, in milliseconds.
const LAST_INSTANT: f64 = 8_640_000_000_000_000.0;

/// A stored number as an instant; `None` when it has no effect there: not above zero, or beyond its last instant.
/// A fraction counts as the next whole millisecond, which blocks exactly as long.
pub(crate) fn instant(number: Option<&Number>) -> Option<Timestamp> {
    let ms = number?.as_f64().filter(|ms| *ms > 0.0 && *ms <= LAST_INSTANT)?;
    let ms = i64::try_from(millis::whole(ms.ceil())?).unwrap_or(i64::MAX);
    Some(millis::saturating(ms))
}

impl From<Map<String, Value>> for UsageStats {
    fn from(mut members: Map<String, Value>) -> Self {
        let mut take = |name: &str| members.remove(name);
        Self {
            last_used: take("lastUsed").and_then(number),
            error_count: take("errorCount").and_then(number),
            failure_counts: take("failureCounts").map(counts).unwrap_or_default(),
            last_failure_at: take("lastFailureAt").and_then(number),
            cooldown_until: take("cooldownUntil").and_then(number),
            cooldown_reason: take("cooldownReason").and_then(reason),
            cooldown_model: take("cooldownModel").and_then(member),
            disabled_until: take("disabledUntil").and_then(number),
            disabled_reason: take("disabledReason").and_then(reason),
            blocked_until: take("blockedUntil").and_then(number),
            blocked_reason: take("blockedReason").and_then(member),
            blocked_source: take("blockedSource").and_then(member),
            blocked_model: take("blockedModel").and_then(member),
            unknown: members,
        }
    }
}

fn number(value: Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn reason(value: Value) -> Option<Reason> {
    member(value).filter(|reason| is_persistable(*reason))
}

fn member<T: serde::de::DeserializeOwned>(value: Value) -> Option<T> {
    serde_json::from_value(value).ok()
}

fn counts(value: Value) -> BTreeMap<Reason, u64> {
    let Value::Object(rows) = value else {
        return BTreeMap::new();
    };
    let row = |(name, count): (String, Value)| {
        let reason = name.parse().ok().filter(|reason| is_persistable(*reason))?;
        let count = count
            .as_u64()
            .or_else(|| count.as_f64().and_then(millis::whole))?;
        (count > 0).then_some((reason, count))
    };
    rows.into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests;
