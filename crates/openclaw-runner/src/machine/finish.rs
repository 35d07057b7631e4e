//! The end of a chain: a last resort, the one failure, or the summary (A2, G3, R-8, R-10).

use jiff::Timestamp;
use openclaw_cooldown::ProfileUsage;

use super::{Machine, NextAction, Outcome};
use crate::machine::policy::{is_auth, is_unrecognised};
use crate::record::report::RunReport;
use crate::record::summary::{CandidateOutcome, FallbackSummaryError};
use crate::request::ChainKind;

impl Machine {
    /// The walk is over without an answer.
    pub(super) fn end_of_chain(&mut self) {
        if let Some(index) = self.last_resort() {
            self.last_resort_taken = true;
            self.enter_last_resort(index);
            return;
        }
        let outcome = if self.unrecognised_is_the_answer() {
            self.failed()
        } else if let Some(preserved) = self.preserved() {
            self.end_preserved(preserved)
        } else if self.attempts.len() <= 1 {
            self.failed()
        } else {
            self.exhausted()
        };
        self.then = NextAction::Finish(Box::new(outcome));
    }

    /// The last failure as itself, or the summary when nothing failed but was skipped.
    fn failed(&mut self) -> Outcome {
        match self.last_failed.take() {
            Some(attempt) => {
                let report = self.report();
                Outcome::Failed(Box::new(attempt), report)
            }
            None => self.exhausted(),
        }
    }

    /// G3: of the skipped transient candidates whose provider was not asked at all, the one that is back first.
    fn last_resort(&self) -> Option<usize> {
        if self.last_resort_taken || self.redirects.are_made() {
            return None;
        }
        self.skipped
            .iter()
            .filter(|resting| {
                !self
                    .attempted_providers
                    .contains(self.request.chain[resting.index].provider())
            })
            .min_by_key(|resting| (resting.soonest.unwrap_or(Timestamp::MAX), resting.index))
            .map(|resting| resting.index)
    }

    /// A2: an error of the last candidate that no rule recognised is returned as itself. A rejected answer is
    /// no error: the caller recognised it.
    fn unrecognised_is_the_answer(&self) -> bool {
        let counts = !self.rejected.was_last && self.kind == ChainKind::Text;
        let Some(last) = self.last_failed.as_ref().filter(|_| counts) else {
            return false;
        };
        let closing = self.attempts.iter().max_by_key(|(index, _)| *index);
        let closing_failed = closing.is_some_and(|(_, record)| {
            record.outcome == CandidateOutcome::Failed && record.candidate == last.record.candidate
        });
        closing_failed && is_unrecognised(&last.verdict)
    }

    /// The summary over everything that was tried or skipped.
    pub(super) fn exhausted(&mut self) -> Outcome {
        let report = self.report();
        let summary = self.summary(&report);
        Outcome::Exhausted(summary, report)
    }

    pub(super) fn summary(&self, report: &RunReport) -> FallbackSummaryError {
        let last = self
            .last_failed
            .as_ref()
            .filter(|last| is_auth(last.verdict.reason) && !last.record.is_not_renewed());
        FallbackSummaryError {
            attempts: report.attempts.clone(),
            kind: self.kind,
            soonest_cooldown_expiry: None,
            reauthenticate: last.map(|last| last.record.candidate.provider().clone()),
        }
    }

    /// the state is read once more at the end, after everything that the run itself wrote.
    pub(super) fn tell_soonest(&self, outcome: &mut Outcome) {
        let soonest = self.soonest_expiry();
        let report = match outcome {
            Outcome::Exhausted(summary, report) | Outcome::LimitReached(_, summary, report) => {
                summary.soonest_cooldown_expiry = soonest;
                report
            }
            Outcome::Aborted(report)
            | Outcome::Completed(_, report)
            | Outcome::Failed(_, report)
            | Outcome::Preserved(_, report)
            | Outcome::Surfaced(_, report) => report,
        };
        report.soonest_cooldown_expiry = soonest;
    }

    /// the minimum over every candidate of the chain, also those never reached. Of a pinned candidate only
    /// the pin counts, and a cooling endpoint holds a candidate back as its credentials do (D15).
    pub(super) fn soonest_expiry(&self) -> Option<Timestamp> {
        if self.kind == ChainKind::Image || self.nothing_rests() {
            return None;
        }
        let chain = self.request.chain.iter().enumerate();
        let expiry = |(index, candidate)| {
            let (profiles, _) = self.credentials(candidate).ok()?;
            self.rests_until(index, &profiles)
        };
        chain.filter_map(expiry).min()
    }

    /// The most common case, known without asking for the order of anybody's credentials.
    fn nothing_rests(&self) -> bool {
        let snapshot = &self.snapshot;
        let is_free = |(_, usage): (_, &ProfileUsage)| usage.is_usable(None, self.now);
        snapshot.usage.windowed().all(is_free)
            && snapshot
                .endpoints
                .values()
                .all(|window| !window.is_active(self.now))
    }
}
