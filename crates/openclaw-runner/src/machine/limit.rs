//! The limits of a run: reaching one ends it, and is no failure of a candidate (A8, BL-30).

use std::time::Duration;

use jiff::Timestamp;

use super::{Machine, NextAction, Outcome};
use crate::record::error_fields::ErrorFields;
use crate::record::summary::{AttemptRecord, CandidateOutcome};
use crate::request::RunLimits;

/// Which limit ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLimit {
    /// As many attempts were made as may be.
    Attempts,
    /// The time is over.
    Deadline,
}

impl RunLimit {
    /// The limit in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attempts => "as many attempts were made as this run may make",
            Self::Deadline => "the time of this run is over",
        }
    }
}

/// The limits of one run as instants and counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    attempts: usize,
    start: Timestamp,
    deadline: Option<Timestamp>,
    /// Whether one of them ended the run.
    pub(super) ended: bool,
}

impl Limits {
    pub(super) fn new(limits: RunLimits, start: Timestamp) -> Self {
        let end = |duration: Duration| start.saturating_add(duration).unwrap_or(Timestamp::MAX);
        Self {
            attempts: limits.attempts.map_or(usize::MAX, usize::from),
            start,
            deadline: limits.duration.map(end),
            ended: false,
        }
    }

    /// How long the run has been going on; zero when its clock was set back meanwhile.
    pub(super) fn elapsed(&self, now: Timestamp) -> Duration {
        Duration::try_from(now.duration_since(self.start)).unwrap_or_default()
    }
}

impl Machine {
    /// When the attempt in flight has to be dropped, with [`Event::OutOfTime`](super::Event::OutOfTime).
    pub fn deadline(&self) -> Option<Timestamp> {
        self.limits.deadline
    }

    /// The limit that forbids another attempt now; at its end the time is over.
    pub(super) fn limit_reached(&self) -> Option<RunLimit> {
        if self.limits.deadline.is_some_and(|deadline| deadline <= self.now) {
            return Some(RunLimit::Deadline);
        }
        (self.calls >= self.limits.attempts).then_some(RunLimit::Attempts)
    }

    /// No wait goes beyond the end of the run.
    pub(super) fn within_time(&self, wait: Duration) -> Duration {
        let left = self
            .limits
            .deadline
            .map(|deadline| deadline.duration_since(self.now));
        let left = left.map(|left| Duration::try_from(left).unwrap_or_default());
        left.map_or(wait, |left| left.min(wait))
    }

    /// Ends the run with what is known.
    pub(super) fn end_at(&mut self, limit: RunLimit, was_in_flight: InFlight) {
        self.limits.ended = true;
        if let Some(mut current) = self.current.take() {
            self.undo(&mut current);
            let index = current.index;
            let failed = match (current.take_last(), was_in_flight) {
                (Some(last), _) => Some(last.record),
                (None, InFlight::Yes) => Some(self.cut(index, limit)),
                (None, InFlight::No) => None,
            };
            if let Some(record) = failed {
                self.record_failure(index, &record, current.profile());
                self.put(index, record);
            }
        }
        let report = self.report();
        let summary = self.summary(&report);
        self.then = NextAction::Finish(Box::new(Outcome::LimitReached(limit, summary, report)));
    }

    /// An attempt that had no time to end. It has no reason: its result is unknown.
    fn cut(&self, index: usize, limit: RunLimit) -> AttemptRecord {
        let error = limit.as_str().to_owned();
        AttemptRecord {
            candidate: self.request.chain[index].clone(),
            fields: ErrorFields::of_text(&error),
            error,
            reason: None,
            rule: None,
            status: None,
            code: None,
            auth_mode: None,
            outcome: CandidateOutcome::Failed,
            earlier: Vec::new(),
        }
    }
}

/// Whether an attempt was dropped by the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InFlight {
    No,
    Yes,
}
