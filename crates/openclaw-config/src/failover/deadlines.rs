//! `deadlines`: time limits for all calls, for one provider and for one model (BL-93).

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

use openclaw_ids::{ModelRef, ProviderId};
use serde::{Deserialize, Serialize};

/// The longest wait, one year; a longer one is cut to it, since no clock counts that far.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24 * 365);

/// `deadlines`. The most specific row that names a limit decides it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    default,
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object such as { all: { idleMs: 60000 } }"
)]
pub struct DeadlineSettings {
    /// For all.
    pub all: DeadlineRow,
    /// For the models of one provider.
    pub providers: HashMap<ProviderId, DeadlineRow>,
    /// For one `provider/model`.
    pub models: HashMap<ModelRef, DeadlineRow>,
}

/// Limits in milliseconds; an absent limit is decided by a less specific row or a default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    default,
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object of limits such as { idleMs: 60000 }"
)]
pub struct DeadlineRow {
    /// For a new connection.
    pub connect_ms: Option<NonZeroU64>,
    /// For the head of a streamed answer.
    pub head_ms: Option<NonZeroU64>,
    /// For the head of a plain answer.
    pub plain_head_ms: Option<NonZeroU64>,
    /// From the head of a stream to its first content.
    pub first_content_ms: Option<NonZeroU64>,
    /// From the head of a plain answer to the first piece of its body.
    pub plain_body_ms: Option<NonZeroU64>,
    /// Between two pieces.
    pub idle_ms: Option<NonZeroU64>,
    /// From the start of an attempt to the end of its answer.
    pub total_ms: Option<NonZeroU64>,
    /// From the start of a run to its first content, whatever is left to try (A8); that of the requested model counts.
    pub run_ms: Option<NonZeroU64>,
}

impl DeadlineSettings {
    /// The rows about `model`: for its provider and for itself, the most specific one last; without the row for all.
    pub fn rows(&self, model: &ModelRef) -> impl Iterator<Item = &DeadlineRow> {
        let provider = self.providers.get(model.provider());
        provider.into_iter().chain(self.models.get(model))
    }

    /// The time limit of a run that requests `model` (A8); none for no limit.
    pub fn run(&self, model: &ModelRef) -> Option<Duration> {
        let rows = std::iter::once(&self.all).chain(self.rows(model));
        rows.filter_map(|row| row.run_ms).last().map(wait)
    }
}

/// A configured limit as a time, cut to [`LONGEST_WAIT`].
pub fn wait(limit: NonZeroU64) -> Duration {
    Duration::from_millis(limit.get()).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(text: &str) -> ModelRef {
        text.parse().unwrap()
    }

    #[test]
    fn bl_93_a8_the_most_specific_row_limits_a_run() {
        let settings: DeadlineSettings = json5::from_str(
            "{ all: { runMs: 8 }, providers: { relay: { runMs: 80 } }, models: { 'relay/slow': { idleMs: 600 } } }",
        )
        .unwrap();
        for (name, run) in [("other/m", 8), ("relay/m", 80), ("relay/slow", 80)] {
            assert_eq!(
                settings.run(&model(name)),
                Some(Duration::from_millis(run)),
                "{name}"
            );
        }
        assert_eq!(DeadlineSettings::default().run(&model("a/b")), None);
    }
}
