//! The result that the caller of a run gets: the completed run, or the error.

use std::sync::Arc;

use openclaw_auth_store::UsageStore;
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use openclaw_session::SessionStore;

use super::Runner;
use crate::attempt::{Attempt, MergedAnswer};
use crate::clock::Clock;
use crate::driver::active_sessions::ActiveSession;
use crate::driver::committed_run::{CommittedRun, CompletedRun};
use crate::driver::committed_turn::CommittedTurn;
use crate::error::RunError;
use crate::machine::{Outcome, PreservedAnswer, Winner};
use crate::record::report::RunReport;

impl<C: Clock, U: UsageStore, S: SessionStore> Runner<C, U, S> {
    /// The end of the run as its caller hears of it.
    pub(super) fn finish<A: Attempt>(
        &self,
        outcome: Outcome,
        mut answers: AttemptAnswers<A::Output>,
        session: Option<Arc<ActiveSession>>,
        requested: Option<ModelRef>,
        attempt: &A,
    ) -> Result<CompletedRun<A::Output, C, U, S>, RunError> {
        let completed = |value, winner: Winner, report: RunReport| {
            let turn = session.map(|session| CommittedTurn::new(session, requested, &report.attempts));
            let run = self.committed(report.run_id.clone(), winner.clone(), turn);
            Ok(CompletedRun {
                value,
                winner,
                report,
                run,
            })
        };
        match outcome {
            Outcome::Aborted(report) => Err(RunError::Aborted(Box::new(report))),
            Outcome::Completed(winner, report) => match answers.accepted {
                Some(value) => completed(value, winner, report),
                // The machine completes only on `Event::Succeeded`, which comes with an answer.
                None => Err(RunError::Aborted(Box::new(report))),
            },
            Outcome::Exhausted(summary, report) => Err(RunError::Exhausted(summary, Box::new(report))),
            Outcome::Failed(failed, report) => Err(RunError::Failed(failed, Box::new(report))),
            Outcome::LimitReached(limit, summary, report) => {
                Err(RunError::LimitReached(limit, summary, Box::new(report)))
            }
            Outcome::Preserved(PreservedAnswer { kept, latest }, report) => {
                let mut take = |call| {
                    let rejected = &mut answers.rejected;
                    let at = rejected.iter().position(|(number, _)| *number == call)?;
                    Some(rejected.remove(at).1)
                };
                match (take(kept.0), take(latest.0)) {
                    (Some(value), Some(last)) => match attempt.merge_exhausted(last, value) {
                        MergedAnswer::Latest(value) => completed(value, latest.1, report),
                        MergedAnswer::Preserved(value) => completed(value, kept.1, report),
                    },
                    (Some(value), None) => completed(value, kept.1, report),
                    // The machine names calls that were answered.
                    (None, _) => Err(RunError::Aborted(Box::new(report))),
                }
            }
            Outcome::Surfaced(failed, report) if failed.verdict.reason == Reason::ContextOverflow => {
                Err(RunError::ContextOverflow(failed, Box::new(report)))
            }
            Outcome::Surfaced(failed, report) => Err(RunError::Surfaced(failed, Box::new(report))),
        }
    }

    fn committed(
        &self,
        run_id: String,
        winner: Winner,
        turn: Option<CommittedTurn>,
    ) -> CommittedRun<C, U, S> {
        CommittedRun {
            clock: Arc::clone(&self.clock),
            usage: Arc::clone(&self.usage),
            sessions: Arc::clone(&self.sessions),
            desk: Arc::clone(&self.desk),
            watcher: self.watcher.clone(),
            run_id,
            winner,
            turn,
        }
    }
}

/// What attempts yielded.
pub(super) struct AttemptAnswers<T> {
    pub(super) accepted: Option<T>,
    /// By the number of their call, as far as the end of the chain may need them.
    pub(super) rejected: Vec<(usize, T)>,
}

impl<T> Default for AttemptAnswers<T> {
    fn default() -> Self {
        Self {
            accepted: None,
            rejected: Vec::new(),
        }
    }
}
