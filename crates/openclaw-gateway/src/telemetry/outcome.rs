//! One line per request: how it ended.

use axum::http::StatusCode;
use openclaw_runner::{DecisionKind, RunEvent, RunReport, Winner};

/// A model answers. When something was decided on the way, the last decision says so already.
pub(crate) fn answered(request_id: &str, winner: &Winner, report: &RunReport) {
    let tells = |event: &RunEvent| match event {
        RunEvent::Candidate(decision) => decision.kind == DecisionKind::CandidateSucceeded,
        RunEvent::Rotation(_) => false,
    };
    let model = winner.candidate.key();
    if report.events.iter().any(tells) {
        tracing::debug!(requestId = request_id, model, calls = report.calls, "answered");
    } else {
        tracing::info!(requestId = request_id, model, calls = report.calls, "answered");
    }
}

/// No candidate answered. Mistakes of the client are not logged.
pub(crate) fn unanswered(request_id: &str, code: &str, status: StatusCode) {
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        tracing::warn!(
            requestId = request_id,
            code,
            status = status.as_u16(),
            "no answer"
        );
    } else {
        tracing::info!(
            requestId = request_id,
            code,
            status = status.as_u16(),
            "no answer"
        );
    }
}
