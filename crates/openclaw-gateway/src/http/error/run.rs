//! The answer of a run that has none: a status for the reasons, and when to come back (M3, R-14).

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_runner::{AttemptRecord, RunError};

use super::super::headers::set;
use super::{ApiError, RunMembers};
use crate::state::RetryCap;

/// Tells the SDKs of OpenAI and Anthropic not to try again by themselves.
const SHOULD_RETRY: &str = "x-should-retry";

/// Status, type and code for a set of reasons (M3), the first row that holds.
struct Row {
    when: When,
    status: StatusCode,
    kind: &'static str,
    code: &'static str,
    words: Words,
}

enum When {
    All(&'static [Reason]),
    Otherwise,
}

/// Whose words an error is told in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// The selected model's: what every model would say.
    Selected,
    /// Ours, about all that was tried.
    Summary,
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { when: When::All(&[Reason::RateLimit]), status: StatusCode::TOO_MANY_REQUESTS, kind: "rate_limit_error", code: "rate_limit_exceeded", words: Words::Summary },
    Row { when: When::All(&[Reason::Billing]), status: StatusCode::PAYMENT_REQUIRED, kind: "billing_error", code: "insufficient_quota", words: Words::Summary },
    Row { when: When::All(&[Reason::Auth, Reason::AuthPermanent]), status: StatusCode::BAD_GATEWAY, kind: "upstream_error", code: "upstream_auth", words: Words::Summary },
    Row { when: When::All(&[Reason::ContextOverflow]), status: StatusCode::PAYLOAD_TOO_LARGE, kind: "invalid_request_error", code: "context_length_exceeded", words: Words::Selected },
    Row { when: When::All(&[Reason::ContentPolicy]), status: StatusCode::BAD_REQUEST, kind: "invalid_request_error", code: "content_policy_violation", words: Words::Selected },
    Row { when: When::All(&[Reason::ContentPolicy, Reason::ContextOverflow, Reason::Format]), status: StatusCode::BAD_REQUEST, kind: "invalid_request_error", code: "invalid_request", words: Words::Selected },
    Row { when: When::Otherwise, status: StatusCode::SERVICE_UNAVAILABLE, kind: "upstream_error", code: "all_models_failed", words: Words::Summary },
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
        incompatible: Vec<AttemptRecord>,
        now: Timestamp,
        cap: RetryCap,
    ) -> Self {
        let reasons = error.reasons();
        let single = error.failed_attempt();
        let row = Row::of(&reasons);
        let selected = single
            .map(|attempt| &attempt.record)
            .or(error.report().attempts.first());
        let provider_status = single.map_or_else(
            || selected.and_then(|attempt| attempt.status),
            |attempt| attempt.failure.status,
        );
        let status = match provider_status {
            // The provider's own 400 for an overflow is passed on (M3).
            Some(400) if row.status == StatusCode::PAYLOAD_TOO_LARGE => StatusCode::BAD_REQUEST,
            _ => row.status,
        };
        let message = match (row.words, error, selected) {
            (Words::Selected, _, Some(attempt)) => attempt.error.clone(),
            // A failure that no other model was asked after is told as it came.
            (Words::Summary, RunError::Surfaced(attempt, _), _) => attempt.record.error.clone(),
            (Words::Selected | Words::Summary, _, _) => error.to_string(),
        };
        let mut attempts = incompatible;
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
