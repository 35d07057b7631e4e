//! What is kept of a failed attempt: the facts, the verdict and the displayable record.

use openclaw_auth_store::Credential;
use openclaw_classify::{Certainty, Failure, Owner, Reason, RuleId, Scope, Verdict, describe, preview};
use openclaw_ids::{ModelRef, ProfileId};

use crate::record::error_fields::ErrorFields;
use crate::record::report::FailedAttempt;
use crate::record::summary::{AttemptRecord, CandidateOutcome, ProfileFailure};

/// The rule id of a user pin that names no usable profile (R-9.1a).
const PIN_MISSING: RuleId = RuleId::from_static("run.pinned-profile-missing");
/// The rule id of a failure that the classifier does not take for one.
const NOT_A_FAILURE: RuleId = RuleId::from_static("run.failed-without-evidence");
/// Longest error text of a record, in UTF-16 units: enough for any message, too short for a page.
const ERROR_LENGTH: usize = 2_000;
/// Longest code of a record, in UTF-16 units; some providers put sentences there.
const CODE_LENGTH: usize = 100;
/// How deep a cause chain is read for status and code.
const MAX_CAUSES: usize = 25;

pub(super) fn failed_attempt(
    candidate: &ModelRef,
    failure: Failure,
    verdict: Verdict,
    auth_mode: Option<&'static str>,
) -> FailedAttempt {
    let text = describe(&failure);
    let (fields, provider_code) = ErrorFields::and_code(&failure, &text);
    let record = AttemptRecord {
        candidate: candidate.clone(),
        error: preview(&text, ERROR_LENGTH),
        reason: Some(verdict.reason),
        rule: Some(verdict.rule.clone()),
        status: levels(&failure)
            .find_map(|level| level.status)
            .or(verdict.reason.default_status()),
        code: levels(&failure)
            .find_map(|level| level.code.as_deref())
            .or(provider_code.as_deref())
            .map(|code| preview(code, CODE_LENGTH)),
        auth_mode,
        outcome: CandidateOutcome::Failed,
        earlier: Vec::new(),
        fields,
    };
    FailedAttempt {
        failure,
        verdict,
        record,
    }
}

/// The kind of login that a record names; none for a key, which needs no name.
pub(super) fn login_mode(credential: &Credential) -> Option<&'static str> {
    match credential {
        Credential::Oauth(_) | Credential::Token(_) => Some(credential.mode()),
        Credential::ApiKey(_) | Credential::Local(_) => None,
    }
}

/// A failure and what it wraps, outermost first.
fn levels(failure: &Failure) -> impl Iterator<Item = &Failure> {
    std::iter::successors(Some(failure), |level| level.cause.as_deref()).take(MAX_CAUSES + 1)
}

impl ProfileFailure {
    pub(super) fn of(attempt: &FailedAttempt) -> Self {
        Self {
            reason: attempt.verdict.reason,
            status: attempt.record.status,
            error: attempt.record.error.clone(),
        }
    }
}

/// R-9.1a: a pin that cannot be used is a failure of the candidate, not a reason to use another login.
pub(super) fn missing_pin(candidate: &ModelRef, profile: &ProfileId) -> FailedAttempt {
    let message = format!(
        "Auth profile \"{profile}\" is not configured for {}.",
        candidate.provider()
    );
    let failure = Failure {
        provider: Some(candidate.provider().clone()),
        message: Some(message),
        ..Failure::default()
    };
    let mut attempt = failed_attempt(candidate, failure, unproven(PIN_MISSING, Reason::Auth), None);
    // No provider was called, so there is no status.
    attempt.record.status = None;
    attempt.record.outcome = CandidateOutcome::Skipped;
    attempt
}

/// The verdict on a failure that the classifier does not take for one.
pub(super) fn not_a_failure() -> Verdict {
    unproven(NOT_A_FAILURE, Reason::Unclassified)
}

pub(super) fn unproven(rule: RuleId, reason: Reason) -> Verdict {
    Verdict {
        reason,
        certainty: Certainty::Default,
        owner: Owner::Us,
        scope: Scope::None,
        hint: None,
        rule,
        evidence: None,
    }
}
