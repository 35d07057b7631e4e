//! Plays scenarios and keeps the recordings of their runs.

use std::path::Path;
use std::sync::{Arc, Mutex};

use openclaw_history::recording::{Recorder, RecordingSink, RunRecording};
use openclaw_runner::{RunPolicy, RunReport};

use crate::scenarios::played_with;

/// What came of a file.
pub(crate) struct Recorded {
    /// What its runs reported.
    pub(crate) reports: Vec<RunReport>,
    /// Its runs as they were recorded.
    pub(crate) recordings: Vec<RunRecording>,
    /// The policy of its runs.
    pub(crate) policy: Arc<RunPolicy>,
}

/// Keeps recordings.
#[derive(Default)]
struct Recordings {
    kept: Mutex<Vec<RunRecording>>,
    eventful_only: bool,
}

impl RecordingSink for Recordings {
    fn on_recording(&self, recording: RunRecording) {
        self.kept.lock().unwrap().push(recording);
    }

    fn wants_uneventful(&self) -> bool {
        !self.eventful_only
    }
}

/// Plays one file in paused time.
pub(crate) fn recorded(path: &Path) -> Recorded {
    recorded_by(path, Recordings::default())
}

/// Plays one file in paused time and keeps the recordings of eventful runs alone.
pub(crate) fn recorded_events(path: &Path) -> Recorded {
    recorded_by(
        path,
        Recordings {
            eventful_only: true,
            ..Recordings::default()
        },
    )
}

fn recorded_by(path: &Path, recordings: Recordings) -> Recorded {
    let recordings = Arc::new(recordings);
    let played = played_with(path, Some(Arc::new(Recorder::new(Arc::clone(&recordings)))));
    Recorded {
        reports: played.reports,
        recordings: std::mem::take(&mut *recordings.kept.lock().unwrap()),
        policy: played.policy,
    }
}
