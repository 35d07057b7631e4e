//! The window of one lane: from when to when it blocks, why, and on which step of the ladder.

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelId;
use serde::{Deserialize, Serialize};

use crate::millis;

/// A time during which a lane blocks; it stays after its end, for its episode and its step (D2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// When the latest episode began: outcomes of attempts that started earlier belong to it (D2).
    #[serde(with = "millis")]
    pub opened_at: Timestamp,
    /// The first instant that is free again.
    #[serde(with = "millis")]
    pub until: Timestamp,
    /// Why it is open; changes only together with `until` (D3).
    pub reason: Reason,
    /// Episodes since the last reset; the ladder's step (D5).
    pub steps: u32,
    /// The end as the provider stated it, when that is what `until` is (D7).
    #[serde(with = "millis::option", default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Timestamp>,
    /// Who stated an account's end, and during which model; only written to `usageStats`, it blocks nothing more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<BlockedOrigin>,
    /// The latest failure of this lane; the failure window is counted from here (D1).
    #[serde(with = "millis")]
    pub last_failure_at: Timestamp,
    /// Whether an operator set this cooldown by hand; it blocks nothing more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_by_hand: bool,
    /// Members of a newer version; they survive every save (D13).
    #[serde(flatten)]
    pub unknown: serde_json::Map<String, serde_json::Value>,
}

/// How the end of an account's limit became known (cooldown.md 8.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockedOrigin {
    /// Where the end was stated, in the other program's words.
    pub source: BlockedSource,
    /// The model of the request; `None` when the limit became known without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
}

/// Where a blocked window's end was stated; the other program knows no other sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedSource {
    /// The answer that refused the request, of any provider.
    CodexRateLimits,
    /// The usage check after it.
    Wham,
}

impl Window {
    /// A first window from `opened_at` to `until`, on the ladder's first step.
    pub fn new(opened_at: Timestamp, until: Timestamp, reason: Reason) -> Self {
        Self {
            opened_at,
            until,
            reason,
            steps: 1,
            stated: None,
            origin: None,
            last_failure_at: opened_at,
            set_by_hand: false,
            unknown: serde_json::Map::new(),
        }
    }

    /// Whether it blocks at `now`; at its end it doesn't.
    pub fn is_active(&self, now: Timestamp) -> bool {
        now < self.until
    }

    /// Whether the outcome of an attempt that started at `started_at` belongs to this window's episode or an
    /// earlier one (D2).
    pub(crate) fn covers(&self, started_at: Option<Timestamp>, now: Timestamp) -> bool {
        started_before(started_at, self.opened_at, self.is_active(now))
    }
}

/// Whether an attempt started before its window opened; an unknown start counts so while the window is active (D2).
pub(crate) fn started_before(
    started_at: Option<Timestamp>,
    opened_at: Timestamp,
    is_window_active: bool,
) -> bool {
    started_at.map_or(is_window_active, |started_at| {
        millis::floor(started_at) < opened_at
    })
}
