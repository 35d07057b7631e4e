//! Changes of `usageStats` that are adopted from the other program.

use super::*;

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
        let usage = adopt_usage_stats(ours.clone(), &entry, at(5));
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
            json!({"cooldownUntil": START + 9, "cooldownReason": "overloaded", "cooldownModel": "m"}),
            on_model("m"),
            Reason::Overloaded,
        ),
        // D4: what cools a credential down cools all its models down, whichever one is named.
        (
            json!({"cooldownUntil": START + 9, "cooldownReason": "auth", "cooldownModel": "m"}),
            Lane::Profile,
            Reason::Auth,
        ),
        (
            json!({"cooldownUntil": START + 9, "cooldownModel": "m"}),
            Lane::Profile,
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
        let usage = adopt_usage_stats(ours.clone(), &entry, at(6));
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

/// `m` and `other` cool down, `other` longer, so that the other program saw only `other`.
fn two_models() -> ProfileUsage {
    ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit))
        .failed(0, &failure(Reason::RateLimit).of("other").hinting(HOUR))
        .failed(0, &failure(Reason::Billing))
}

#[test]
fn d10_a_foreign_success_clears_what_it_saw() {
    let usage = adopt_usage_stats(
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
        let usage = adopt_usage_stats(two_models(), &stats(entry.clone()), at(6));
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
    let usage = adopt_usage_stats(ours, &entry, at(33 * SECOND));
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
    let usage = adopt_usage_stats(ours, &entry, at(6));
    assert!(!usage.is_usable(Some(&model("n")), at(6)));
}
