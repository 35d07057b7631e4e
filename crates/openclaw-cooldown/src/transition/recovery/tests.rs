//! Success, clear and secrets.

use super::*;
use crate::testing::{MINUTE, SECOND, at, failure, model, on_model};
use crate::{Lane, ProfileUsage};
use openclaw_classify::Reason;

/// One window per lane, opened at 0, 10, 20, … seconds.
fn everything() -> ProfileUsage {
    [
        failure(Reason::Auth),
        failure(Reason::RateLimit),
        failure(Reason::Billing),
        failure(Reason::AuthPermanent),
        failure(Reason::Timeout).of("other"),
    ]
    .iter()
    .zip(0..)
    .fold(ProfileUsage::default(), |usage, (event, index)| {
        usage.failed(index * 10 * SECOND, event)
    })
}

fn lanes(usage: &ProfileUsage) -> Vec<String> {
    usage.windows.keys().map(ToString::to_string).collect()
}

#[test]
fn d10_success_clears_the_wide_windows_and_this_model_and_keeps_other_models() {
    let usage = everything().succeeded(MINUTE);
    assert_eq!(lanes(&usage), ["model:other"]);
    assert_eq!(usage.last_used, Some(at(MINUTE)));
    assert_eq!(usage.last_failure_at, Some(at(40 * SECOND)), "kept");
    assert_eq!(
        usage.failure_counts.keys().collect::<Vec<_>>(),
        [&Reason::Timeout],
        "counts of other models stay"
    );
}

#[test]
fn d10_without_other_models_every_count_goes() {
    let usage = ProfileUsage::default()
        .failed(0, &failure(Reason::RateLimit))
        .succeeded(MINUTE);
    assert!(usage.windows.is_empty() && usage.failure_counts.is_empty());
}

/// Another process reads it a moment later.
#[test]
fn d10_a_success_of_an_attempt_that_could_not_know_of_an_operators_rest_leaves_it() {
    let usage = crate::cool_down_until(ProfileUsage::default(), at(MINUTE), at(0));
    for (started, is_left) in [(-1, true), (0, true), (999, true), (1_000, false)] {
        let event = SuccessEvent {
            model: Some(model("m")),
            started_at: Some(at(started)),
        };
        let after = record_success(usage.clone(), &event, at(2 * SECOND));
        assert_eq!(after.windows.contains_key(&Lane::Blocked), is_left, "{started}");
        let over = record_success(usage.clone(), &event, at(MINUTE));
        assert_eq!(over.windows.is_empty(), started >= 0, "over: {started}");
    }
}

#[test]
fn d2_a_success_clears_only_what_opened_before_its_attempt_started() {
    for (started, left) in [
        (
            Some(-1),
            vec!["auth_permanent", "billing", "model:m", "model:other", "profile"],
        ),
        (
            Some(9_999),
            vec!["auth_permanent", "billing", "model:m", "model:other"],
        ),
        (Some(10_000), vec!["auth_permanent", "billing", "model:other"]),
        (Some(20_000), vec!["auth_permanent", "model:other"]),
        (Some(30_000), vec!["model:other"]),
        (None, vec!["auth_permanent", "billing", "model:other"]),
    ] {
        let event = SuccessEvent {
            model: Some(model("m")),
            started_at: started.map(at),
        };
        let usage = record_success(everything(), &event, at(45 * SECOND));
        assert_eq!(lanes(&usage), left, "started {started:?}");
        assert_eq!(
            usage.last_used.is_some(),
            left == ["model:other"],
            "started {started:?}"
        );
    }
}

#[test]
fn cooldown_12_a_success_of_an_unknown_model_clears_all_models() {
    let event = SuccessEvent {
        model: None,
        started_at: Some(at(MINUTE)),
    };
    assert!(
        record_success(everything(), &event, at(MINUTE))
            .windows
            .is_empty()
    );
}

#[test]
fn cooldown_12_clear_keeps_last_use_and_last_failure() {
    let mut before = everything();
    before.last_used = Some(at(5));
    before.fingerprint = Some("aa".to_owned());
    let usage = clear(before.clone());
    assert!(usage.windows.is_empty() && usage.failure_counts.is_empty());
    assert_eq!(
        (usage.last_used, usage.last_failure_at, &usage.fingerprint),
        (before.last_used, before.last_failure_at, &before.fingerprint)
    );
}

#[test]
fn d9_bl_34_state_belongs_to_a_secret() {
    for (known, given, kept, fingerprint) in [
        (None, None, true, None),
        (None, Some("aa"), true, Some("aa")),
        (Some("aa"), None, true, Some("aa")),
        (Some("aa"), Some("aa"), true, Some("aa")),
        (Some("aa"), Some("bb"), false, Some("bb")),
    ] {
        let mut usage = everything();
        usage.fingerprint = known.map(str::to_owned);
        let usage = adopt_secret(usage, given);
        assert_eq!(!usage.windows.is_empty(), kept, "{known:?} then {given:?}");
        assert_eq!(
            usage.last_failure_at.is_some(),
            kept,
            "G5: nothing of the old secret holds the gate"
        );
        assert_eq!(usage.fingerprint.as_deref(), fingerprint);
    }
}

#[test]
fn d13_members_of_a_newer_version_survive_every_fold() {
    let json = serde_json::json!({
        "lastUsed": 1_750_000_000_000_i64,
        "shape": {"of": ["the", "future"]},
        "windows": {"profile": {"openedAt": 1, "until": 2, "reason": "auth", "steps": 1, "lastFailureAt": 1, "mood": "bad"}}
    });
    let usage: ProfileUsage = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&usage).unwrap(), json);
    let later = adopt_secret(usage.failed(0, &failure(Reason::Auth)), Some("aa"));
    let later = serde_json::to_value(adopt_secret(later, Some("bb"))).unwrap();
    assert_eq!(later["shape"], json["shape"]);
}

#[test]
fn d13_a_window_keeps_what_it_does_not_know_when_it_reopens() {
    let mut usage = ProfileUsage::default().failed(0, &failure(Reason::Auth));
    let window = usage.windows.get_mut(&Lane::Profile).unwrap();
    window.unknown.insert("mood".to_owned(), "bad".into());
    let usage = usage.failed(MINUTE, &failure(Reason::Auth));
    assert_eq!(usage.windows[&Lane::Profile].unknown["mood"], "bad");
    assert_eq!(usage.windows[&Lane::Profile].steps, 2);
    assert!(!usage.windows.contains_key(&on_model("m")));
}
