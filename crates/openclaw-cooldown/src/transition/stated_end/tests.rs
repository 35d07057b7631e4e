//! A stated end that becomes known later extends the same episode.

use openclaw_classify::Reason;

use super::*;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, at, failure, on_model, usage};

fn explained(usage: ProfileUsage, ms: i64, event: &FailureEvent) -> ProfileUsage {
    apply_stated_end(usage, event, at(ms), &CooldownConfig::default())
}

#[test]
fn d2_a_found_end_lengthens_the_window_of_its_episode_and_is_no_step() {
    let event = failure(Reason::RateLimit).started(0);
    let usage = ProfileUsage::default().failed(SECOND, &event);
    let counted = usage.failure_counts.clone();
    let usage = explained(usage, 2 * SECOND, &event.clone().hinting(HOUR));
    assert_eq!(usage.span(&on_model("m")), Some((SECOND, HOUR)));
    assert_eq!(usage.windows[&on_model("m")].stated, Some(at(HOUR)));
    assert_eq!(
        (usage.steps(&on_model("m")), usage.failure_counts.clone()),
        (1, counted)
    );
    // D7: a shorter end than the window's changes nothing.
    let same = explained(usage.clone(), 3 * SECOND, &event.hinting(20 * SECOND));
    assert_eq!(same, usage);
}

#[test]
fn d4_the_end_of_an_account_opens_the_blocked_window_beside_the_ladder() {
    let event = failure(Reason::RateLimit).started(0);
    let usage = ProfileUsage::default().failed(SECOND, &event);
    let wide = event.clone().account_wide();
    let usage = explained(usage, 2 * SECOND, &wide.clone().hinting(DAY));
    assert_eq!(usage.span(&Lane::Blocked), Some((2 * SECOND, DAY)));
    assert_eq!(
        usage.span(&on_model("m")),
        Some((SECOND, 31 * SECOND)),
        "untouched"
    );
    let shorter = explained(usage.clone(), 3 * SECOND, &wide.clone().hinting(HOUR));
    assert_eq!(shorter, usage, "the same episode never shortens");
    // D7: what a later attempt found replaces it in both directions.
    let later = wide.started(MINUTE);
    let usage = explained(usage, 2 * MINUTE, &later.hinting(HOUR));
    assert_eq!(usage.span(&Lane::Blocked), Some((2 * MINUTE, HOUR)));
}

#[test]
fn d2_an_end_that_is_known_before_the_failure_is_recorded_opens_its_episode() {
    let event = failure(Reason::RateLimit).started(0);
    let usage = explained(ProfileUsage::default(), SECOND, &event.clone().hinting(HOUR));
    assert_eq!(usage.span(&on_model("m")), Some((SECOND, HOUR)));
    let usage = usage.failed(2 * SECOND, &event);
    assert_eq!(usage.span(&on_model("m")), Some((SECOND, HOUR)));
    assert_eq!(usage.steps(&on_model("m")), 1);
}

#[test]
fn d6_what_marks_nothing_and_what_states_nothing_change_nothing() {
    let limited = usage(&[(on_model("m"), Reason::RateLimit, MINUTE)]);
    for event in [
        failure(Reason::RateLimit),
        failure(Reason::Unknown).hinting(HOUR),
        failure(Reason::Auth).hinting(HOUR),
        failure(Reason::RateLimit).account_wide().hinting(SECOND),
    ] {
        assert_eq!(
            explained(limited.clone(), 2 * SECOND, &event),
            limited,
            "{event:?}"
        );
    }
}
