//! Which windows a failure opens, and which it leaves alone.

use super::*;

#[test]
fn d5_bl_27_every_model_has_its_own_window_and_ladder() {
    let usage = after_failures(&[
        (0, failure(Reason::RateLimit).of("a")),
        (30, failure(Reason::RateLimit).of("a")),
        (31, failure(Reason::ModelNotFound).of("b")),
    ]);
    assert_eq!(usage.steps(&on_model("a")), 2);
    assert_eq!(usage.span(&on_model("b")), Some((31 * SECOND, 61 * SECOND)));
    assert!(usage.is_usable(Some(&model("c")), at(31 * SECOND)));
}

/// The table of cooldown.md 5, row by row: what cooled down, what fails, and which of `m`, `n` and any other model cool down then.
#[test]
fn cooldown_5_the_scope_table_as_decided() {
    let scoped = |id: &str| failure(Reason::Timeout).of(id);
    let nameless = || FailureEvent {
        model: None,
        ..failure(Reason::RateLimit)
    };
    let other = || failure(Reason::Auth);
    for (row, before, event, expected) in [
        ("not active, scoped reason", None, scoped("m"), ["m"].as_slice()),
        ("not active, no model", None, nameless(), &["m", "n", "x"]),
        ("not active, other reason", None, other(), &["m", "n", "x"]),
        ("scoped, same model", Some(scoped("m")), scoped("m"), &["m"]),
        (
            "scoped, other model: a window of its own (D4)",
            Some(scoped("m")),
            scoped("n"),
            &["m", "n"],
        ),
        (
            "scoped, no model",
            Some(scoped("m")),
            nameless(),
            &["m", "n", "x"],
        ),
        (
            "scoped, other reason",
            Some(scoped("m")),
            other(),
            &["m", "n", "x"],
        ),
        ("unscoped, anything", Some(other()), scoped("m"), &["m", "n", "x"]),
    ] {
        let before = before.map_or(ProfileUsage::default(), |event| {
            ProfileUsage::default().failed(0, &event)
        });
        let after = before.failed(SECOND, &event);
        let blocked: Vec<&str> = ["m", "n", "x"]
            .into_iter()
            .filter(|id| !after.is_usable(Some(&model(id)), at(SECOND)))
            .collect();
        assert_eq!(blocked, expected, "{row}");
    }
    let both = ProfileUsage::default()
        .failed(0, &other())
        .failed(5 * SECOND, &scoped("m"));
    let after = 30 * SECOND;
    assert!(
        both.is_usable(Some(&model("n")), at(after)),
        "narrow again when the wide window is over"
    );
    assert!(!both.is_usable(Some(&model("m")), at(after)));
}

#[test]
fn d3_d5_ever_new_models_are_forgotten_once_their_windows_are_over() {
    let name = |index: i64| format!("m{index:04}");
    // One a second: thirty are active at a time.
    let slow = (0..1000).fold(ProfileUsage::default(), |usage, index| {
        usage.failed(index * SECOND, &failure(Reason::ModelNotFound).of(&name(index)))
    });
    assert_eq!(slow.windows.len(), REMEMBERED_MODELS);
    assert!(
        slow.windows.contains_key(&on_model(&name(1000 - 256))),
        "the latest stay"
    );
    let burst = (0..1000).fold(ProfileUsage::default(), |usage, index| {
        usage.failed(index, &failure(Reason::ModelNotFound).of(&name(index)))
    });
    assert_eq!(burst.windows.len(), 1000, "all of them are active");
    let later = burst.failed(MINUTE, &failure(Reason::ModelNotFound).of("late"));
    assert_eq!(later.windows.len(), REMEMBERED_MODELS);
    assert!(!later.is_usable(Some(&model("late")), at(MINUTE)));
}

#[test]
fn bl_28_an_account_wide_limit_rests_the_whole_profile() {
    let usage = after_failures(&[(0, failure(Reason::RateLimit).account_wide())]);
    assert_eq!(usage.span(&Lane::Profile), Some((0, 30 * SECOND)));
    assert!(!usage.is_usable(Some(&model("any")), at(0)));
}

/// F5 as decided.
#[test]
fn d8_bypassed_providers_are_exempt_from_scoped_windows_only() {
    let config = CooldownConfig::default().with_bypass(vec![provider("anthropic")]);
    let apply = |event: FailureEvent| record_failure(ProfileUsage::default(), &event, at(0), &config);
    for reason in [
        Reason::RateLimit,
        Reason::Overloaded,
        Reason::Timeout,
        Reason::ModelNotFound,
    ] {
        assert_eq!(apply(failure(reason)), ProfileUsage::default(), "{reason}");
    }
    for reason in [Reason::Billing, Reason::Auth, Reason::AuthPermanent] {
        assert!(!apply(failure(reason)).is_usable(None, at(0)), "{reason}");
    }
    assert!(!apply(failure(Reason::RateLimit).account_wide()).is_usable(None, at(0)));
    let default = record_failure(
        ProfileUsage::default(),
        &failure(Reason::RateLimit),
        at(0),
        &CooldownConfig::default(),
    );
    assert!(!default.is_usable(None, at(0)), "the list is empty by default");
}

/// F2, F6 and F7 as decided: none of these reasons cools a profile down, whatever marks it.
#[test]
fn d6_c_10_bl_32_what_is_no_credentials_fault_leaves_no_trace() {
    for reason in [
        Reason::Aborted,
        Reason::ContentPolicy,
        Reason::ContextOverflow,
        Reason::EmptyResponse,
        Reason::Format,
        Reason::Local,
        Reason::NoErrorDetails,
        Reason::SessionExpired,
        Reason::Unclassified,
        Reason::Unknown,
    ] {
        let before = after_failures(&[(0, failure(Reason::Auth))]);
        assert_eq!(
            before.clone().failed(SECOND, &failure(reason)),
            before,
            "{reason}"
        );
        let wide = failure(reason).account_wide().hinting(DAY).started(1);
        assert_eq!(before.clone().failed(SECOND, &wide), before, "{reason}");
    }
}

#[test]
fn bl_77_a_limit_of_another_model_leaves_the_first_ones_window_alone() {
    let first = after_failures(&[(0, failure(Reason::RateLimit).of("a"))]);
    let both = first.clone().failed(SECOND, &failure(Reason::RateLimit).of("b"));
    let window = |usage: &ProfileUsage| usage.windows[&on_model("a")].clone();
    assert_eq!(window(&both), window(&first));
    for (id, usable) in [("a", false), ("b", false), ("c", true)] {
        assert_eq!(both.is_usable(Some(&model(id)), at(2 * SECOND)), usable, "{id}");
    }
}

#[test]
fn bl_39_a_used_up_budget_rests_the_model_whatever_status_it_came_with() {
    let spent = after_failures(&[(0, failure(Reason::RateLimit).hinting(HOUR).of("m"))]);
    assert!(!spent.is_usable(Some(&model("m")), at(HOUR - SECOND)));
    assert!(spent.is_usable(Some(&model("m")), at(HOUR)));
}
