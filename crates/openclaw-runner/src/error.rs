//! How a run ends without an answer.

mod user_text;

use std::fmt;

use openclaw_classify::Reason;

use crate::machine::RunLimit;
use crate::record::report::{FailedAttempt, RunReport};
use crate::record::summary::FallbackSummaryError;

/// Why a run has no answer. Every variant carries the run's report.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError {
    /// The caller cancelled, which is no failure.
    Aborted(Box<RunReport>),
    /// The prompt does not fit; another model is not tried.
    ContextOverflow(Box<FailedAttempt>, Box<RunReport>),
    /// Every candidate failed or cools down.
    Exhausted(FallbackSummaryError, Box<RunReport>),
    /// The only attempt failed, or the last one with an error that no rule recognises (R-8.1, R-8.2, A2).
    Failed(Box<FailedAttempt>, Box<RunReport>),
    /// A limit of the run was reached first (A8); the summary holds what was tried until then.
    LimitReached(RunLimit, FallbackSummaryError, Box<RunReport>),
    /// A failure that every model would repeat: the request's shape, its content, our own machine (A1).
    Surfaced(Box<FailedAttempt>, Box<RunReport>),
}

impl RunError {
    /// What was decided on the way.
    pub fn report(&self) -> &RunReport {
        match self {
            Self::Aborted(report)
            | Self::ContextOverflow(_, report)
            | Self::Exhausted(_, report)
            | Self::Failed(_, report)
            | Self::LimitReached(_, _, report)
            | Self::Surfaced(_, report) => report,
        }
    }

    /// What kind of end it is, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Aborted(_) => "aborted",
            Self::ContextOverflow(..) => "context_overflow",
            Self::Exhausted(..) => "exhausted",
            Self::Failed(..) => "failed",
            Self::LimitReached(..) => "limit_reached",
            Self::Surfaced(..) => "surfaced",
        }
    }

    /// The attempt whose failure is the answer; none for a summary or an abort.
    pub fn failed_attempt(&self) -> Option<&FailedAttempt> {
        match self {
            Self::ContextOverflow(attempt, _) | Self::Failed(attempt, _) | Self::Surfaced(attempt, _) => {
                Some(attempt)
            }
            Self::Aborted(_) | Self::Exhausted(..) | Self::LimitReached(..) => None,
        }
    }

    /// The reasons that a text or a status for the user is chosen from (M1, M3), in order.
    pub fn reasons(&self) -> Vec<Reason> {
        match self {
            Self::Aborted(_) => vec![Reason::Aborted],
            Self::Exhausted(summary, _) | Self::LimitReached(_, summary, _) => summary.reasons().collect(),
            Self::ContextOverflow(attempt, _) | Self::Failed(attempt, _) | Self::Surfaced(attempt, _) => {
                vec![attempt.verdict.reason]
            }
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted(_) => f.write_str("the run was cancelled by its caller"),
            Self::Exhausted(summary, _) => summary.fmt(f),
            Self::LimitReached(limit, summary, _) if summary.attempts.is_empty() => {
                f.write_str(limit.as_str())
            }
            Self::LimitReached(limit, summary, _) => write!(f, "{}: {summary}", limit.as_str()),
            Self::ContextOverflow(attempt, _) | Self::Failed(attempt, _) | Self::Surfaced(attempt, _) => {
                attempt.record.fmt(f)
            }
        }
    }
}

impl std::error::Error for RunError {}
