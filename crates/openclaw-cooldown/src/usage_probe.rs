//! What the usage check of an OpenAI subscription says about a limit (cooldown.md 8); the call is made elsewhere.

mod codex;

use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_ids::ProviderId;
use serde_json::{Map, Value};

use crate::{FailureEvent, MarkScope, millis};

pub use codex::codex_reset;

/// What came back from the usage check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UsageReply<'a> {
    /// An HTTP answer; `body` is `None` when it was no JSON.
    Answered {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: Option<&'a Value>,
    },
    /// The network failed, or there was no answer in time.
    Failed,
}

/// What the reply means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageFinding {
    /// What it does.
    pub effect: UsageEffect,
    /// The stable name of the table's row, for logs.
    pub label: &'static str,
}

/// What a finding does to the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageEffect {
    /// The account is blocked until this instant.
    BlockedUntil(Timestamp),
    /// The failing model rests at least this long.
    Cooldown(Duration),
}

/// Reasons that the usage check may explain (cooldown.md 8.3).
const EXPLAINED: &[Reason] = &[
    Reason::RateLimit,
    Reason::EmptyResponse,
    Reason::NoErrorDetails,
    Reason::Unclassified,
    Reason::Unknown,
];

/// The HTTP answers that decide alone: statuses from, to, the wait, the label.
#[rustfmt::skip]
const BY_STATUS: &[(u16, u16, Duration, &str)] = &[
    (401, 401,      Duration::from_hours(12), "wham_token_expired"),
    (403, 403,      Duration::from_hours(24), "wham_account_dead"),
    (0,   199,      Duration::from_mins(5),   "wham_http_error"),
    (300, u16::MAX, Duration::from_mins(5),   "wham_http_error"),
];

/// Requests come too fast, but the limit is not reached.
const CONTENTION: UsageFinding = cooldown(15, "wham_burst_contention");

/// Nothing can be read off the reply.
const NOTHING: UsageFinding = cooldown(30, "wham_probe_failed");

const fn cooldown(seconds: u64, label: &'static str) -> UsageFinding {
    UsageFinding {
        effect: UsageEffect::Cooldown(Duration::from_secs(seconds)),
        label,
    }
}

/// Whether the usage check can explain a failure of an OAuth profile of `provider` (cooldown.md 8.3).
pub fn is_explained_by_usage(provider: &ProviderId, reason: Reason) -> bool {
    provider.as_str() == "openai" && EXPLAINED.contains(&reason)
}

/// Reads the reply of the usage check (cooldown.md 8.3).
pub fn read_usage(reply: UsageReply<'_>, now: Timestamp) -> UsageFinding {
    let UsageReply::Answered { status, body } = reply else {
        return NOTHING;
    };
    if let Some((_, _, wait, label)) = BY_STATUS
        .iter()
        .find(|(from, to, ..)| (*from..=*to).contains(&status))
    {
        return UsageFinding {
            effect: UsageEffect::Cooldown(*wait),
            label,
        };
    }
    let Some(limit) = body.and_then(|body| body.get("rate_limit")?.as_object()) else {
        return NOTHING;
    };
    if limit.get("limit_reached") == Some(&Value::Bool(false)) {
        return CONTENTION;
    }
    let window = |name: &str| limit.get(name).and_then(Value::as_object);
    let (window, label) = match (window("primary_window"), window("secondary_window")) {
        (primary, None) => (primary, "wham_personal_rolling"),
        (_, Some(secondary)) if is_used_up(secondary) => (Some(secondary), "wham_team_weekly"),
        (Some(primary), Some(_)) if is_used_up(primary) => (Some(primary), "wham_team_rolling"),
        (_, Some(_)) => (None, ""),
    };
    window
        .and_then(|window| reset(window, now))
        .map_or(NOTHING, |at| UsageFinding {
            effect: UsageEffect::BlockedUntil(at),
            label,
        })
}

fn is_used_up(window: &Map<String, Value>) -> bool {
    window
        .get("used_percent")
        .and_then(Value::as_f64)
        .is_some_and(|used| used >= 100.0)
}

/// A number above zero under `name`.
fn positive(window: &Map<String, Value>, name: &str) -> Option<f64> {
    window
        .get(name)
        .and_then(Value::as_f64)
        .filter(|number| *number > 0.0)
}

/// `reset_after_seconds` when it is given (a fraction makes it useless), else `reset_at`; never in the past.
fn reset(window: &Map<String, Value>, now: Timestamp) -> Option<Timestamp> {
    if let Some(seconds) = positive(window, "reset_after_seconds") {
        let whole = millis::whole(seconds).filter(|_| seconds.fract() == 0.0)?;
        return Some(millis::after(now, Duration::from_secs(whole)));
    }
    let epoch = positive(window, "reset_at").and_then(millis::whole)?;
    Some(millis::after(Timestamp::UNIX_EPOCH, Duration::from_secs(epoch)).max(millis::floor(now)))
}

impl UsageFinding {
    /// `event` with what was found out: a block makes it account-wide with a stated end, a cooldown states an end
    /// and keeps the scope. As with every hint, a wait shorter than the ladder changes nothing (D7).
    #[must_use]
    pub fn refine(self, event: FailureEvent, now: Timestamp) -> FailureEvent {
        let (at, scope) = match self.effect {
            UsageEffect::BlockedUntil(at) => (at, MarkScope::Profile),
            UsageEffect::Cooldown(wait) => (millis::after(now, wait), event.scope),
        };
        let hint = Some(ResetHint {
            at,
            source: HintSource::Body,
            credible: at > now,
        });
        FailureEvent { scope, hint, ..event }
    }
}

#[cfg(test)]
mod tests;
