//! `deadlines`: how long is waited for what, for all, for one provider and for one model (BL-93).

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::Duration;

use openclaw_ids::{ModelRef, ProviderId};
use serde::{Deserialize, Serialize};

use openclaw_upstream::Deadlines;

/// The longest wait; a longer one is cut to it, since no clock counts that far.
const LONGEST: Duration = Duration::from_hours(24 * 365);

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

/// Limits in milliseconds; what is not named is decided elsewhere.
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
    /// The limits of an attempt with `model`. `answer` is what the provider's row of the other program's configuration
    /// says (`timeoutSeconds`): more specific than what holds for all, less than our own rows.
    pub fn of(&self, model: &ModelRef, answer: Option<Duration>) -> Deadlines {
        let all = self.all.over(Deadlines::DEFAULT);
        let provider = answer.map_or(all, |limit| all.with_answer_limit(limit.min(LONGEST)));
        self.rows(model)
            .fold(provider, |deadlines, row| row.over(deadlines))
    }

    /// How long a run may take that was asked for `model` (A8); none for no limit.
    pub(crate) fn run(&self, model: &ModelRef) -> Option<Duration> {
        let rows = std::iter::once(&self.all).chain(self.rows(model));
        rows.filter_map(|row| row.run_ms).last().map(wait)
    }

    /// The rows about `model`, the most specific one last.
    fn rows(&self, model: &ModelRef) -> impl Iterator<Item = &DeadlineRow> {
        let provider = self.providers.get(model.provider());
        provider.into_iter().chain(self.models.get(model))
    }
}

impl DeadlineRow {
    fn over(&self, under: Deadlines) -> Deadlines {
        let or = |limit: Option<NonZeroU64>, under| limit.map_or(under, wait);
        Deadlines {
            connect: or(self.connect_ms, under.connect),
            stream_head: or(self.head_ms, under.stream_head),
            plain_head: or(self.plain_head_ms, under.plain_head),
            first_content: or(self.first_content_ms, under.first_content),
            plain_body: or(self.plain_body_ms, under.plain_body),
            idle: or(self.idle_ms, under.idle),
            total: or(self.total_ms, under.total),
            error_body: under.error_body,
        }
    }
}

fn wait(limit: NonZeroU64) -> Duration {
    Duration::from_millis(limit.get()).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> DeadlineSettings {
        json5::from_str(text).unwrap()
    }

    fn model(text: &str) -> ModelRef {
        text.parse().unwrap()
    }

    #[test]
    fn bl_93_the_most_specific_row_decides_each_limit_for_itself() {
        let settings = settings(
            "{ all: { connectMs: 1, headMs: 2, plainHeadMs: 3, firstContentMs: 4, plainBodyMs: 5, idleMs: 6, totalMs: 7, runMs: 8 },
               providers: { relay: { idleMs: 60, totalMs: 70, runMs: 80 } },
               models: { 'relay/slow': { idleMs: 600 } } }",
        );
        let millis = Duration::from_millis;
        for (name, answer, waits, run) in [
            ("other/m", None, [1, 2, 3, 4, 5, 6, 7], 8),
            ("other/m", Some(9), [1, 9, 9, 9, 9, 6, 7], 8),
            ("relay/m", Some(9), [1, 9, 9, 9, 9, 60, 70], 80),
            ("relay/slow", None, [1, 2, 3, 4, 5, 600, 70], 80),
        ] {
            let deadlines = settings.of(&model(name), answer.map(millis));
            let found = [
                deadlines.connect,
                deadlines.stream_head,
                deadlines.plain_head,
                deadlines.first_content,
                deadlines.plain_body,
                deadlines.idle,
                deadlines.total,
            ];
            assert_eq!(found, waits.map(millis), "{name} {answer:?}");
            assert_eq!(settings.run(&model(name)), Some(millis(run)), "{name}");
        }
    }

    #[test]
    fn without_settings_the_defaults_hold_and_a_run_has_no_limit() {
        let none = DeadlineSettings::default();
        assert_eq!(none.of(&model("a/b"), None), Deadlines::DEFAULT);
        assert_eq!(none.run(&model("a/b")), None);
    }

    #[test]
    fn an_endless_wait_is_one_that_a_clock_can_count() {
        let endless = settings("{ all: { idleMs: 18446744073709551615 } }");
        let deadlines = endless.of(&model("a/b"), Some(Duration::MAX));
        assert_eq!((deadlines.idle, deadlines.stream_head), (LONGEST, LONGEST));
    }
}
