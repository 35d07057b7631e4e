//! A tape that is started only when something happens that is worth one.
//!
//! Most runs go as they should, and of those nobody wants the recording. Until something else happens, what a tape would
//! have heard is kept as it came; then the tape is started as of the beginning and hears it.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome};

use super::RunRecorder;
use super::tape::{Taken, Tape};
use crate::machine::{Event, Machine, Outcome};
use crate::request::{RunOptions, RunPolicy};
use crate::skip_cache::Markers;

/// What a tape begins with.
pub(super) struct Beginning<'r> {
    pub(super) options: &'r RunOptions,
    pub(super) policy: &'r Arc<RunPolicy>,
    pub(super) skips: Markers,
    pub(super) snapshot: Arc<AuthSnapshot>,
    pub(super) now: Timestamp,
}

/// A recording that begins when it is needed.
pub(crate) struct QuietTape<'r> {
    recorder: &'r dyn RunRecorder,
    beginning: Beginning<'r>,
    state: State,
}

enum State {
    /// Nothing was worth a tape yet; what happened so far.
    Quiet(Vec<(Taken, Quiet, Timestamp)>),
    Recorded(Box<Tape>),
    /// There was no room for it.
    LeftOut,
}

/// What came of a step in a run that goes as it should.
enum Quiet {
    Answered,
    Committed(Arc<AuthSnapshot>, ChangeOutcome),
    CommitFailed(Arc<AuthSnapshot>),
    Done,
}

impl Quiet {
    /// None for what makes a run worth a recording: anything but an answer of the first candidate, and writing it down.
    fn of(taken: &Taken, event: &Event, machine: &Machine) -> Option<Self> {
        match (taken, event) {
            (Taken::Attempt(model, _), Event::Succeeded) => {
                (machine.first_candidate() == Some(model)).then_some(Self::Answered)
            }
            (Taken::Commit(_), Event::Committed(snapshot, applied)) => {
                Some(Self::Committed(Arc::clone(snapshot), *applied))
            }
            (Taken::Commit(_), Event::CommitFailed(snapshot)) => {
                Some(Self::CommitFailed(Arc::clone(snapshot)))
            }
            (Taken::Session(_), _) => Some(Self::Done),
            (
                Taken::Attempt(..)
                | Taken::Commit(_)
                | Taken::Look
                | Taken::Note
                | Taken::Repair(_)
                | Taken::Wait(_),
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

impl<'r> QuietTape<'r> {
    pub(crate) fn new(
        recorder: &'r dyn RunRecorder,
        options: &'r RunOptions,
        policy: &'r Arc<RunPolicy>,
        skips: &Markers,
        snapshot: &Arc<AuthSnapshot>,
        now: Timestamp,
    ) -> Self {
        Self {
            recorder,
            beginning: Beginning {
                options,
                policy,
                skips: skips.clone(),
                snapshot: Arc::clone(snapshot),
                now,
            },
            state: State::Quiet(Vec::new()),
        }
    }

    /// Tells the machine what came of a step at `now`, and listens.
    pub(crate) fn hear(&mut self, taken: Taken, event: Event, machine: &mut Machine, now: Timestamp) {
        if let State::Quiet(so_far) = &mut self.state {
            if let Some(quiet) = Quiet::of(&taken, &event, machine) {
                so_far.push((taken, quiet, now));
                machine.on(event, now);
                return;
            }
            self.start(machine, now);
        }
        let State::Recorded(tape) = &mut self.state else {
            machine.on(event, now);
            return;
        };
        let heard = tape.hear(&taken, &event, now);
        // What a failure means is known once the machine has judged it.
        machine.on(event, now);
        tape.note(&taken, heard, machine, now);
    }

    /// Hands over the recording of a run that has ended like this at `now`, unless it went as it should and nobody wants
    /// it.
    pub(crate) fn finish(mut self, outcome: &Outcome, machine: &Machine, now: Timestamp) {
        // Where everything rests nothing happens, and nothing goes as it should.
        let went_well = matches!(outcome, Outcome::Completed(winner, _) if winner.index == 0);
        let wanted = !went_well || self.recorder.wants_uneventful();
        if wanted && matches!(self.state, State::Quiet(_)) {
            self.start(machine, now);
        }
        if let State::Recorded(tape) = self.state {
            self.recorder.on_recording(tape.finish());
        }
    }

    /// Begins the tape; the machine still has the request it was made with, which only an eventful step changes.
    fn start(&mut self, machine: &Machine, now: Timestamp) {
        let before = std::mem::replace(&mut self.state, State::LeftOut);
        if let State::Quiet(so_far) = before
            && self.recorder.has_room(now)
        {
            let mut tape = Tape::start(&self.beginning, machine);
            for (taken, quiet, at) in so_far {
                let heard = tape.hear(&taken, &quiet.event(), at);
                tape.note(&taken, heard, machine, at);
            }
            self.state = State::Recorded(Box::new(tape));
        }
    }
}
