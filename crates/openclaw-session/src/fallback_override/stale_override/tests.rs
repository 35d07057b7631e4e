//! Which overrides are stale, and what is dropped with them.

use super::*;
use crate::testing::{at, auto, entry, model, user};

/// Knows the alias `fast`, as a configuration would.
fn resolve(text: &str) -> Option<ModelRef> {
    match text {
        "fast" => Some(model("openai/gpt")),
        text => text.parse().ok(),
    }
}

#[test]
fn s_7_1_and_s_7_2_what_is_stale() {
    let unmarked = r#""modelOverrideSource": "auto""#;
    for (name, members, stale) in [
        ("no override", String::new(), false),
        ("a person's", user("a/m"), false),
        ("the origin is the primary", auto("a/m", "openai/gpt"), false),
        ("the origin is another model", auto("a/m", "openai/old"), true),
        (
            "announced as selected",
            format!(r#""modelOverride": "a/m", {unmarked}, "fallbackNoticeSelectedModel": "openai/gpt""#),
            false,
        ),
        (
            "announced by alias",
            format!(r#""modelOverride": "a/m", {unmarked}, "fallbackNoticeSelectedModel": "fast""#),
            false,
        ),
        (
            "announced another",
            format!(r#""modelOverride": "a/m", {unmarked}, "fallbackNoticeSelectedModel": "b/m""#),
            true,
        ),
        (
            "the override itself",
            format!(r#""providerOverride": "OpenAI", "modelOverride": "gpt", {unmarked}"#),
            false,
        ),
        (
            "the override by alias",
            format!(r#""modelOverride": "fast", {unmarked}"#),
            false,
        ),
        (
            "another override",
            format!(r#""modelOverride": "a/m", {unmarked}"#),
            true,
        ),
        (
            "half an override",
            format!(r#""providerOverride": "a", {unmarked}"#),
            true,
        ),
    ] {
        assert_eq!(
            is_stale_override(&entry(&members), &model("openai/gpt"), &resolve),
            stale,
            "{name}"
        );
    }
}

#[test]
fn s_7_3_what_goes_and_what_stays() {
    let pin = r#""authProfileOverride": "p", "authProfileOverrideSource": "auto""#;
    for (answered, runtime_stays) in [("gpt", true), ("old", false)] {
        let runtime = format!(r#""modelProvider": "openai", "model": "{answered}", "contextTokens": 5"#);
        let session = entry(&format!(
            r#"{}, {pin}, {runtime}, "fallbackNoticeSelectedModel": "openai/old""#,
            auto("a/m", "openai/old")
        ));
        let next = drop_stale_override(&session, &model("openai/gpt"), at(2000));
        let rest = if runtime_stays {
            format!("{pin}, {runtime}")
        } else {
            pin.to_owned()
        };
        let mut expected = entry(&rest);
        expected.touch(at(2000));
        assert_eq!(next, expected, "{answered}");
    }
}

#[test]
fn s_2_1d_an_override_that_may_not_be_used_goes_whole() {
    let session = entry(&format!(
        r#"{}, "fallbackNoticeReason": "r", "model": "m""#,
        user("a/m")
    ));
    let mut expected = entry(r#""model": "m""#);
    expected.touch(at(2000));
    assert_eq!(drop_override(&session, at(2000)), expected);
}
