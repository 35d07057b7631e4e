//! How a run ends, and who answered.

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId};

use super::RunLimit;
use crate::record::report::{FailedAttempt, RunReport};
use crate::record::summary::FallbackSummaryError;

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// The caller cancelled.
    Aborted(RunReport),
    /// A candidate answered.
    Completed(Winner, RunReport),
    /// Every candidate failed or cools down.
    Exhausted(FallbackSummaryError, RunReport),
    /// A limit of the run was reached before anybody answered (A8).
    LimitReached(RunLimit, FallbackSummaryError, RunReport),
    /// No candidate succeeded, but a rejected answer was kept for this case.
    Preserved(PreservedAnswer, RunReport),
    /// One failure is the answer: the only one, or the last and unrecognised one.
    Failed(Box<FailedAttempt>, RunReport),
    /// One failure is the answer: every model would repeat it.
    Surfaced(Box<FailedAttempt>, RunReport),
}

impl Outcome {
    /// What was decided on the way.
    pub fn into_report(self) -> RunReport {
        match self {
            Self::Aborted(report)
            | Self::Completed(_, report)
            | Self::Exhausted(_, report)
            | Self::LimitReached(_, _, report)
            | Self::Preserved(_, report)
            | Self::Failed(_, report)
            | Self::Surfaced(_, report) => report,
        }
    }
}

/// Which of the rejected answers are the answer, by the number of their call, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreservedAnswer {
    /// The answer that was kept.
    pub kept: (usize, Winner),
    /// The last rejected one.
    pub latest: (usize, Winner),
}

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner {
    /// The model.
    pub candidate: ModelRef,
    /// Its position in the chain, from 0.
    pub index: usize,
    /// The credential.
    pub profile: Option<ProfileId>,
    /// When the attempt started (D2).
    pub started_at: Timestamp,
    /// What the answer is worth.
    pub standing: Standing,
}

/// What the answer of a run is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its candidate succeeded.
    Good,
    /// Its candidate failed, and so did all others; it is the best there is.
    Preserved,
}
