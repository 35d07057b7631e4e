//! What a person's choice replaces, and what it leaves.

use proptest::prelude::*;

use super::*;
use crate::testing::{at, auto, entry, model, pin, profile, user};

fn apply(members: &str, selection: &UserSelection) -> Option<SessionEntry> {
    apply_user_selection(&entry(members), selection, &model("openai/gpt"), at(2000))
}

fn touched(members: &str) -> SessionEntry {
    let mut entry = entry(members);
    entry.touch(at(2000));
    entry
}

const PENDING: &str = r#""liveModelSwitchPending": true"#;
const PINNED: &str = r#""authProfileOverride": "p", "authProfileOverrideSource": "user""#;

#[test]
fn s_8_a_model_is_chosen() {
    let chosen = format!("{}, {PENDING}", user("a/m"));
    for (name, before) in [
        ("over nothing", String::new()),
        ("over a fallback, whose origin goes", auto("b/f1", "openai/gpt")),
        ("over the very fallback that is active", auto("a/m", "openai/gpt")),
        ("over an older choice", user("b/m")),
        ("over an unmarked choice", r#""modelOverride": "a/m""#.to_owned()),
        ("the pin goes", format!("{}, {PINNED}", user("a/m"))),
        ("the notice goes", r#""fallbackNoticeReason": "r""#.to_owned()),
        (
            "what answered goes",
            r#""model": "x", "contextTokens": 5, "contextBudgetStatus": {}"#.to_owned(),
        ),
    ] {
        let selection = UserSelection::model(model("a/m"), None);
        assert_eq!(apply(&before, &selection), Some(touched(&chosen)), "{name}");
    }
}

#[test]
fn s_2_1c_and_s8_the_configured_model_is_a_choice_like_any_other() {
    let selection = UserSelection::model(model("openai/gpt"), None);
    assert_eq!(
        apply("", &selection),
        Some(touched(&format!("{}, {PENDING}", user("openai/gpt"))))
    );
}

#[test]
fn s_8_and_s_5_5a_and_s_5_5f_a_profile_is_named_dropped_or_kept() {
    let before = r#""authProfileOverride": "q", "authProfileOverrideSource": "auto", "authProfileOverrideCompactionCount": 1"#;
    let named = UserSelection::model(model("a/m"), Some(profile("p")));
    assert_eq!(
        apply(before, &named),
        Some(touched(&format!("{}, {PINNED}, {PENDING}", user("a/m"))))
    );
    let kept = UserSelection {
        profile: ProfileChoice::Keep,
        ..UserSelection::model(model("a/m"), None)
    };
    assert_eq!(
        apply(before, &kept),
        Some(touched(&format!("{}, {before}, {PENDING}", user("a/m"))))
    );
}

#[test]
fn s_9_and_s_2_1c_back_to_the_default() {
    let before = format!("{}, {PINNED}, \"fallbackNoticeReason\": \"r\"", user("a/m"));
    assert_eq!(
        apply(&before, &UserSelection::default_model()),
        Some(touched(PENDING))
    );
    let pending = format!("{before}, {PENDING}");
    assert_eq!(
        apply(&pending, &UserSelection::cleared(ProfileChoice::Keep)),
        Some(touched(PINNED))
    );
    assert_eq!(
        apply(PENDING, &UserSelection::cleared(ProfileChoice::Drop)),
        Some(touched(""))
    );
}

#[test]
fn s_8_nothing_is_written_when_it_holds_already() {
    for (members, selection) in [
        (String::new(), UserSelection::default_model()),
        (user("a/m"), UserSelection::model(model("a/m"), None)),
        (
            format!("{}, {PINNED}", user("a/m")),
            UserSelection::model(model("a/m"), Some(profile("p"))),
        ),
        (
            r#""fallbackNoticeReason": "r""#.to_owned(),
            UserSelection::default_model(),
        ),
    ] {
        assert_eq!(apply(&members, &selection), None, "{members}");
    }
}

#[test]
fn s_8_what_answered_last_goes_when_it_was_another_model() {
    let answered = |model: &str| format!(r#""modelProvider": "a", "model": "{model}", "contextTokens": 5"#);
    for (name, before, selection, after) in [
        (
            "the chosen one",
            answered("m"),
            UserSelection::model(model("a/m"), None),
            Some(answered("m")),
        ),
        (
            "another one",
            answered("x"),
            UserSelection::model(model("a/m"), None),
            None,
        ),
        (
            "not the configured one",
            answered("x"),
            UserSelection::default_model(),
            None,
        ),
    ] {
        let members = match selection.model {
            ModelChoice::Model(_) => format!("{}, {before}", user("a/m")),
            ModelChoice::Default => before,
        };
        let next = apply(&members, &selection).unwrap_or_else(|| entry(&members));
        assert_eq!(
            next.last_answer,
            entry(&after.unwrap_or_default()).last_answer,
            "{name}"
        );
        // The selection did not change, so a busy run has nothing to switch to.
        assert!(!next.live_model_switch_pending, "{name}");
    }
}

/// BL-66: a fallback's own write never marks a switch.
#[test]
fn s_12_1_only_a_persons_surface_marks() {
    for (live, marked) in [
        (LiveEffect::Mark, true),
        (LiveEffect::None, false),
        (LiveEffect::Unmark, false),
    ] {
        let selection = UserSelection {
            live,
            ..UserSelection::model(model("a/m"), None)
        };
        assert_eq!(
            apply("", &selection).unwrap().live_model_switch_pending,
            marked,
            "{live:?}"
        );
    }
}

proptest! {
    #[test]
    fn a_choice_is_whole_whatever_was_stored_before(
        before in prop_oneof![
            Just(String::new()),
            Just(auto("a/m", "openai/gpt")),
            Just(auto("b/f1", "openai/gpt")),
            Just(user("a/m")),
            Just(r#""providerOverride": "b""#.to_owned()),
            Just(r#""modelOverride": "a/m""#.to_owned()),
            Just(r#""modelOverride": "m", "modelOverrideSource": "auto""#.to_owned()),
        ],
        pinned: bool,
    ) {
        let pin = if pinned { PINNED } else { r#""compactionCount": 1"# };
        let before = if before.is_empty() { pin.to_owned() } else { format!("{before}, {pin}") };
        let next = apply(&before, &UserSelection::model(model("a/m"), None)).unwrap_or_else(|| entry(&before));
        prop_assert_eq!(next.selection(), entry(&user("a/m")).selection());
    }
}

#[test]
fn r5_a_kept_profile_is_the_one_that_the_person_took() {
    let mut before = entry(&auto("b/m", "a/m"));
    before.pin = StoredPin::from(Some(pin("other", PinSource::Auto)));
    before.failover.parked_pin = Some(StoredPin::from(Some(pin("work", PinSource::User))));
    assert_eq!(before.pin_after_fallback(), Some(pin("work", PinSource::User)));

    let cleared = UserSelection::cleared(ProfileChoice::Keep);
    let after = apply_user_selection(&before, &cleared, &model("a/m"), at(2000)).unwrap();
    assert_eq!(after.profile_pin(), Some(pin("work", PinSource::User)));
    assert_eq!(after.failover.parked_pin, None);
}
