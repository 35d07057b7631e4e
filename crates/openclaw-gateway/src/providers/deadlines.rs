//! The time limits of one attempt: the rows of `deadlines` over the defaults of openclaw-upstream (BL-93).

use std::num::NonZeroU64;
use std::time::Duration;

use openclaw_config::{DeadlineRow, DeadlineSettings, LONGEST_WAIT, wait};
use openclaw_ids::ModelRef;
use openclaw_upstream::Deadlines;

/// The limits of an attempt with `model`. `answer` is what the provider's row of `openclaw.json` says (`timeoutSeconds`):
/// more specific than what holds for all, less than the rows of `failover.json5`.
pub fn attempt_deadlines(
    settings: &DeadlineSettings,
    model: &ModelRef,
    answer: Option<Duration>,
) -> Deadlines {
    let all = over(&settings.all, Deadlines::DEFAULT);
    let provider = answer.map_or(all, |limit| all.with_answer_limit(limit.min(LONGEST_WAIT)));
    settings
        .rows(model)
        .fold(provider, |deadlines, row| over(row, deadlines))
}

/// `under`, but for the limits that `row` names.
fn over(row: &DeadlineRow, under: Deadlines) -> Deadlines {
    let or = |limit: Option<NonZeroU64>, under| limit.map_or(under, wait);
    Deadlines {
        connect: or(row.connect_ms, under.connect),
        stream_head: or(row.head_ms, under.stream_head),
        plain_head: or(row.plain_head_ms, under.plain_head),
        first_content: or(row.first_content_ms, under.first_content),
        plain_body: or(row.plain_body_ms, under.plain_body),
        idle: or(row.idle_ms, under.idle),
        total: or(row.total_ms, under.total),
        error_body: under.error_body,
    }
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
            let deadlines = attempt_deadlines(&settings, &model(name), answer.map(millis));
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
        assert_eq!(attempt_deadlines(&none, &model("a/b"), None), Deadlines::DEFAULT);
        assert_eq!(none.run(&model("a/b")), None);
    }

    #[test]
    fn an_endless_wait_is_one_that_a_clock_can_count() {
        let endless = settings("{ all: { idleMs: 18446744073709551615 } }");
        let deadlines = attempt_deadlines(&endless, &model("a/b"), Some(Duration::MAX));
        assert_eq!(
            (deadlines.idle, deadlines.stream_head),
            (LONGEST_WAIT, LONGEST_WAIT)
        );
    }
}
