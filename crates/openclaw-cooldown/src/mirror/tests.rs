//! The mirror and what is read back from it.

use super::*;
use crate::testing::history::state;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, START, at, failure, model, offset, on_model, usage};
use openclaw_classify::HintSource;
use proptest::prelude::*;
use serde_json::{Value, json};

fn stats(value: Value) -> UsageStats {
    serde_json::from_value(value).unwrap()
}

fn seen(usage: &ProfileUsage, now: i64) -> Value {
    serde_json::to_value(mirror(usage, at(now), None)).unwrap()
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
    let shown = serde_json::to_value(mirror(&ProfileUsage::default(), at(0), Some(&previous))).unwrap();
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

fn adopted(value: Value) -> ProfileUsage {
    adopt_foreign(ProfileUsage::default(), &stats(value), at(0))
}

#[test]
fn x_5_a_state_we_know_nothing_of_is_adopted_with_its_steps() {
    let usage = adopted(json!({
        "lastUsed": START - 9, "lastFailureAt": START - 5, "errorCount": 6, "junk": 1,
        "failureCounts": {"rate_limit": 3, "billing": 2},
        "cooldownUntil": START + 50, "cooldownReason": "rate_limit", "cooldownModel": "m",
        "disabledUntil": START + 90, "disabledReason": "billing", "blockedUntil": START + 70,
    }));
    assert_eq!(usage.span(&on_model("m")), Some((-5, 50)));
    assert_eq!(usage.span(&Lane::Billing), Some((-5, 90)));
    assert_eq!(usage.span(&Lane::Blocked), Some((-5, 70)));
    assert_eq!(
        (
            usage.steps(&on_model("m")),
            usage.steps(&Lane::Billing),
            usage.steps(&Lane::Blocked)
        ),
        (4, 2, 0)
    );
    assert_eq!(
        usage.windows[&Lane::Blocked].stated,
        Some(at(70)),
        "D7: probed at checkpoints"
    );
    assert_eq!(
        (usage.last_used, usage.last_failure_at),
        (Some(at(-9)), Some(at(-5)))
    );
}

#[test]
fn d1_counts_without_a_window_go_on_climbing() {
    let usage = adopted(
        json!({"errorCount": 2, "lastFailureAt": START - MINUTE, "failureCounts": {"auth_permanent": 1}}),
    );
    assert!(usage.is_usable(None, at(0)));
    let usage = usage
        .failed(0, &failure(Reason::Auth))
        .failed(0, &failure(Reason::AuthPermanent));
    assert_eq!(usage.span(&Lane::Profile), Some((0, MINUTE)));
    assert_eq!(usage.span(&Lane::AuthPermanent), Some((0, 20 * MINUTE)));
    let old = adopted(json!({"errorCount": 4, "lastFailureAt": START - DAY - 1}));
    assert_eq!(
        old.failed(0, &failure(Reason::Auth)).steps(&Lane::Profile),
        1,
        "unless they are too old"
    );
}

#[test]
fn x_5_a_failure_from_the_future_is_one_of_now() {
    let usage = adopted(json!({"cooldownUntil": START + 90, "errorCount": 1, "lastFailureAt": START + 50}));
    assert_eq!(usage.span(&Lane::Profile), Some((0, 90)));
}

#[test]
fn x_5_a_foreign_window_that_is_over_is_not_adopted_beside_ours() {
    let ours = ProfileUsage::default().failed(0, &failure(Reason::Billing));
    for (until, adopted) in [(4, false), (5, false), (6, true)] {
        let entry =
            stats(json!({"errorCount": 2, "cooldownUntil": START + until, "lastFailureAt": START + 1}));
        let usage = adopt_foreign(ours.clone(), &entry, at(5));
        assert_eq!(
            usage.windows.contains_key(&Lane::Profile),
            adopted,
            "until {until}"
        );
    }
}

#[test]
fn cooldown_1_2_values_without_effect_open_nothing() {
    for until in [json!(0), json!(-5), json!(9e15), json!("5")] {
        let usage = adopted(
            json!({"cooldownUntil": until, "disabledUntil": until, "blockedUntil": until, "errorCount": 0}),
        );
        assert_eq!(usage, ProfileUsage::default(), "{until}");
    }
}

#[test]
fn x_5_lanes_of_unusual_reasons() {
    for (entry, lane, reason) in [
        (
            json!({"disabledUntil": START + 9}),
            Lane::Profile,
            Reason::Unknown,
        ),
        (
            json!({"disabledUntil": START + 9, "disabledReason": "session_expired"}),
            Lane::Profile,
            Reason::SessionExpired,
        ),
        (
            json!({"disabledUntil": START + 9, "disabledReason": "auth_permanent"}),
            Lane::AuthPermanent,
            Reason::AuthPermanent,
        ),
        (
            json!({"cooldownUntil": START + 9}),
            Lane::Profile,
            Reason::Unknown,
        ),
        (
            json!({"cooldownUntil": START + 9, "cooldownModel": "m"}),
            on_model("m"),
            Reason::Unknown,
        ),
    ] {
        let usage = adopted(entry.clone());
        assert_eq!(
            usage
                .windows
                .get(&lane)
                .map(|window| (window.reason, offset(window.until))),
            Some((reason, 9)),
            "{entry}"
        );
    }
}

#[test]
fn d3_a_foreign_failure_lengthens_and_never_shortens() {
    let ours = ProfileUsage::default().failed(0, &failure(Reason::Auth));
    for (until, expected, steps) in [(10, 30, 1), (30, 30, 1), (90, 90, 2)] {
        let entry = stats(json!({
            "errorCount": 2, "lastFailureAt": START + 5, "cooldownUntil": START + until * SECOND, "cooldownReason": "timeout",
        }));
        let usage = adopt_foreign(ours.clone(), &entry, at(6));
        let window = &usage.windows[&Lane::Profile];
        assert_eq!((offset(window.until), window.steps), (expected * SECOND, steps));
        assert_eq!(
            window.reason,
            if steps == 1 { Reason::Auth } else { Reason::Timeout },
            "end and reason together"
        );
        assert_eq!(usage.last_failure_at, Some(at(5)));
    }
}

/// `m` and `other` rest, `other` longer, so that the other program saw only `other`.
fn two_models() -> ProfileUsage {
    ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit))
        .failed(0, &failure(Reason::RateLimit).of("other").hinting(HOUR))
        .failed(0, &failure(Reason::Billing))
}

#[test]
fn d10_a_foreign_success_clears_what_it_saw() {
    let usage = adopt_foreign(
        two_models(),
        &stats(json!({"lastUsed": START + 5, "errorCount": 0, "lastFailureAt": START})),
        at(6),
    );
    assert_eq!(
        usage.windows.keys().collect::<Vec<_>>(),
        [&on_model("m")],
        "it never saw this one"
    );
    assert_eq!(
        (usage.last_used, usage.failure_counts.is_empty()),
        (Some(at(5)), true)
    );
}

#[test]
fn cooldown_12_a_foreign_clear_clears_everything() {
    for entry in [json!({"errorCount": 0, "lastFailureAt": START}), json!({})] {
        let usage = adopt_foreign(two_models(), &stats(entry.clone()), at(6));
        assert!(usage.is_usable(None, at(6)), "{entry}");
        assert_eq!(usage.last_failure_at, Some(at(0)), "{entry}");
    }
}

#[test]
fn x_5_a_foreign_success_then_failure_starts_a_new_ladder() {
    let ours = ProfileUsage::default()
        .failed(0, &failure(Reason::Auth))
        .failed(30 * SECOND, &failure(Reason::Auth));
    let entry = stats(json!({
        "lastUsed": START + 31 * SECOND, "lastFailureAt": START + 32 * SECOND, "errorCount": 1,
        "failureCounts": {"rate_limit": 1}, "cooldownUntil": START + 62 * SECOND, "cooldownReason": "rate_limit",
    }));
    let usage = adopt_foreign(ours, &entry, at(33 * SECOND));
    assert_eq!(usage.span(&Lane::Profile), Some((32 * SECOND, 62 * SECOND)));
    assert_eq!(usage.steps(&Lane::Profile), 1);
    assert_eq!(
        usage.failure_counts.keys().collect::<Vec<_>>(),
        [&Reason::RateLimit]
    );
}

#[test]
fn cooldown_5_a_window_widened_by_the_other_program_blocks_every_model() {
    let ours = ProfileUsage::default().failed(0, &failure(Reason::RateLimit));
    let entry = stats(json!({
        "errorCount": 2, "lastFailureAt": START + 5, "cooldownUntil": START + 30 * SECOND, "cooldownReason": "rate_limit",
    }));
    let usage = adopt_foreign(ours, &entry, at(6));
    assert!(!usage.is_usable(Some(&model("n")), at(6)));
}

proptest! {
    #[test]
    fn x_5_our_own_mirror_read_back_changes_nothing(usage in state(), later in 0..DAY) {
        let written = usage.last_used.max(usage.last_failure_at).unwrap_or(at(0));
        let entry = mirror(&usage, written, None);
        prop_assert_eq!(&adopt_foreign(usage.clone(), &entry, at(offset(written) + later)), &usage);
    }

    #[test]
    fn x_5_mirror_and_back_keeps_what_the_other_program_can_see(usage in state(), now in 0..DAY) {
        let now = at(now);
        let back = adopt_foreign(ProfileUsage::default(), &mirror(&usage, now, None), now);
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
        let adopted = adopt_foreign(usage, &entry, at(0));
        let text = serde_json::to_string(&adopted).unwrap();
        prop_assert_eq!(serde_json::from_str::<ProfileUsage>(&text).unwrap(), adopted);
    }
}
