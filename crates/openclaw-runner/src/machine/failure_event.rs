//! The cooldown event that a failed attempt records on its credential.

use jiff::Timestamp;
use openclaw_classify::Verdict;
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::ModelRef;

/// The event of a failure that concerns a credential; none for one that concerns the route or no shared
/// state at all (C-10).
pub(crate) fn failure_event(
    candidate: &ModelRef,
    verdict: &Verdict,
    started_at: Option<Timestamp>,
) -> Option<FailureEvent> {
    Some(FailureEvent {
        provider: candidate.provider().clone(),
        reason: verdict.reason,
        scope: MarkScope::of_verdict(verdict)?,
        model: Some(candidate.model().clone()),
        hint: verdict.hint.clone(),
        started_at,
    })
}
