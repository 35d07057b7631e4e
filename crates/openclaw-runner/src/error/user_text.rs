//! What a person in a chat reads when a run has no answer (R-11, M1).

use std::fmt::Write as _;

use jiff::Timestamp;
use openclaw_classify::{Reason, preview};

use crate::error::RunError;
use crate::record::summary::{AttemptRecord, FallbackSummaryError};

/// Longest error of one line in a mixed list, in UTF-16 units.
const LINE: usize = 160;

const OVERFLOW: &str =
    "⚠️ Context overflow — prompt too large for this model. Try a shorter message or a larger-context model.";
const RATE_LIMITED: &str = "⚠️ All models are temporarily rate-limited. Please try again in a few minutes.";
const GENERIC: &str = "⚠️ Something went wrong while processing your request. Please try again, or use /new to start a fresh session.";

/// What all reasons of a failed run have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Auth,
    Billing,
    Capacity,
    Mixed,
}

impl RunError {
    /// The text for the user, chosen from the set of reasons and never from wording (M1). Empty for a caller
    /// that cancelled: it knows.
    pub fn user_text(&self, now: Timestamp) -> String {
        match self {
            Self::Aborted(_) => String::new(),
            Self::ContextOverflow(..) => OVERFLOW.to_owned(),
            Self::Exhausted(summary, _) | Self::LimitReached(_, summary, _) => exhausted(summary, now),
            // The last failure is the error, but not what a person should take for the cause (BL-82).
            Self::Failed(attempt, report) | Self::Surfaced(attempt, report) => {
                let known = &report.attempts[..];
                let shown = if known.is_empty() {
                    std::slice::from_ref(&attempt.record)
                } else {
                    known
                };
                of_all(shown, report.soonest_cooldown_expiry, now)
            }
        }
    }
}

fn family(reasons: impl IntoIterator<Item = Reason>) -> Family {
    let mut common = None;
    for reason in reasons {
        let family = match reason {
            Reason::Auth | Reason::AuthPermanent => Family::Auth,
            Reason::Billing => Family::Billing,
            Reason::Overloaded | Reason::RateLimit => Family::Capacity,
            Reason::Aborted
            | Reason::ContentPolicy
            | Reason::ContextOverflow
            | Reason::EmptyResponse
            | Reason::Format
            | Reason::Local
            | Reason::ModelNotFound
            | Reason::NoErrorDetails
            | Reason::ServerError
            | Reason::SessionExpired
            | Reason::Timeout
            | Reason::Unclassified
            | Reason::Unknown => Family::Mixed,
        };
        if common.is_some_and(|common| common != family) {
            return Family::Mixed;
        }
        common = Some(family);
    }
    common.unwrap_or(Family::Mixed)
}

fn exhausted(summary: &FallbackSummaryError, now: Timestamp) -> String {
    of_all(&summary.attempts, summary.soonest_cooldown_expiry, now)
}

fn of_all(attempts: &[AttemptRecord], soonest: Option<Timestamp>, now: Timestamp) -> String {
    let reasons = attempts
        .iter()
        .map(|attempt| attempt.reason.unwrap_or(Reason::Unknown));
    match family(reasons) {
        Family::Auth => re_authenticate(attempts),
        Family::Billing => billing(attempts),
        Family::Capacity => rate_limited(soonest, now),
        Family::Mixed => listed(attempts),
    }
}

/// with a known time the text counts down, else it stays vague.
fn rate_limited(soonest: Option<Timestamp>, now: Timestamp) -> String {
    let Some(soonest) = soonest.filter(|soonest| *soonest > now) else {
        return RATE_LIMITED.to_owned();
    };
    let millis = soonest.as_millisecond().saturating_sub(now.as_millisecond());
    let seconds = divide_up(millis, 1_000).max(1);
    if seconds <= 60 {
        format!("⚠️ Rate-limited — ready in ~{seconds}s. Please wait a moment.")
    } else {
        format!(
            "⚠️ Rate-limited — ready in ~{} min. Please try again shortly.",
            divide_up(seconds, 60)
        )
    }
}

fn divide_up(value: i64, by: i64) -> i64 {
    value / by + i64::from(value % by > 0)
}

fn billing(attempts: &[AttemptRecord]) -> String {
    format!(
        "⚠️ No credit left at {}: the provider reports an empty balance, an unpaid bill or a missing plan. Top up or \
         check the plan there, make sure the key belongs to that plan's endpoint, or switch the model.",
        providers(attempts)
    )
}

fn re_authenticate(attempts: &[AttemptRecord]) -> String {
    if attempts.iter().all(AttemptRecord::is_not_renewed) {
        return format!(
            "⚠️ The login for {} has ended, and the gateway could not store a new one: its disk is full or cannot be written. \
             Whoever runs it has to make room; the login is renewed by itself then.",
            providers(attempts)
        );
    }
    format!(
        "⚠️ The login for {} no longer works. Sign in again with `openclaw models auth login --provider <provider>`, \
         or replace the API key with `openclaw-gateway auth add <provider>`.",
        providers(attempts)
    )
}

fn providers(attempts: &[AttemptRecord]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for attempt in attempts {
        let name = attempt.candidate.provider().as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// A generic first line, then every candidate in chain order, so that the selected model's failure leads (BL-82).
fn listed(attempts: &[AttemptRecord]) -> String {
    let mut text = GENERIC.to_owned();
    for attempt in attempts {
        let reason = attempt
            .reason
            .unwrap_or(Reason::Unknown)
            .as_str()
            .replace('_', " ");
        let error = preview(&attempt.error, LINE);
        // Writing to a String cannot fail.
        let _ = write!(text, "\n• {}: {reason} — {error}", attempt.candidate);
    }
    text
}

#[cfg(test)]
mod tests;
