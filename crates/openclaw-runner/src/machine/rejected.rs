//! Answers that count as failures, and the one that is kept for the end of the chain.

use openclaw_classify::{Failure, Owner, Reason, RuleId, Verdict, classify};
use openclaw_session::Progress;

use super::failed_attempt::{not_a_failure, unproven};
use super::{Machine, Outcome, PreservedAnswer, Standing, Winner};
use crate::attempt::{Rejection, RejectionKind};

/// The rule id of an answer that its caller found useless.
const USELESS: RuleId = RuleId::from_static("run.useless-answer");

/// The rejected answers that may still be needed, by the number of their call.
#[derive(Debug, Default)]
pub(super) struct Rejected {
    latest: Option<(usize, Winner)>,
    kept: Option<(i32, usize, Winner)>,
    /// Whether the last failure of the run was a rejected answer and no error.
    pub(super) was_last: bool,
}

impl Rejected {
    /// An answer that was rejected in call number `call`, and may be kept with a priority.
    pub(super) fn note(&mut self, call: usize, preserve: Option<i32>, winner: Winner) {
        let better = |(kept, ..): &(i32, usize, Winner)| preserve >= Some(*kept);
        if let Some(priority) = preserve
            && self.kept.as_ref().is_none_or(better)
        {
            self.kept = Some((priority, call, winner.clone()));
        }
        self.latest = Some((call, winner));
    }
}

impl Machine {
    pub(super) fn on_rejected(&mut self, rejection: Rejection, progress: Progress) {
        let Rejection {
            failure,
            kind,
            preserve,
        } = rejection;
        if let Some(winner) = self.in_use(Standing::Preserved) {
            self.rejected.note(self.calls, preserve, winner);
        }
        let verdict = match kind {
            RejectionKind::Failure => self.judged(&failure),
            RejectionKind::Useless => useless(),
        };
        self.fail(failure, verdict, progress);
        self.rejected.was_last = true;
    }

    /// an answer that was kept ends the run instead of an error.
    pub(super) fn preserved(&mut self) -> Option<PreservedAnswer> {
        let (_, call, winner) = self.rejected.kept.take()?;
        let latest = self.rejected.latest.take();
        Some(PreservedAnswer {
            latest: latest.unwrap_or_else(|| (call, winner.clone())),
            kept: (call, winner),
        })
    }

    pub(super) fn end_preserved(&mut self, preserved: PreservedAnswer) -> Outcome {
        let report = self.report();
        Outcome::Preserved(preserved, report)
    }

    pub(super) fn judged(&self, failure: &Failure) -> Verdict {
        classify(failure, self.now).unwrap_or_else(not_a_failure)
    }
}

fn useless() -> Verdict {
    Verdict {
        owner: Owner::Content,
        ..unproven(USELESS, Reason::EmptyResponse)
    }
}
