//! The report of a run, and a failed attempt as the machine knows it.

use std::fmt;

use jiff::Timestamp;
use openclaw_classify::{Failure, Reason, Verdict};

use super::decision::{Decision, DecisionKind, RunEvent};
use super::summary::AttemptRecord;

/// Everything that was decided in a run, in order; also of runs that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunReport {
    /// Names the run.
    pub run_id: String,
    /// All records in the order they were made.
    pub events: Vec<RunEvent>,
    /// The candidates that failed or were skipped, in chain order.
    pub attempts: Vec<AttemptRecord>,
    /// How often the upstream was called.
    pub calls: usize,
    /// When the first of the chain's cooling credentials is back, as of the end of the run; none when
    /// nothing cools down.
    pub soonest_cooldown_expiry: Option<Timestamp>,
}

impl RunReport {
    /// The candidate decisions, without the rotations.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.events.iter().filter_map(|event| match event {
            RunEvent::Candidate(decision) => Some(&**decision),
            RunEvent::Rotation(_) => None,
        })
    }

    /// The first thing that went wrong, whatever became of the run.
    pub fn first_failure(&self) -> Option<Reason> {
        self.events.iter().find_map(|event| match event {
            RunEvent::Rotation(rotation) => Some(rotation.reason),
            // A probe that is due is no failure.
            RunEvent::Candidate(decision) => match decision.kind {
                DecisionKind::CandidateFailed | DecisionKind::SkipCandidate => decision.reason,
                DecisionKind::CandidateSucceeded | DecisionKind::ProbeCooldownCandidate => None,
            },
        })
    }
}

/// One attempt whose failure is the run's own answer; the original is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// What is known of the failure, unredacted: not for display, and not in `Debug`.
    pub failure: Failure,
    /// What it means.
    pub verdict: Verdict,
    /// The displayable record of it.
    pub record: AttemptRecord,
}

impl fmt::Debug for FailedAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailedAttempt")
            .field("verdict", &self.verdict)
            .field("record", &self.record)
            .finish_non_exhaustive()
    }
}
