//! How a run ended, as far as its records say.

use serde::Serialize;

/// How a run ended, as far as its records say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Ending {
    /// A candidate answered.
    Answered {
        /// As `provider/model`.
        by: String,
        /// Its position, from 1.
        position: Option<usize>,
    },
    /// Every candidate failed or was skipped.
    Exhausted,
    /// The records end before the run does.
    Open {
        /// The candidate that came next, or was being asked.
        next: Option<String>,
    },
    /// One failure went to the caller as it was, because every model would repeat it.
    Surfaced {
        /// The candidate that met it.
        from: String,
    },
}
