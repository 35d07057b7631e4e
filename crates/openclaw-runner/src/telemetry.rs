//! Every span and event name, and the one place that emits them.

pub(crate) mod log_dedup;

use jiff::Timestamp;
use openclaw_classify::{Reason, RuleId};
use openclaw_ids::ModelRef;
use tracing::field::Empty;
use tracing::{Level, Span};

use crate::attempt::AttemptCall;
use crate::error::RunError;
use crate::observer::AttemptResult;
use crate::record::decision::{Decision, DecisionKind};
use crate::record::rotation::RotationDecision;
use crate::record::summary::CandidateOutcome;
use crate::request::RunRequest;

/// Target of the decision records.
pub const DECISION_TARGET: &str = "model_fallback";
/// Target of the rotation records.
pub const ROTATION_TARGET: &str = "profile_rotation";
/// Span of one run.
pub const RUN_SPAN: &str = "run";
/// Span of one attempt, inside the run's.
pub const ATTEMPT_SPAN: &str = "attempt";

/// The version of the OpenTelemetry semantic conventions that the names in [`field`] are taken from.
pub const SEMANTIC_CONVENTIONS: &str = "1.37.0";

/// The names of span fields: those of the semantic conventions, and our own where they have none.
pub mod field {
    /// What kind of failure it was: the reason of the verdict.
    pub const ERROR_TYPE: &str = "error.type";
    /// What was asked for: `chat` or `embeddings`.
    pub const OPERATION: &str = "gen_ai.operation.name";
    /// The provider, as it is called in the configuration.
    pub const PROVIDER: &str = "gen_ai.provider.name";
    /// The model that was asked.
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    /// The `provider/model` that answered.
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    /// The status of an HTTP answer.
    pub const STATUS: &str = "http.response.status_code";
    /// How many candidates a run had.
    pub const CANDIDATES: &str = "openclaw.candidates";
    /// How a run ended: `answered`, or how it failed.
    pub const OUTCOME: &str = "openclaw.outcome";
    /// The position of an attempt's candidate in the chain, from 1.
    pub const POSITION: &str = "openclaw.position";
    /// The run, which the request that asked for it shares its name with.
    pub const RUN_ID: &str = "openclaw.run_id";
    /// The classification rule of a failure.
    pub const RULE: &str = "openclaw.rule";
}

/// The span of a run.
pub(crate) fn run_span(request: &RunRequest) -> Span {
    tracing::info_span!(
        "run",
        otel.name = RUN_SPAN,
        otel.status_code = Empty,
        { field::RUN_ID } = request.run_id.as_str(),
        { field::PROVIDER } = request.requested.provider.as_str(),
        { field::REQUEST_MODEL } = request.requested.model.as_str(),
        { field::CANDIDATES } = request.chain.len(),
        { field::OUTCOME } = Empty,
        { field::RESPONSE_MODEL } = Empty,
        { field::ERROR_TYPE } = Empty,
    )
}

/// The span of an attempt, inside the run's.
pub(crate) fn attempt_span(call: &AttemptCall) -> Span {
    tracing::info_span!(
        "attempt",
        otel.name = ATTEMPT_SPAN,
        otel.kind = "client",
        otel.status_code = Empty,
        { field::PROVIDER } = call.candidate.provider().as_str(),
        { field::REQUEST_MODEL } = call.candidate.model().as_str(),
        { field::POSITION } = call.position,
        { field::STATUS } = Empty,
        { field::ERROR_TYPE } = Empty,
        { field::RULE } = Empty,
    )
}

/// Notes in the span of a run how it ended.
pub(crate) fn ran(span: &Span, ended: Result<&ModelRef, &RunError>) {
    match ended {
        Ok(winner) => {
            span.record(field::OUTCOME, "answered");
            span.record(field::RESPONSE_MODEL, tracing::field::display(winner));
        }
        Err(error) => {
            span.record(field::OUTCOME, error.kind());
            if !matches!(error, RunError::Aborted(_)) {
                span.record("otel.status_code", "ERROR");
            }
            if let Some(reason) = error.reasons().first() {
                span.record(field::ERROR_TYPE, reason.as_str());
            }
        }
    }
}

/// Notes in the span of an attempt what came of it.
pub(crate) fn attempted(span: &Span, result: AttemptResult<'_>, status: Option<u16>) {
    if let Some(status) = status {
        span.record(field::STATUS, status);
    }
    let failed = |reason: &str| {
        span.record("otel.status_code", "ERROR");
        span.record(field::ERROR_TYPE, reason);
    };
    match result {
        AttemptResult::Answered => {}
        AttemptResult::Failed(Some(verdict)) => {
            failed(verdict.reason.as_str());
            span.record(field::RULE, verdict.rule.as_str());
        }
        AttemptResult::Failed(None) => failed("_OTHER"),
        AttemptResult::OutOfTime => failed("timeout"),
    }
}

/// How much of an operator's attention a decision asks for.
///
/// has one level for all of them, so that a request that was answered looked like two that were not. An attempt
/// that failed is news: it opens a window. That the window is still open is repeated by each request, and is told to
/// whoever asks for details.
enum Weight {
    Detail,
    News,
    Outcome,
}

impl Weight {
    fn of(kind: DecisionKind) -> Self {
        match kind {
            DecisionKind::CandidateFailed => Self::News,
            DecisionKind::CandidateSucceeded => Self::Outcome,
            DecisionKind::ProbeCooldownCandidate | DecisionKind::SkipCandidate => Self::Detail,
        }
    }
}

/// Writes one decision as a flat event with the field names of, at its level.
pub(crate) fn emit_decision(decision: &Decision) {
    let next = decision.next_candidate.as_ref();
    let step = decision.step.as_ref();
    let error = &decision.error;
    // The level of an event is part of what is fixed when the program is built.
    macro_rules! write_at {
        ($level:expr) => {
            tracing::event!(
                target: DECISION_TARGET,
                $level,
                event = Decision::EVENT,
                decision = decision.kind.as_str(),
                runId = crate::record::decision::named(&decision.run_id),
                sessionId = decision.session_id.as_ref().map(tracing::field::display),
                lane = decision.lane.as_deref(),
                requestedProvider = decision.requested.provider.as_str(),
                requestedModel = decision.requested.model.as_str(),
                candidateProvider = decision.candidate.provider().as_str(),
                candidateModel = decision.candidate.model().as_str(),
                attempt = decision.attempt,
                total = decision.total,
                reason = decision.reason.map(Reason::as_str),
                rule = decision.rule.as_ref().map(RuleId::as_str),
                status = decision.status,
                code = decision.code.as_deref(),
                errorPreview = error.error_preview.as_deref(),
                errorHash = error.error_hash.as_deref(),
                errorFingerprint = error.error_fingerprint.as_deref(),
                httpCode = error.http_code.as_deref(),
                providerErrorType = error.provider_error_type.as_deref(),
                providerErrorMessagePreview = error.provider_error_message_preview.as_deref(),
                requestIdHash = error.request_id_hash.as_deref(),
                fallbackStepType = step.map(|_| crate::record::decision::STEP_TYPE),
                fallbackStepFromModel = step.map(|step| tracing::field::display(&step.from_model)),
                fallbackStepToModel = step.and_then(|step| step.to_model.as_ref()).map(tracing::field::display),
                fallbackStepFromFailureReason = step.and_then(|step| step.from_failure_reason).map(Reason::as_str),
                fallbackStepFromFailureDetail = step.and_then(|step| step.from_failure_detail.as_deref()),
                fallbackStepChainPosition = step.map(|step| step.chain_position),
                fallbackStepFinalOutcome = step.map(|step| step.final_outcome.as_str()),
                nextCandidateProvider = next.map(|next| next.provider().as_str()),
                nextCandidateModel = next.map(|next| next.model().as_str()),
                isPrimary = decision.is_primary,
                requestedModelMatched = decision.requested_model_matched,
                fallbackConfigured = decision.fallback_configured,
                allowTransientCooldownProbe = decision.allow_transient_cooldown_probe,
                profileCount = decision.profile_count,
                lastResort = decision.last_resort,
                authMode = decision.auth_mode,
                restsUntil = decision.rests_until.map(Timestamp::as_millisecond),
                elapsedMs = crate::record::millis::whole(decision.elapsed),
                suppressedDuplicateCount = decision.suppressed(),
                "{}",
                decision.console_message()
            )
        };
    }
    match Weight::of(decision.kind) {
        Weight::Detail => write_at!(Level::DEBUG),
        Weight::News => write_at!(Level::WARN),
        Weight::Outcome => write_at!(Level::INFO),
    }
    // a name that does not exist is a person's to repair. While it cools down, each request would say so again.
    let missing = decision.previous_attempts.iter();
    let missing = missing.filter(|attempt| attempt.outcome == CandidateOutcome::Failed);
    for attempt in missing.filter(|attempt| attempt.reason == Some(Reason::ModelNotFound)) {
        tracing::warn!(
            target: DECISION_TARGET,
            runId = crate::record::decision::named(&decision.run_id),
            "Model \"{}\" not found. Fell back to \"{}\".",
            attempt.candidate,
            decision.candidate,
        );
    }
}

/// Writes one profile rotation.
pub(crate) fn emit_rotation(rotation: &RotationDecision) {
    tracing::warn!(
        target: ROTATION_TARGET,
        event = RotationDecision::EVENT,
        runId = crate::record::decision::named(&rotation.run_id),
        decision = rotation.kind.as_str(),
        failoverReason = rotation.reason.as_str(),
        provider = rotation.candidate.provider().as_str(),
        model = rotation.candidate.model().as_str(),
        profileId = rotation.profile_hash.as_str(),
        authMode = rotation.auth_mode,
        status = rotation.status,
        rawErrorPreview = rotation.error.error_preview.as_deref(),
        rawErrorHash = rotation.error.error_hash.as_deref(),
        rawErrorFingerprint = rotation.error.error_fingerprint.as_deref(),
        restsUntil = rotation.rests_until.map(Timestamp::as_millisecond),
        elapsedMs = crate::record::millis::whole(rotation.elapsed),
        redirectedTo = rotation.redirected_to.as_ref().map(tracing::field::display),
        "profile rotation: {} on {} ({})",
        rotation.kind.as_str(),
        rotation.candidate,
        rotation.reason,
    );
}

#[cfg(test)]
mod tests;
