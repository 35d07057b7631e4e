//! The fold of failures: ladders, episodes, windows that stay, stated ends.

use openclaw_classify::Reason;

use super::*;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, at, failure, model, offset, on_model, provider};

mod extreme_values;
mod lanes;
mod lifecycle;
mod oracle;
mod properties;
mod stated_ends;

/// Failures at seconds after the start, each in the episode that its time suggests (start unknown).
fn after_failures(events: &[(i64, FailureEvent)]) -> ProfileUsage {
    events
        .iter()
        .fold(ProfileUsage::default(), |usage, (second, event)| {
            usage.failed(second * SECOND, event)
        })
}

#[test]
fn d1_bl_26_ladders_climb_across_ended_windows() {
    let hours = |list: [i64; 5]| list.map(|hours| hours * HOUR);
    for (reason, lane, waits) in [
        (
            Reason::RateLimit,
            on_model("m"),
            [30, 60, 300, 300, 300].map(|seconds| seconds * SECOND),
        ),
        (
            Reason::Timeout,
            on_model("m"),
            [30, 60, 300, 300, 300].map(|seconds| seconds * SECOND),
        ),
        (
            Reason::Auth,
            Lane::Profile,
            [30, 60, 300, 300, 300].map(|seconds| seconds * SECOND),
        ),
        (
            Reason::AuthPermanent,
            Lane::AuthPermanent,
            [10, 20, 40, 60, 60].map(|minutes| minutes * MINUTE),
        ),
        (Reason::Billing, Lane::Billing, hours([5, 10, 20, 24, 24])),
    ] {
        let mut usage = ProfileUsage::default();
        let mut now = 0;
        for (index, wait) in waits.into_iter().enumerate() {
            usage = usage.failed(now, &failure(reason));
            assert_eq!(
                usage.span(&lane),
                Some((now, now + wait)),
                "{reason}, step {}",
                index + 1
            );
            now += wait;
        }
    }
}

#[test]
fn d1_a_success_resets_the_ladder() {
    let twice = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit))
        .failed(30 * SECOND, &failure(Reason::RateLimit));
    assert_eq!(twice.steps(&on_model("m")), 2);
    let again = twice
        .succeeded(90 * SECOND)
        .failed(91 * SECOND, &failure(Reason::RateLimit));
    assert_eq!(again.span(&on_model("m")), Some((91 * SECOND, 121 * SECOND)));
}

#[test]
fn d1_the_failure_window_resets_only_when_it_is_exceeded() {
    for (gap, steps, count) in [(DAY - 1, 2, 2), (DAY, 2, 2), (DAY + 1, 1, 1)] {
        let usage = ProfileUsage::default()
            .failed(0, &failure(Reason::RateLimit))
            .failed(gap, &failure(Reason::RateLimit));
        assert_eq!(usage.steps(&on_model("m")), steps, "after {gap} ms");
        assert_eq!(usage.failure_counts[&Reason::RateLimit], count, "after {gap} ms");
    }
}

#[test]
fn d1_d5_the_failure_window_is_counted_per_lane() {
    let mut usage = ProfileUsage::default().failed(0, &failure(Reason::Billing));
    for day in 1..=3 {
        usage = usage.failed(day * DAY - HOUR, &failure(Reason::RateLimit).of("busy"));
    }
    let usage = usage.failed(3 * DAY, &failure(Reason::Billing));
    assert_eq!(usage.span(&Lane::Billing), Some((3 * DAY, 3 * DAY + 5 * HOUR)));
    assert_eq!(usage.steps(&on_model("busy")), 3);
}

/// The traces of cooldown.md 4.3, as decided by D1 to D5 (times in seconds).
#[test]
fn cooldown_4_3_the_traces_as_decided() {
    let limit = || failure(Reason::RateLimit);
    let bill = || failure(Reason::Billing);
    let m = on_model("m");

    let ended = after_failures(&[(0, limit()), (31, limit()), (62, limit()), (93, limit())]);
    assert_eq!(
        ended.span(&m),
        Some((93 * SECOND, 393 * SECOND)),
        "62 lies in the second window"
    );

    let inside = after_failures(&[(0, limit()), (5, limit()), (10, limit())]);
    assert_eq!((inside.span(&m), inside.steps(&m)), (Some((0, 30 * SECOND)), 1));
    assert_eq!(inside.failure_counts[&Reason::RateLimit], 3);

    let exact = after_failures(&[(0, limit()), (30, limit())]);
    assert_eq!(exact.span(&m), Some((30 * SECOND, 90 * SECOND)));

    let bills = after_failures(&[(0, bill()), (18_001, bill()), (40_000, bill())]);
    assert_eq!(
        bills.span(&Lane::Billing),
        Some((18_001 * SECOND, 54_001 * SECOND))
    );

    let burst = after_failures(&[(0, bill()), (10, bill())]);
    assert_eq!(burst.span(&Lane::Billing), Some((0, 5 * HOUR)));
    assert_eq!(
        (
            burst.steps(&Lane::Billing),
            burst.failure_counts[&Reason::Billing]
        ),
        (1, 2)
    );

    let both = after_failures(&[(0, bill()), (1, limit()), (62, limit()), (400, limit())]);
    assert_eq!(
        both.span(&m),
        Some((400 * SECOND, 700 * SECOND)),
        "D5: the bill is another lane"
    );
    assert_eq!(both.span(&Lane::Billing), Some((0, 5 * HOUR)));

    let dead = after_failures(&[(0, bill()), (1, failure(Reason::AuthPermanent))]);
    assert_eq!(
        dead.span(&Lane::Billing),
        Some((0, 5 * HOUR)),
        "D3: not relabelled"
    );
    assert_eq!(
        dead.span(&Lane::AuthPermanent),
        Some((SECOND, SECOND + 10 * MINUTE))
    );

    let next_day = after_failures(&[(0, bill()), (86_402, limit())]);
    assert_eq!(next_day.span(&m), Some((86_402 * SECOND, 86_432 * SECOND)));
    assert_eq!(next_day.span(&Lane::Billing), None, "nothing stale remains");
}

#[test]
fn d2_a_burst_of_parallel_failures_is_one_step() {
    let mut usage = ProfileUsage::default();
    for (started, now) in [(0, 10), (1, 11), (5, 12), (9, 40_000)] {
        usage = usage.failed(now, &failure(Reason::Overloaded).started(started));
    }
    assert_eq!(usage.span(&on_model("m")), Some((10, 30_010)));
    assert_eq!(
        (
            usage.steps(&on_model("m")),
            usage.failure_counts[&Reason::Overloaded]
        ),
        (1, 4)
    );
    assert_eq!(
        usage.last_failure_at,
        Some(at(40_000)),
        "the last one ended after the window and still counts"
    );
}

#[test]
fn d2_a_failed_probe_is_the_next_step_and_its_own_burst_one() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit).started(-100))
        .failed(20_000, &failure(Reason::RateLimit).started(19_000))
        .failed(20_001, &failure(Reason::RateLimit).started(19_500));
    assert_eq!(usage.span(&on_model("m")), Some((20_000, 80_000)));
    assert_eq!(usage.steps(&on_model("m")), 2);
}

#[test]
fn d2_an_attempt_that_started_exactly_at_the_opening_is_a_new_episode() {
    for (started, steps) in [(-1, 1), (0, 2), (1, 2)] {
        let usage = ProfileUsage::default()
            .failed(0, &failure(Reason::Auth))
            .failed(5, &failure(Reason::Auth).started(started));
        assert_eq!(usage.steps(&Lane::Profile), steps, "started at {started}");
    }
}

#[test]
fn d3_a_weaker_failure_neither_shortens_nor_relabels() {
    let long = ProfileUsage::default().failed(0, &failure(Reason::RateLimit).hinting(2 * HOUR));
    let weaker = long
        .clone()
        .failed(MINUTE, &failure(Reason::Timeout).started(30 * SECOND));
    let (before, after) = (&long.windows[&on_model("m")], &weaker.windows[&on_model("m")]);
    assert_eq!(
        (after.until, after.reason, after.stated),
        (before.until, Reason::RateLimit, before.stated)
    );
    assert_eq!(
        (after.steps, after.opened_at),
        (2, at(MINUTE)),
        "it is an episode of its own all the same"
    );
}

#[test]
fn d3_reason_and_end_change_together() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::Timeout))
        .failed(10 * SECOND, &failure(Reason::Overloaded).started(5 * SECOND));
    let window = &usage.windows[&on_model("m")];
    assert_eq!(
        (window.reason, offset(window.until)),
        (Reason::Overloaded, 70 * SECOND)
    );
}

#[test]
fn d3_an_end_that_stays_the_same_keeps_its_reason() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit).hinting(MINUTE))
        .failed(0, &failure(Reason::Timeout).started(0));
    let window = &usage.windows[&on_model("m")];
    assert_eq!((offset(window.until), window.reason), (MINUTE, Reason::RateLimit));
    assert_eq!((window.steps, window.stated), (2, Some(at(MINUTE))));
}

#[test]
fn f_6_a_window_that_outlasts_the_failure_window_keeps_its_step() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit).hinting(5 * DAY))
        .failed(2 * DAY, &failure(Reason::RateLimit).started(2 * DAY));
    assert_eq!(usage.span(&on_model("m")), Some((2 * DAY, 5 * DAY)));
    assert_eq!(usage.steps(&on_model("m")), 2);
}

#[test]
fn f_6_the_first_failure_after_the_longest_wait_is_the_next_step() {
    let mut usage = ProfileUsage::default();
    let mut now = 0;
    let mut hours = Vec::new();
    for _ in 0..6 {
        usage = usage.failed(now, &failure(Reason::Billing));
        let (from, until) = usage.span(&Lane::Billing).unwrap();
        hours.push((until - from) / HOUR);
        now = until + MINUTE;
    }
    assert_eq!(hours, [5, 10, 20, 24, 24, 24]);
    assert_eq!(usage.failure_counts[&Reason::Billing], 6);
}

#[test]
fn f_6_a_lane_remembers_its_step_for_its_wait_and_an_hour() {
    let config = |window: f64| CooldownConfig::lenient(&serde_json::json!({"failureWindowHours": window}));
    let model = on_model("m");
    for (lane, event, wait, window) in [
        (&Lane::Billing, failure(Reason::Billing), 5 * HOUR, 1.0),
        (
            &Lane::AuthPermanent,
            failure(Reason::AuthPermanent),
            10 * MINUTE,
            0.1,
        ),
        (&Lane::Profile, failure(Reason::Auth), 30 * SECOND, 0.001),
        (&model, failure(Reason::RateLimit), 30 * SECOND, 0.5),
        (
            &model,
            failure(Reason::Overloaded).hinting(3 * DAY),
            3 * DAY,
            24.0,
        ),
    ] {
        for (gap, steps) in [(wait + HOUR, 2), (wait + HOUR + 1, 1)] {
            let once = record_failure(ProfileUsage::default(), &event, at(0), &config(window));
            assert_eq!(once.span(lane), Some((0, wait)));
            let twice = record_failure(once, &event, at(gap), &config(window));
            assert_eq!(twice.steps(lane), steps, "{lane} after {gap} ms");
            assert_eq!(
                twice.failure_counts[&event.reason],
                u64::from(steps),
                "{lane} after {gap} ms"
            );
        }
    }
}

#[test]
fn f_6_counts_live_as_long_as_the_step_of_any_lane() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit).hinting(5 * DAY))
        .failed(2 * DAY, &failure(Reason::Auth));
    assert_eq!(usage.failure_counts[&Reason::RateLimit], 1);
    let later = usage.failed(9 * DAY, &failure(Reason::Auth));
    assert_eq!(later.failure_counts.get(&Reason::RateLimit), None);
}

#[test]
fn f_5_a_cap_below_the_first_wait_holds_for_each_long_lane_and_provider() {
    for (reason, settings, minutes) in [
        (Reason::Billing, r#"{"billingMaxHours": 1}"#, 60),
        (Reason::Billing, r#"{"billingBackoffHours": 30}"#, 24 * 60),
        (
            Reason::Billing,
            r#"{"billingBackoffHoursByProvider": {"openai": 9}, "billingMaxHours": 6}"#,
            6 * 60,
        ),
        (Reason::AuthPermanent, r#"{"authPermanentMaxMinutes": 2}"#, 2),
        (
            Reason::AuthPermanent,
            r#"{"authPermanentBackoffMinutes": 90}"#,
            60,
        ),
    ] {
        let config: CooldownConfig = serde_json::from_str(settings).unwrap();
        let mut event = failure(reason);
        event.provider = provider("openai");
        let usage = record_failure(ProfileUsage::default(), &event, at(0), &config);
        let (_, window) = usage.windows.first_key_value().unwrap();
        assert_eq!(offset(window.until), minutes * MINUTE, "{settings}");
    }
}

#[test]
fn d12_and_cooldown_2_the_billing_wait_of_the_events_provider_counts() {
    let config: CooldownConfig = serde_json::from_str(
        r#"{"billingBackoffHours": 1, "billingBackoffHoursByProvider": {" OpenAI ": 2}}"#,
    )
    .unwrap();
    for (id, hours) in [("openai", 2), ("anthropic", 1)] {
        let mut event = failure(Reason::Billing);
        event.provider = provider(id);
        let usage = record_failure(ProfileUsage::default(), &event, at(0), &config);
        assert_eq!(usage.span(&Lane::Billing), Some((0, hours * HOUR)), "{id}");
    }
}

#[test]
fn cooldown_3_3_a_wait_beyond_the_calendar_ends_at_its_last_instant() {
    let config =
        CooldownConfig::lenient(&serde_json::json!({"billingBackoffHours": 1e300, "billingMaxHours": 1e300}));
    let usage = record_failure(ProfileUsage::default(), &failure(Reason::Billing), at(0), &config);
    assert_eq!(usage.windows[&Lane::Billing].until, millis::saturating(i64::MAX));
}

#[test]
fn cooldown_15_a_clock_that_goes_backwards_resets_nothing() {
    let usage = after_failures(&[
        (1000, failure(Reason::RateLimit)),
        (0, failure(Reason::RateLimit).started(-1)),
    ]);
    assert_eq!(usage.span(&on_model("m")), Some((1000 * SECOND, 1030 * SECOND)));
    assert_eq!(usage.failure_counts[&Reason::RateLimit], 2);
    // The later failure still says how old the series is, a day after the earlier one.
    assert_eq!(usage.last_failure_at, Some(at(1000 * SECOND)));
    let usage = usage.failed(DAY + 1, &failure(Reason::RateLimit));
    assert_eq!(usage.failure_counts[&Reason::RateLimit], 3);
    assert_eq!(usage.steps(&on_model("m")), 2);
}

#[test]
fn cooldown_15_a_clock_that_was_years_ahead_holds_no_series_for_years() {
    for (ahead, kept) in [(DAY, true), (DAY + 1, false)] {
        let usage = ProfileUsage::default()
            .failed(ahead, &failure(Reason::RateLimit))
            .failed(0, &failure(Reason::RateLimit).started(-1));
        let last = if kept { at(ahead) } else { at(0) };
        assert_eq!(usage.last_failure_at, Some(last), "{ahead}");
        assert_eq!(usage.windows[&on_model("m")].last_failure_at, last, "{ahead}");
    }
}
