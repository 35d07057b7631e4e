//! Usage probes: the request that asks a provider for its limits after a failure, and what its reply means (cooldown.md 8).

mod codex;

use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_ids::ProviderId;
use serde_json::{Map, Value};

use crate::{FailureEvent, MarkScope, millis};

pub use codex::codex_reset;

/// A provider's usage check, as the two pure halves around a call that the caller makes.
///
/// After a failure the caller asks [`request`](Self::request), sends it with the credential's access token, hands the
/// reply to [`read`](Self::read), and records the [refined](UsageFinding::refine) failure. It drops the reply when the
/// credential has changed in the meantime.
pub trait UsageProbe {
    /// The request after a failure at `provider`; `None` when the check can't explain that failure.
    fn request(
        &self,
        provider: &ProviderId,
        reason: Reason,
        credential: UsageCredential,
    ) -> Option<&'static UsageRequest>;

    /// What the reply means at `now`; every reply means something.
    fn read(&self, reply: UsageReply<'_>, now: Timestamp) -> UsageFinding;
}

/// The kind of a credential, as far as a usage check depends on it; its secret stays with the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UsageCredential {
    /// An OAuth login that has an access token.
    Login,
    /// Any other.
    Other,
}

/// A GET request of a usage check, without the credential's own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageRequest {
    /// The full URL.
    pub url: &'static str,
    /// Fixed headers; the bearer token and the caller's name and version come beside them.
    pub headers: &'static [(&'static str, &'static str)],
    /// The header for the login's account id, when it has one.
    pub account_header: &'static str,
    /// How long the whole call may take.
    pub timeout: Duration,
}

/// The check of a `ChatGPT` subscription (cooldown.md 8.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatGptUsageProbe;

/// What came back from the usage check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The failing model cools down at least this long.
    Cooldown(Duration),
}

/// Reasons that the usage check may explain (cooldown.md 8.3).
const EXPLAINABLE: &[Reason] = &[
    Reason::RateLimit,
    Reason::EmptyResponse,
    Reason::NoErrorDetails,
    Reason::Unclassified,
    Reason::Unknown,
];

/// HTTP answers whose status alone decides: statuses from, to, the wait, the label.
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
const UNREADABLE: UsageFinding = cooldown(30, "wham_probe_failed");

const fn cooldown(seconds: u64, label: &'static str) -> UsageFinding {
    UsageFinding {
        effect: UsageEffect::Cooldown(Duration::from_secs(seconds)),
        label,
    }
}

/// The request of [`ChatGptUsageProbe`].
static CHATGPT_REQUEST: UsageRequest = UsageRequest {
    url: "https://chatgpt.com/backend-api/wham/usage",
    headers: &[("accept", "application/json"), ("originator", "openclaw")],
    account_header: "chatgpt-account-id",
    timeout: Duration::from_secs(3),
};

impl UsageProbe for ChatGptUsageProbe {
    fn request(
        &self,
        provider: &ProviderId,
        reason: Reason,
        credential: UsageCredential,
    ) -> Option<&'static UsageRequest> {
        let explains = credential == UsageCredential::Login
            && provider.as_str() == "openai"
            && EXPLAINABLE.contains(&reason);
        explains.then_some(&CHATGPT_REQUEST)
    }

    fn read(&self, reply: UsageReply<'_>, now: Timestamp) -> UsageFinding {
        match reply {
            UsageReply::Answered { status, body } => read_answer(status, body, now),
            UsageReply::Failed => UNREADABLE,
        }
    }
}

fn read_answer(status: u16, body: Option<&Value>, now: Timestamp) -> UsageFinding {
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
        return UNREADABLE;
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
        .map_or(UNREADABLE, |at| UsageFinding {
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
    /// `event` with what was found out.
    ///
    /// A block makes it an account-wide rate limit of no particular model, with a stated end, also where the failure
    /// itself said nothing. A cooldown states an end and keeps everything else, so that a failure that marks nothing still
    /// marks nothing (D6). As with every hint, a wait shorter than the ladder changes nothing (D7).
    #[must_use]
    pub fn refine(self, event: FailureEvent, now: Timestamp) -> FailureEvent {
        let hint = |at| Some(ResetHint::new(at, HintSource::UsageCheck, now));
        match self.effect {
            UsageEffect::BlockedUntil(at) => FailureEvent {
                reason: Reason::RateLimit,
                scope: MarkScope::Profile,
                model: None,
                hint: hint(at),
                ..event
            },
            UsageEffect::Cooldown(wait) => FailureEvent {
                hint: hint(millis::after(now, wait)),
                ..event
            },
        }
    }
}

#[cfg(test)]
mod tests;
