//! Compares a recorded run with the same run under other settings or another chain.

use super::outcome::{ReplayError, ReplayOverrides, ReplayResult};
use super::replay;
use crate::recording::RunRecording;

/// A recorded run as it was, and as it would have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    /// As it was.
    pub before: ReplayResult,
    /// Under the other circumstances.
    pub after: ReplayResult,
}

impl Simulation {
    /// Whether anything a caller or an operator would have noticed is otherwise: who was asked with which credential,
    /// how it ended, what was decided on the way.
    pub fn differs(&self) -> bool {
        self.before.ending != self.after.ending
            || self.before.calls != self.after.calls
            || self.before.report.events != self.after.report.events
    }
}

/// Plays `recording` as it was and under `circumstances`.
///
/// # Errors
/// [`ReplayError`] for a recording of another version.
pub fn simulate(
    recording: &RunRecording,
    circumstances: &ReplayOverrides,
) -> Result<Simulation, ReplayError> {
    Ok(Simulation {
        before: replay(recording, &ReplayOverrides::default())?,
        after: replay(recording, circumstances)?,
    })
}
