//! A tape that is started only when something happens that is worth one.
//!
//! Most runs go as they should, and of those nobody wants the recording. Until something else happens, what a tape would
//! have heard is kept as it came; then the tape is started as of the beginning and hears it.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{Applied, AuthSnapshot};

use super::recording::RunRecording;
use super::tape::{Heard, Taken, Tape};
use crate::machine::{Event, Machine};
use crate::request::{RunOptions, RunPolicy};
use crate::skip_cache::Markers;

/// What a tape begins with.
pub(crate) struct Beginning<'r> {
    pub(crate) options: &'r RunOptions,
    pub(crate) policy: &'r Arc<RunPolicy>,
    pub(crate) skips: Markers,
    pub(crate) snapshot: Arc<AuthSnapshot>,
    pub(crate) now: Timestamp,
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
    pub(crate) fn new(beginning: Beginning<'r>) -> Self {
        Self {
            beginning,
            so_far: Vec::new(),
            tape: None,
        }
    }

    /// Listens to what came of a step at `now`, before the machine hears it; what it returns is noted after that.
    pub(crate) fn hear(
        &mut self,
        taken: Taken,
        event: &Event,
        machine: &Machine,
        now: Timestamp,
    ) -> Option<(Taken, Heard)> {
        if self.tape.is_none()
            && let Some(quiet) = Quiet::of(&taken, event, machine)
        {
            self.so_far.push((taken, quiet, now));
            return None;
        }
        let heard = self.started(machine).hear(&taken, event, now);
        Some((taken, heard))
    }

    /// Writes down a step, once the machine has heard what came of it.
    pub(crate) fn note(&mut self, (taken, heard): (Taken, Heard), machine: &Machine, now: Timestamp) {
        self.started(machine).note(&taken, heard, machine, now);
    }

    /// The recording of a run that has ended; none of one that went as it should, unless `all` are wanted.
    pub(crate) fn finish(mut self, machine: &Machine, all: bool) -> Option<RunRecording> {
        if all {
            self.started(machine);
        }
        self.tape.map(|tape| tape.finish())
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
