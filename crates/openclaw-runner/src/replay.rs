//! Runs that were recorded, played again: to check that the same circumstances lead to the same decisions, and to see
//! what other settings or another chain would have led to.
//!
//! A [`RunRecording`] holds what a run knew and what it met, and no secret: the credentials without their keys, the
//! usage state, the policy as far as it concerns the chain, and for every step when it ended and what came of it. A
//! failure is recorded as it was judged and as records show it, never in the provider's own words.

mod failure;
mod options;
mod outcome;
mod playback;
mod policy;
pub(crate) mod quiet;
mod recording;
mod simulate;
mod state;
pub(crate) mod tape;

use jiff::Timestamp;

pub use failure::RecordedFailure;
pub use options::{RecordedOptions, RecordedShortfall};
pub use outcome::{Circumstances, ReplayEnding, ReplayError, Replayed};
pub use playback::replay;
pub use policy::{RecordedPolicy, RecordedProfileConfig, RecordedSettings};
pub use recording::{RecordedSelection, RecordedSkip, RecordedStep, RunRecording, SessionWrite, StepResult};
pub use simulate::{Simulated, simulate};
pub use state::{Credentials, RecordedProbe, RecordedProfile, StateChanges, UsageState};

/// Takes the recordings of runs; see [`Runner::with_recorder`](crate::Runner::with_recorder).
pub trait RunRecorder: Send + Sync {
    /// Called when a run has ended, before its caller hears of it; it should not block. A run that was dropped is not
    /// recorded.
    fn on_recording(&self, recording: RunRecording);

    /// Asked once for a run that would be recorded, as soon as that is known, at `now`: a run that there is no room for
    /// costs next to nothing.
    fn has_room(&self, _now: Timestamp) -> bool {
        true
    }

    /// Whether runs that went as they should are wanted, too: those in which nothing happened but that the first
    /// candidate answered. Without them, only the others cost a recording.
    fn wants_uneventful(&self) -> bool {
        true
    }
}
