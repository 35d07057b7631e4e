//! The input and the result of a replay.

use std::sync::Arc;

use openclaw_ids::{ModelRef, ProfileId};
use openclaw_runner::{RunPolicy, RunReport};
use serde::Serialize;

/// What the replay changes; by default nothing.
#[derive(Debug, Clone, Default)]
pub struct ReplayOverrides {
    /// Other settings.
    pub policy: Option<Arc<RunPolicy>>,
    /// Another chain, the requested model first.
    pub chain: Option<Vec<ModelRef>>,
}

/// A run that was played again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayResult {
    /// What was decided.
    pub report: RunReport,
    /// How it ended.
    pub ending: ReplayEnding,
    /// The calls in order.
    pub calls: Vec<(ModelRef, Option<ProfileId>)>,
    /// How many of the recorded steps were taken again before the run took another way; all of them when it did not.
    pub steps_as_recorded: usize,
}

/// How a played run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum ReplayEnding {
    /// The caller cancelled.
    Aborted,
    /// A candidate answered.
    Answered {
        /// Who.
        model: ModelRef,
        /// With which credential.
        profile: Option<ProfileId>,
    },
    /// Every candidate failed or cools down.
    Exhausted {
        /// The summary as it is shown.
        error: String,
    },
    /// One failure is the answer: the only one, or the last and unrecognised one.
    Failed {
        /// As it is shown.
        error: String,
    },
    /// A limit of the run was reached.
    LimitReached {
        /// Which, as it is shown.
        limit: String,
    },
    /// No candidate succeeded, but a rejected answer was kept for this case.
    Preserved {
        /// Whose.
        model: ModelRef,
    },
    /// One failure is the answer: every model would repeat it.
    Surfaced {
        /// As it is shown.
        error: String,
    },
    /// A candidate would be called that was not called like this in the recording, so its answer is unknown.
    Unknown {
        /// Who.
        model: ModelRef,
        /// With which credential.
        profile: Option<ProfileId>,
    },
}

/// A recording that cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Its policy cannot be read.
    #[error("the recording's settings cannot be read; play it with settings of your own")]
    Policy(#[source] serde_json::Error),
    /// It says something that this version does not know.
    #[error("step {step} of the recording is unknown to this version; play it with the version that made it")]
    Step {
        /// The step, from 1.
        step: usize,
    },
}
