//! The lines of `/status` and of the session report.

use std::fmt::Write as _;

use super::*;
use crate::testing::{auto, entry, key, model, user};

fn shown(members: &str, facts: &StatusFacts<'_>) -> String {
    status_lines(&entry(members), facts).join("\n")
}

fn facts(configured: &ModelRef) -> StatusFacts<'_> {
    StatusFacts {
        configured,
        configured_by: ConfiguredModelSource::Configuration,
        fallbacks: &[],
        selected_auth: None,
        active_auth: None,
    }
}

#[test]
fn s_11_status_lines() {
    let configured = model("openai/gpt");
    let fallbacks = ["anthropic/claude", "google/gemini"].map(model);
    let announced = r#""fallbackNoticeSelectedModel": "openai/gpt", "fallbackNoticeActiveModel": "anthropic/claude", "fallbackNoticeReason": "rate limit""#;
    let answered = r#""modelProvider": "anthropic", "model": "claude""#;
    let plain = facts(&configured);
    let full = StatusFacts {
        fallbacks: &fallbacks,
        selected_auth: Some("api-key openai:work"),
        active_auth: Some("oauth anthropic:me"),
        ..plain
    };
    let channel = StatusFacts {
        configured_by: ConfiguredModelSource::Channel,
        ..plain
    };
    let rows = [
        ("configured", String::new(), plain),
        ("configured, everything known", String::new(), full),
        ("channel model", String::new(), channel),
        ("pinned session", user("anthropic/claude"), full),
        ("pinned to the configured model", user("openai/gpt"), plain),
        ("pinned in a channel", user("anthropic/claude"), channel),
        (
            "fallback in place (S5)",
            format!("{}, {announced}", auto("anthropic/claude", "openai/gpt")),
            full,
        ),
        (
            "fallback in place, not announced yet",
            auto("anthropic/claude", "openai/gpt"),
            plain,
        ),
        (
            "fallback in place, another one announced",
            format!("{}, {announced}", auto("google/gemini", "openai/gpt")),
            plain,
        ),
        (
            "fallback of a former primary",
            auto("anthropic/claude", "openai/old"),
            plain,
        ),
        (
            "fallback that is configured now",
            auto("openai/gpt", "openai/old"),
            plain,
        ),
        (
            "S-11.1: another model answered, announced",
            format!("{answered}, {announced}"),
            plain,
        ),
        (
            "S-11.1: another model answered, not announced",
            answered.to_owned(),
            plain,
        ),
        (
            "S-1.3a: its own origin",
            auto("anthropic/claude", "anthropic/claude"),
            plain,
        ),
    ];
    let mut all = String::new();
    for (name, members, facts) in rows {
        writeln!(all, "# {name}\n{}\n", shown(&members, &facts)).unwrap();
    }
    insta::assert_snapshot!("status_lines", all);
}

#[test]
fn s_11_3_report_lines() {
    let sessions: Vec<_> = [
        ("on:default", String::new()),
        ("on:fallback", auto("anthropic/claude", "openai/gpt")),
        ("pinned", user("google/gemini")),
        ("pinned:default", user("openai/gpt")),
        ("legacy", r#""modelOverride": "o4""#.to_owned()),
        ("one:too:many", user("a/m")),
    ]
    .into_iter()
    .map(|(name, members)| (key(name), entry(&members)))
    .collect();
    let lines = report_lines(
        sessions.iter().map(|(key, entry)| (key, entry)),
        &model("openai/gpt"),
    );
    insta::assert_snapshot!("report_lines", lines.join("\n"));
}

#[test]
fn s_11_2_and_s5_the_origin_is_shown_as_selected_while_a_fallback_is_in_place() {
    let configured = model("openai/gpt");
    let announced = r#""fallbackNoticeSelectedModel": "openai/gpt", "fallbackNoticeActiveModel": "a/f1", "fallbackNoticeReason": "rate limit""#;
    let lines = shown(
        &format!("{}, {announced}", auto("a/f1", "openai/gpt")),
        &facts(&configured),
    );
    assert!(
        lines.starts_with("🧠 Model: openai/gpt · auto fallback"),
        "{lines}"
    );
    assert!(lines.ends_with("↪️ Fallback: a/f1 (rate limit)"), "{lines}");
}
