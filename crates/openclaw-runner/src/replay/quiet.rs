//! A tape that is started only when something happens that is worth one.
//!
//! Most runs go as they should, and of those nobody wants the recording. Until something else happens, what a tape would
//! have heard is kept as it came; then the tape is started as of the beginning and hears it.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{Applied, AuthSnapshot};

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
    beginning: Beginning<'r>,
    /// What happened so far, as long as there is no tape.
    so_far: Vec<(Taken, Quiet, Timestamp)>,
    tape: Option<Box<Tape>>,
}

/// What came of a step in a run that goes as it should.
enum Quiet {
    Answered,
    Committed(Arc<AuthSnapshot>, Applied),
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
        options: &'r RunOptions,
        policy: &'r Arc<RunPolicy>,
        skips: &Markers,
        snapshot: &Arc<AuthSnapshot>,
        now: Timestamp,
    ) -> Self {
        Self {
            beginning: Beginning {
                options,
                policy,
                skips: skips.clone(),
                snapshot: Arc::clone(snapshot),
                now,
            },
            so_far: Vec::new(),
            tape: None,
        }
    }

    /// Tells the machine what came of a step at `now`, and listens.
    pub(crate) fn hear(&mut self, taken: Taken, event: Event, machine: &mut Machine, now: Timestamp) {
        if self.tape.is_none()
            && let Some(quiet) = Quiet::of(&taken, &event, machine)
        {
            self.so_far.push((taken, quiet, now));
            machine.on(event, now);
            return;
        }
        let tape = self.started(machine);
        let heard = tape.hear(&taken, &event, now);
        // What a failure means is known once the machine has judged it.
        machine.on(event, now);
        tape.note(&taken, heard, machine, now);
    }

    /// Hands over the recording of a run that has ended like this, unless it went as it should and nobody wants it.
    pub(crate) fn finish(mut self, outcome: &Outcome, machine: &Machine, recorder: &dyn RunRecorder) {
        // Where everything rests nothing happens, and nothing goes as it should.
        let went_well = matches!(outcome, Outcome::Completed(winner, _) if winner.index == 0);
        if !went_well || recorder.wants_uneventful() {
            self.started(machine);
        }
        if let Some(tape) = self.tape {
            recorder.on_recording(tape.finish());
        }
    }

    /// The tape; the machine still has the request it was made with, which only an eventful step changes.
    fn started(&mut self, machine: &Machine) -> &mut Tape {
        let (beginning, so_far) = (&self.beginning, &mut self.so_far);
        self.tape.get_or_insert_with(|| {
            let mut tape = Tape::start(beginning, machine);
            for (taken, quiet, now) in so_far.drain(..) {
                let heard = tape.hear(&taken, &quiet.event(), now);
                tape.note(&taken, heard, machine, now);
            }
            Box::new(tape)
        })
    }
}
