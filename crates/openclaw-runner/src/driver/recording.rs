//! Starts the recording of a run only when something happens that makes it worth one.
//!
//! Most runs are uneventful, and recorders rarely want those. Until something else happens, the results of steps are kept
//! as they came; then the recording is started as of the beginning and is told of them.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome};

use crate::machine::{Event, Machine, Outcome};
use crate::recorder::{RunRecorder, RunStart, StepRecorder, StepSummary};

/// A recording that is started when it is needed.
pub(crate) struct LazyRecording<'r> {
    recorder: &'r dyn RunRecorder,
    start: RunStart<'r>,
    state: State<'r>,
}

enum State<'r> {
    /// Nothing was worth a recording yet; the steps so far.
    Uneventful(Vec<(StepSummary, UneventfulResult, Timestamp)>),
    Recorded(Box<dyn StepRecorder + 'r>),
    /// There was no room for it.
    LeftOut,
}

/// The result of a step in an uneventful run.
enum UneventfulResult {
    Answered,
    Committed(Arc<AuthSnapshot>, ChangeOutcome),
    CommitFailed(Arc<AuthSnapshot>),
    Done,
}

impl UneventfulResult {
    /// None for what makes a run eventful: anything but an answer of the first candidate, and the writes it comes with.
    fn of(step: &StepSummary, event: &Event, machine: &Machine) -> Option<Self> {
        match (step, event) {
            (StepSummary::Attempt(model, _), Event::Succeeded) => {
                (machine.request().chain.first() == Some(model)).then_some(Self::Answered)
            }
            (StepSummary::Commit(_), Event::Committed(snapshot, applied)) => {
                Some(Self::Committed(Arc::clone(snapshot), *applied))
            }
            (StepSummary::Commit(_), Event::CommitFailed(snapshot)) => {
                Some(Self::CommitFailed(Arc::clone(snapshot)))
            }
            (StepSummary::MarkPrimaryProbe | StepSummary::Persist | StepSummary::RollBack, _) => {
                Some(Self::Done)
            }
            (
                StepSummary::Attempt(..)
                | StepSummary::Commit(_)
                | StepSummary::LookForSwitch
                | StepSummary::NoteAuthFailure
                | StepSummary::Repair(_)
                | StepSummary::Sleep(_),
                _,
            ) => None,
        }
    }

    fn event(self) -> Event {
        match self {
            Self::Answered => Event::Succeeded,
            Self::Committed(snapshot, applied) => Event::Committed(snapshot, applied),
            Self::CommitFailed(snapshot) => Event::CommitFailed(snapshot),
            Self::Done => Event::Done,
        }
    }
}

impl<'r> LazyRecording<'r> {
    pub(crate) fn new(recorder: &'r dyn RunRecorder, start: RunStart<'r>) -> Self {
        Self {
            recorder,
            start,
            state: State::Uneventful(Vec::new()),
        }
    }

    /// Gives the machine the result of a step at `now`, and records it.
    pub(crate) fn on(&mut self, step: StepSummary, event: Event, machine: &mut Machine, now: Timestamp) {
        if let State::Uneventful(so_far) = &mut self.state {
            if let Some(result) = UneventfulResult::of(&step, &event, machine) {
                so_far.push((step, result, now));
                machine.on(event, now);
                return;
            }
            self.start(machine, now);
        }
        let State::Recorded(recording) = &mut self.state else {
            machine.on(event, now);
            return;
        };
        recording.on_event(&step, &event, now);
        machine.on(event, now);
        recording.on_step_done(&step, machine, now);
    }

    /// Finishes the recording of a run that has ended with `outcome` at `now`, unless it was uneventful and the recorder
    /// does not want such runs.
    pub(crate) fn finish(mut self, outcome: &Outcome, machine: &Machine, now: Timestamp) {
        // A run whose candidates all cool down takes no step, and is not uneventful.
        let went_well = matches!(outcome, Outcome::Completed(winner, _) if winner.index == 0);
        let wanted = !went_well || self.recorder.wants_uneventful();
        if wanted && matches!(self.state, State::Uneventful(_)) {
            self.start(machine, now);
        }
        if let State::Recorded(recording) = self.state {
            recording.finish();
        }
    }

    /// Starts the recording; the machine still has the request it was made with, which only an eventful step changes.
    fn start(&mut self, machine: &Machine, now: Timestamp) {
        let before = std::mem::replace(&mut self.state, State::LeftOut);
        if let State::Uneventful(so_far) = before
            && self.recorder.has_room(now)
        {
            let mut recording = self.recorder.start(&self.start, machine);
            for (step, result, at) in so_far {
                recording.on_event(&step, &result.event(), at);
                recording.on_step_done(&step, machine, at);
            }
            self.state = State::Recorded(recording);
        }
    }
}
