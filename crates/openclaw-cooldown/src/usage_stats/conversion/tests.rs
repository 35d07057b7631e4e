//! The usage state written as `usageStats`.

use super::*;
use crate::testing::extremes::entry;
use crate::testing::history::state;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, START, at, failure, model, offset, on_model, usage};
use openclaw_classify::HintSource;
use proptest::prelude::*;
use serde_json::{Value, json};

mod adoption;

fn stats(value: Value) -> UsageStats {
    serde_json::from_value(value).unwrap()
}

fn seen(usage: &ProfileUsage, now: i64) -> Value {
    serde_json::to_value(to_usage_stats(usage, at(now), None)).unwrap()
}

#[test]
fn x_5_the_shape_of_each_lane() {
    let scoped = ProfileUsage::default().failed(0, &failure(Reason::RateLimit));
    assert_eq!(
        seen(&scoped, 0),
        json!({
            "errorCount": 1, "failureCounts": {"rate_limit": 1}, "lastFailureAt": START,
            "cooldownUntil": START + 30 * SECOND, "cooldownReason": "rate_limit", "cooldownModel": "m",
        })
    );
    let billing = ProfileUsage::default().failed(0, &failure(Reason::Billing));
    assert_eq!(
        seen(&billing, 0),
        json!({
            "errorCount": 1, "failureCounts": {"billing": 1}, "lastFailureAt": START,
            "disabledUntil": START + 5 * HOUR, "disabledReason": "billing",
        })
    );
    let blocked = ProfileUsage::default().failed(0, &failure(Reason::RateLimit).account_wide().hinting(DAY));
    assert_eq!(
        seen(&blocked, 0),
        json!({
            "errorCount": 1, "failureCounts": {"rate_limit": 1}, "lastFailureAt": START,
            "blockedUntil": START + DAY, "blockedReason": "subscription_limit", "blockedSource": "codex_rate_limits",
            "blockedModel": "m",
        })
    );
    assert_eq!(
        seen(&scoped.succeeded(MINUTE), MINUTE),
        json!({"lastUsed": START + MINUTE, "lastFailureAt": START, "errorCount": 0})
    );
    assert_eq!(seen(&ProfileUsage::default(), 0), json!({}));
}

#[test]
fn x_5_a_profile_wide_window_comes_before_the_latest_ending_model_window() {
    let mut windows = vec![
        (on_model("a"), Reason::Overloaded, 50),
        (on_model("b"), Reason::Timeout, 90),
    ];
    let models = seen(&usage(&windows), 0);
    assert_eq!(
        (&models["cooldownModel"], &models["cooldownUntil"]),
        (&json!("b"), &json!(START + 90))
    );
    windows.push((Lane::Profile, Reason::Auth, 20));
    let wide = seen(&usage(&windows), 0);
    assert_eq!(
        (&wide["cooldownReason"], &wide["cooldownUntil"]),
        (&json!("auth"), &json!(START + 20))
    );
    assert_eq!(wide.get("cooldownModel"), None);
    assert_eq!(
        seen(&usage(&windows), 20)["cooldownModel"],
        "b",
        "its end frees the place"
    );
    assert_eq!(
        seen(&usage(&windows), 90).get("cooldownUntil"),
        None,
        "ended windows are not shown"
    );
}

#[test]
fn x_5_of_two_disabled_windows_the_later_is_shown() {
    let both = usage(&[
        (Lane::Billing, Reason::Billing, 90),
        (Lane::AuthPermanent, Reason::AuthPermanent, 50),
    ]);
    let shown = seen(&both, 0);
    assert_eq!(
        (&shown["disabledReason"], &shown["disabledUntil"]),
        (&json!("billing"), &json!(START + 90))
    );
}

#[test]
fn d5_error_count_is_the_sum_of_episodes() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit))
        .failed(1, &failure(Reason::RateLimit))
        .failed(31 * SECOND, &failure(Reason::RateLimit))
        .failed(31 * SECOND, &failure(Reason::Billing))
        .failed(31 * SECOND, &failure(Reason::Timeout).of("other"));
    let shown = seen(&usage, 31 * SECOND);
    assert_eq!(shown["errorCount"], 4, "two, one and one");
    assert_eq!(
        shown["failureCounts"]["rate_limit"], 3,
        "every failure counts here"
    );
}

#[test]
fn c2_server_error_is_mirrored_as_timeout() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::Timeout))
        .failed(1, &failure(Reason::ServerError).started(1));
    let shown = seen(&usage, 1);
    assert_eq!(shown["cooldownReason"], "timeout");
    assert_eq!(shown["failureCounts"], json!({"timeout": 2}));
}

#[test]
fn d13_unknown_members_survive() {
    let previous = stats(json!({"cooldownUntil": START + DAY, "junk": [1]}));
    let shown =
        serde_json::to_value(to_usage_stats(&ProfileUsage::default(), at(0), Some(&previous))).unwrap();
    assert_eq!(shown, json!({"junk": [1]}));
}

#[test]
fn cooldown_8_1_the_block_says_who_stated_it_and_during_which_model() {
    let limit = |id: &str| failure(Reason::RateLimit).account_wide().of(id);
    let said = |usage: &ProfileUsage| {
        let shown = seen(usage, HOUR);
        (shown["blockedSource"].clone(), shown["blockedModel"].clone())
    };
    let first = ProfileUsage::default().failed(0, &limit("a").hinting(DAY));
    assert_eq!(said(&first), (json!("codex_rate_limits"), json!("a")));

    let late = first
        .clone()
        .failed(MINUTE, &limit("b").hinting(2 * DAY).started(-1));
    assert_eq!(said(&late), said(&first), "D2: of the same episode");

    let mut newer = limit("b").hinting(2 * DAY).started(MINUTE);
    newer.hint.as_mut().unwrap().source = HintSource::UsageCheck;
    let newer = first.failed(HOUR, &newer);
    assert_eq!(
        said(&newer),
        (json!("wham"), json!("b")),
        "D7: end and origin together"
    );

    // Read back from the other program, and written again.
    for (source, model) in [
        (json!("wham"), json!("x")),
        (json!("codex_rate_limits"), Value::Null),
    ] {
        let entry = json!({"blockedUntil": START + DAY, "blockedSource": source, "blockedModel": model});
        assert_eq!(said(&adopted(entry)), (source, model));
    }
    let sourceless = adopted(json!({"blockedUntil": START + DAY, "blockedModel": "x"}));
    assert_eq!(said(&sourceless), (json!("codex_rate_limits"), json!("x")));
}

#[test]
fn cooldown_5_m4_the_model_of_a_block_frees_no_other_model() {
    let usage = ProfileUsage::default().failed(0, &failure(Reason::RateLimit).account_wide().hinting(DAY));
    assert!(!usage.is_usable(Some(&model("another")), at(HOUR)));
}

/// The examples of cooldown.md 7 as decided: there is no sweep, ended windows are not shown, and counters stay (D1).
#[test]
fn cooldown_7_examples_as_decided() {
    let stored = |disabled: i64| {
        json!({
            "errorCount": 4, "failureCounts": {"billing": 1, "rate_limit": 3}, "cooldownUntil": START + 50,
            "cooldownReason": "rate_limit", "disabledUntil": START + disabled, "disabledReason": "billing",
        })
    };
    let ends = |usage: &ProfileUsage, now: i64| {
        let shown = seen(usage, now);
        let end = |name: &str| shown[name].as_i64().map(|ms| ms - START);
        (
            end("cooldownUntil"),
            end("disabledUntil"),
            shown["errorCount"].as_i64(),
        )
    };
    let both = adopted(stored(90));
    assert_eq!(ends(&both, 49), (Some(50), Some(90), Some(4)));
    assert_eq!(
        ends(&both, 50),
        (None, Some(90), Some(4)),
        "disabled is still running"
    );
    assert_eq!(ends(&both, 90), (None, None, Some(4)), "D1: the counters survive");
    let counted = adopted(json!({"errorCount": 2}));
    assert_eq!(
        ends(&counted, 0),
        (None, None, Some(2)),
        "counts without a window"
    );
}

#[test]
fn cooldown_1_every_member_survives_a_save() {
    let entry = json!({
        "lastUsed": START, "errorCount": 3, "failureCounts": {"auth": 1, "rate_limit": 2}, "lastFailureAt": START + 1,
        "cooldownUntil": START + 2, "cooldownReason": "rate_limit", "cooldownModel": "m", "disabledUntil": START + 3,
        "disabledReason": "billing", "blockedUntil": START + 4, "blockedReason": "subscription_limit",
        "blockedSource": "wham", "blockedModel": "n", "ofTomorrow": {"x": [1, null]},
    });
    assert_eq!(serde_json::to_value(stats(entry.clone())).unwrap(), entry);
}

fn adopted(value: Value) -> ProfileUsage {
    adopt_usage_stats(ProfileUsage::default(), &stats(value), at(0))
}

proptest! {
    #[test]
    fn x_5_our_own_mirror_read_back_changes_nothing(usage in state(), later in 0..DAY) {
        let written = usage.last_used.max(usage.last_failure_at).unwrap_or(at(0));
        let entry = to_usage_stats(&usage, written, None);
        prop_assert_eq!(&adopt_usage_stats(usage.clone(), &entry, at(offset(written) + later)), &usage);
    }

    #[test]
    fn cooldown_15_showing_the_same_moment_again_changes_nothing(usage in state(), now in 0..3 * DAY) {
        let once = to_usage_stats(&usage, at(now), None);
        prop_assert_eq!(&to_usage_stats(&usage, at(now), Some(&once)), &once);
    }

    #[test]
    fn cooldown_1_2_what_was_accepted_once_is_accepted_again(entry in entry()) {
        let once = stats(entry);
        prop_assert_eq!(stats(serde_json::to_value(&once).unwrap()), once);
    }

    #[test]
    fn x_5_mirror_and_back_keeps_what_the_other_program_can_see(usage in state(), now in 0..DAY) {
        let now = at(now);
        let back = adopt_usage_stats(ProfileUsage::default(), &to_usage_stats(&usage, now, None), now);
        let end = |usage: &ProfileUsage| usage.blocking(None, now).map(|(_, window)| window.until).max();
        let wide = |usage: &ProfileUsage| {
            usage.blocking(None, now).filter(|(lane, _)| lane.is_profile_wide()).map(|(_, window)| window.until).max()
        };
        prop_assert_eq!(wide(&back), wide(&usage));
        prop_assert!(end(&back) <= end(&usage));
        if wide(&usage).is_none() {
            prop_assert_eq!(end(&back), end(&usage));
        }
    }

    #[test]
    fn x_5_any_entry_can_be_read_and_adopted(
        until in any::<f64>(), count in any::<f64>(), failed in any::<i64>(), usage in state()
    ) {
        let entry = stats(json!({"cooldownUntil": until, "disabledUntil": until, "blockedUntil": count,
            "errorCount": count, "lastFailureAt": failed, "lastUsed": failed}));
        let adopted = adopt_usage_stats(usage, &entry, at(0));
        let text = serde_json::to_string(&adopted).unwrap();
        prop_assert_eq!(serde_json::from_str::<ProfileUsage>(&text).unwrap(), adopted);
    }
}
