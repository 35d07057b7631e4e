//! The answer of a run that has none: a status for the reasons, and when to come back (M3, R-14).

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_runner::{AttemptRecord, RunError};

use super::super::headers::set;
use super::super::retry_cap::RetryCap;
use super::{ApiError, RunMembers};

/// Tells the SDKs of OpenAI and Anthropic not to try again by themselves.
const SHOULD_RETRY: &str = "x-should-retry";

/// Status, type and code for a set of reasons (M3), the first row that holds.
struct Row {
    when: When,
    status: StatusCode,
    kind: &'static str,
    code: &'static str,
}

enum When {
    All(&'static [Reason]),
    Otherwise,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { when: When::All(&[Reason::RateLimit]), status: StatusCode::TOO_MANY_REQUESTS, kind: "rate_limit_error", code: "rate_limit_exceeded" },
    Row { when: When::All(&[Reason::Billing]), status: StatusCode::PAYMENT_REQUIRED, kind: "billing_error", code: "insufficient_quota" },
    Row { when: When::All(&[Reason::Auth, Reason::AuthPermanent]), status: StatusCode::BAD_GATEWAY, kind: "upstream_error", code: "upstream_auth" },
    Row { when: When::All(&[Reason::ContextOverflow]), status: StatusCode::PAYLOAD_TOO_LARGE, kind: "invalid_request_error", code: "context_length_exceeded" },
    Row { when: When::All(&[Reason::ContentPolicy]), status: StatusCode::BAD_REQUEST, kind: "invalid_request_error", code: "content_policy_violation" },
    Row { when: When::Otherwise, status: StatusCode::SERVICE_UNAVAILABLE, kind: "upstream_error", code: "all_models_failed" },
];

/// Reasons that the same request would meet again, so that an SDK should not repeat it by itself.
const LASTING: &[Reason] = &[
    Reason::Auth,
    Reason::AuthPermanent,
    Reason::Billing,
    Reason::ContentPolicy,
    Reason::ContextOverflow,
    Reason::Format,
    Reason::ModelNotFound,
];

/// A format fault that is the answer itself, not one of several failures.
const SINGLE_FORMAT: Row = Row {
    when: When::All(&[Reason::Format]),
    status: StatusCode::BAD_REQUEST,
    kind: "invalid_request_error",
    code: "invalid_request",
};

impl Row {
    fn of(reasons: &[Reason]) -> &'static Self {
        let holds = |row: &&Self| match row.when {
            When::All(wanted) => !reasons.is_empty() && reasons.iter().all(|reason| wanted.contains(reason)),
            When::Otherwise => true,
        };
        ROWS.iter().find(holds).unwrap_or(&ROWS[ROWS.len() - 1])
    }
}

impl ApiError {
    /// A run without an answer.
    pub(crate) fn of_run(
        error: &RunError,
        left_out: Vec<AttemptRecord>,
        now: Timestamp,
        cap: RetryCap,
    ) -> Self {
        let reasons = error.reasons();
        let single = error.failed_attempt();
        let is_format = single.is_some_and(|attempt| attempt.verdict.reason == Reason::Format);
        let row = if is_format {
            &SINGLE_FORMAT
        } else {
            Row::of(&reasons)
        };
        let status = match single.and_then(|attempt| attempt.failure.status) {
            // The provider's own 400 for an overflow is passed on (M3).
            Some(400) if row.status == StatusCode::PAYLOAD_TOO_LARGE => StatusCode::BAD_REQUEST,
            _ => row.status,
        };
        let message = match error {
            // What every model would say is said in the selected model's own words (M3).
            RunError::ContextOverflow(attempt, _) | RunError::Surfaced(attempt, _) => {
                attempt.record.error.clone()
            }
            RunError::Failed(attempt, _) if is_format => attempt.record.error.clone(),
            _ => error.to_string(),
        };
        let mut attempts = left_out;
        attempts.extend_from_slice(&error.report().attempts);
        if let Some(attempt) = single.filter(|attempt| attempts.last() != Some(&attempt.record)) {
            attempts.push(attempt.record.clone());
        }
        let soonest = error.report().soonest_cooldown_expiry;
        let mut answer = Self::new(status, row.kind, row.code, &message);
        answer.error.run = Some(RunMembers {
            attempts,
            soonest_cooldown_expiry: soonest.map(Timestamp::as_millisecond),
            user_text: error.user_text(now),
        });
        if !reasons.is_empty() && reasons.iter().all(|reason| LASTING.contains(reason)) {
            set(&mut answer.headers, SHOULD_RETRY, "false");
        } else if matches!(
            status,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        ) {
            answer.come_back(soonest, now, cap);
        }
        answer
    }

    /// `Retry-After`, and whether an SDK may wait for it by itself.
    fn come_back(&mut self, soonest: Option<Timestamp>, now: Timestamp, cap: RetryCap) {
        let wait = soonest.map(|at| seconds_until(at, now));
        if let Some(seconds) = wait {
            set(&mut self.headers, RETRY_AFTER.as_str(), &seconds.to_string());
        }
        if cap.is_exceeded(wait, self.status.as_u16()) {
            set(&mut self.headers, SHOULD_RETRY, "false");
        }
    }
}

/// Whole seconds from `now` to `at`, rounded up and at least 1.
fn seconds_until(at: Timestamp, now: Timestamp) -> u64 {
    let millis = at.as_millisecond().saturating_sub(now.as_millisecond());
    u64::try_from(millis).unwrap_or(0).div_ceil(1_000).max(1)
}
