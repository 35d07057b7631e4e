//! The hook that records runs: what a recorder is told of a run's start, of each step and of the end.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, UsageChange};
use openclaw_ids::{ModelRef, ProfileId};

use crate::machine::{Event, Machine, Step};
use crate::request::{RunOptions, RunPolicy};
use crate::skip_cache::Markers;

/// Records runs; see [`Runner::with_recorder`](crate::Runner::with_recorder).
pub trait RunRecorder: Send + Sync {
    /// Starts the recording of one run, as of its beginning. `machine` still has the request it was made with.
    fn start<'r>(&'r self, start: &RunStart<'r>, machine: &Machine) -> Box<dyn StepRecorder + 'r>;

    /// Called once for a run that would be recorded, as soon as that is known, at `now`. A run that there is no room for
    /// is not recorded and costs next to nothing.
    fn has_room(&self, _now: Timestamp) -> bool {
        true
    }

    /// Whether uneventful runs are recorded, too: those in which nothing happened but that the first candidate answered.
    /// Without them, only the others cost a recording.
    fn wants_uneventful(&self) -> bool {
        true
    }
}

/// Records the steps of one run. A run whose future is dropped is not finished.
pub trait StepRecorder: Send {
    /// Called with the result of `step` at `now`, before the machine takes it.
    fn on_event(&mut self, step: &StepSummary, event: &Event, now: Timestamp);

    /// Called at `now` when the machine has taken the result of `step`. Only then is a failure classified, see
    /// [`Machine::last_failure`].
    fn on_step_done(&mut self, step: &StepSummary, machine: &Machine, now: Timestamp);

    /// Called when the run has ended, before its caller gets the result; it should not block.
    fn finish(self: Box<Self>);
}

/// What a run was started with.
#[derive(Debug, Clone)]
pub struct RunStart<'r> {
    /// The options of this run.
    pub options: &'r RunOptions,
    /// The policy of the runner.
    pub policy: &'r Arc<RunPolicy>,
    /// The fallbacks that are skipped because they refused their login.
    pub auth_skips: Markers,
    /// The usage state that the run started with.
    pub snapshot: Arc<AuthSnapshot>,
    /// When the run started.
    pub now: Timestamp,
}

/// A [`Step`] as far as a recording shows it, kept while the driver executes the step.
#[derive(Debug, Clone)]
pub enum StepSummary {
    /// [`Step::Attempt`] of this candidate with this credential.
    Attempt(ModelRef, Option<ProfileId>),
    /// [`Step::Commit`].
    Commit(UsageChange),
    /// [`Step::LookForSwitch`].
    LookForSwitch,
    /// [`Step::MarkPrimaryProbe`].
    MarkPrimaryProbe,
    /// [`Step::NoteAuthFailure`].
    NoteAuthFailure,
    /// [`Step::Persist`].
    Persist,
    /// [`Step::Repair`] of the request to this candidate.
    Repair(ModelRef),
    /// [`Step::RollBack`].
    RollBack,
    /// [`Step::Sleep`].
    Sleep(Duration),
}

impl StepSummary {
    /// The summary of `step`; none for the end of the run.
    pub fn of(step: &Step) -> Option<Self> {
        Some(match step {
            Step::Attempt(call) => Self::Attempt(call.candidate.clone(), call.profile.clone()),
            Step::Commit(change) => Self::Commit(change.clone()),
            Step::Finish(_) => return None,
            Step::LookForSwitch(..) => Self::LookForSwitch,
            Step::MarkPrimaryProbe => Self::MarkPrimaryProbe,
            Step::NoteAuthFailure(..) => Self::NoteAuthFailure,
            Step::Persist(_) => Self::Persist,
            Step::Repair(call, _) => Self::Repair(call.candidate.clone()),
            Step::RollBack(_) => Self::RollBack,
            Step::Sleep(wait) => Self::Sleep(*wait),
        })
    }
}
