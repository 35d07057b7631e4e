//! The interface between the machine and its driver: steps to execute, and events with their results.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange};
use openclaw_classify::{Failure, Reason};
use openclaw_ids::ModelRef;
use openclaw_session::{FallbackChoice, LiveRun, Progress, Rollback, RunSelection};

use super::{ClassifiedFailure, Outcome};
use crate::attempt::{AttemptCall, Rejection, Repair};

/// One thing for the driver to do. Each is answered by one [`Event`].
#[derive(Debug)]
pub enum Step {
    /// Make an attempt; answered by [`Event::Succeeded`], [`Event::Failed`], [`Event::Rejected`], or
    /// [`Event::OutOfTime`] when it has not ended at [`Machine::deadline`](super::Machine::deadline).
    Attempt(AttemptCall),
    /// Write usage state; answered by [`Event::Committed`] or [`Event::CommitFailed`].
    Commit(UsageChange),
    /// The run is over; no answer.
    Finish(Box<Outcome>),
    /// Look whether a person marked another model in the session, whose default is this (S-12.2); answered by
    /// [`Event::Switch`].
    LookForSwitch(Box<LiveRun>, ModelRef),
    /// Note in the session, when the attempt that follows begins, that its primary is being probed (S-6.5); answered by
    /// [`Event::Done`].
    MarkPrimaryProbe,
    /// Remember that this fallback refused its login in the session; answered by [`Event::Done`].
    NoteAuthFailure(ModelRef, Reason),
    /// Write the choice to the session before it is attempted (S-3.1); answered by [`Event::Persisted`].
    Persist(Box<FallbackChoice>),
    /// Try to repair the request of this attempt (R4); answered by [`Event::Repaired`].
    Repair(AttemptCall, Box<Failure>),
    /// Take the choice back (S-4); answered by [`Event::Done`].
    RollBack(Box<Rollback>),
    /// Wait; answered by [`Event::Done`].
    Sleep(Duration),
}

/// What came of a [`Step`].
pub enum Event {
    /// The usage state as it is after the change, and whether the change took effect.
    Committed(Arc<AuthSnapshot>, ChangeOutcome),
    /// The change could not be written; this is the usage state as the process knows it. The run goes on: an answer
    /// is worth more than a mark. Only a probe does not start without its lease (G4).
    CommitFailed(Arc<AuthSnapshot>),
    /// The step without a result is done.
    Done,
    /// The attempt failed, and this was seen of it.
    Failed(Box<Failure>, Progress),
    /// The attempt failed, and what that means is known from a recording.
    Judged(Box<ClassifiedFailure>),
    /// The attempt was dropped because the run has no more time.
    OutOfTime,
    /// The session holds the choice, with the way back; none when nothing was written (S-3.6, S-3.7).
    Persisted(Option<Box<Rollback>>),
    /// The attempt answered, but the answer counts as a failure.
    Rejected(Box<Rejection>, Progress),
    /// Whether the request was repaired.
    Repaired(Repair),
    /// The attempt can no longer be taken back.
    Succeeded,
    /// The model that a person marked, if they did; the mark is consumed.
    Switch(Option<Box<RunSelection>>),
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A failure holds a provider's words as they came, and they may quote a key.
        match self {
            Self::Committed(_, applied) => f.debug_tuple("Committed").field(applied).finish_non_exhaustive(),
            Self::CommitFailed(_) => f.write_str("CommitFailed"),
            Self::Done => f.write_str("Done"),
            Self::Failed(_, progress) => f.debug_tuple("Failed").field(progress).finish_non_exhaustive(),
            Self::Judged(judged) => f.debug_tuple("Judged").field(judged).finish(),
            Self::OutOfTime => f.write_str("OutOfTime"),
            Self::Persisted(rollback) => f.debug_tuple("Persisted").field(rollback).finish(),
            Self::Rejected(rejection, progress) => f
                .debug_tuple("Rejected")
                .field(rejection)
                .field(progress)
                .finish(),
            Self::Repaired(repair) => f.debug_tuple("Repaired").field(repair).finish(),
            Self::Succeeded => f.write_str("Succeeded"),
            Self::Switch(target) => f.debug_tuple("Switch").field(target).finish(),
        }
    }
}
