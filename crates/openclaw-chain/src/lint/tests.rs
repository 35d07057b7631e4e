//! Each finding on its own, what is no finding, and what people read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::test_support::config;

/// `code place`, one line per finding.
fn found(json: Value) -> Vec<String> {
    let findings = lint(&config(json));
    findings
        .iter()
        .map(|finding| format!("{} {}", finding.rule.code, finding.place))
        .collect()
}

fn with_defaults(defaults: &Value) -> Value {
    json!({ "agents": { "defaults": defaults } })
}

/// Defaults with a primary and two fallbacks that have nothing wrong, and these agents.
fn with_agents(list: &Value) -> Value {
    json!({ "agents": {
        "defaults": { "model": { "primary": "anthropic/opus", "fallbacks": ["openai/gpt-5.5", "groq/llama"] } },
        "list": list,
    } })
}

/// One configuration per rule and the findings in it.
#[rustfmt::skip]
fn examples() -> Vec<(Value, &'static [&'static str])> {
    let model = |fallbacks: &Value| with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallbacks": fallbacks } }));
    vec![
        (with_defaults(&json!({ "models": { "openai/a": { "alias": "x" }, "groq/b": { "alias": " X " }, "groq/*": { "alias": "x" } } })),
            &["alias-twice agents.defaults.models[\"groq/b\"].alias"]),
        (with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallbacks": ["gpt-9", "openai/x"] }, "models": { "anthropic/*": {}, "openai/gpt-9": {} } })),
            &["bare-fallback agents.defaults.model.fallbacks[0]"]),
        (model(&json!(["openai/x", "openai/y", "OpenAI/x"])), &["duplicate-fallback agents.defaults.model.fallbacks[2]"]),
        (with_agents(&json!([{ "id": "a", "model": { "fallbacks": [] } }, { "id": "b" }])),
            &["empty-fallbacks agents.list[0].model.fallbacks"]),
        (with_defaults(&json!({ "model": "mystery" })), &["guessed-provider agents.defaults.model"]),
        (json!({ "models": { "providers": { "mine": { "baseUrl": "http://x" } } } }),
            &["incomplete-provider models.providers[\"mine\"]"]),
        (model(&json!(["anthropic/sonnet"])), &["one-provider agents.defaults.model"]),
        (model(&json!(["openai/x", "anthropic/claude-opus-4-8"])), &["primary-as-fallback agents.defaults.model.fallbacks[1]"]),
        (with_defaults(&json!({ "model": "anthropic/opus", "models": { "groq/*": {} } })),
            &["primary-not-allowed agents.defaults.model"]),
        (with_agents(&json!([{ "id": "a", "model": "openai/x" }, { "id": "b" }])), &["primary-only agents.list[0].model"]),
        (model(&json!(["openai/x@work"])), &["profile-dropped agents.defaults.model.fallbacks[0]"]),
        (with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallback": ["openai/x"] } })),
            &["unknown-key agents.defaults.model.fallback"]),
        (model(&json!(["antropic/opus"])), &["unknown-provider agents.defaults.model"]),
        (model(&json!(["openai/x", "groq/"])), &["unreadable-model agents.defaults.model.fallbacks[1]"]),
        (with_agents(&json!([{ "id": "a", "model": { "fallbacks": ["openai/x"] } }])),
            &["unused-fallbacks agents.defaults.model.fallbacks"]),
        (model(&json!(["openai/*"])), &["wildcard-fallback agents.defaults.model.fallbacks[0]"]),
    ]
}

#[test]
fn each_rule_has_an_example_that_finds_it_and_nothing_else() {
    let mut seen = BTreeSet::new();
    for (example, expected) in examples() {
        assert_eq!(found(example.clone()), expected, "{example}");
        seen.extend(expected.iter().map(|line| line.split(' ').next().unwrap()));
    }
    let all: BTreeSet<&str> = LINT_RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(seen, all);
    assert_eq!(all.len(), LINT_RULES.len(), "codes are unique");
}

#[test]
fn a_sound_configuration_has_no_findings() {
    for sound in [
        json!({}),
        with_agents(&json!([])),
        with_agents(
            &json!([{ "id": "a" }, { "id": "b", "model": { "primary": "groq/x", "fallbacks": ["openai/y"] } }]),
        ),
        with_defaults(&json!({
            "model": { "primary": "fast", "fallbacks": ["claude-opus-4-8@20250514", "openrouter:auto"] },
            "imageModel": { "primary": "google/pic", "fallbacks": ["openai/pic"] },
            "subagents": { "model": { "primary": "groq/a", "fallbacks": ["openai/b"] } },
            "heartbeat": { "model": "fast" },
            "models": { "anthropic/claude-sonnet-5": { "alias": "fast" } },
        })),
        json!({
            "agents": { "defaults": { "model": { "primary": "mine/a", "fallbacks": ["openai/x"] } } },
            "models": { "providers": { "Mine": { "baseUrl": "http://x", "models": [{ "id": "a" }] }, "openai": {} } },
        }),
    ] {
        assert_eq!(found(sound.clone()), Vec::<String>::new(), "{sound}");
    }
}

#[test]
fn every_place_that_names_models_is_looked_at() {
    let bad = json!({ "primary": "x/", "fallbacks": ["openai/a", "openai/a"] });
    let found = found(json!({ "agents": {
        "defaults": {
            "model": "y/", "imageModel": bad, "subagents": { "model": bad },
            "heartbeat": { "model": "z/" }, "utilityModel": "u/",
        },
        "list": [{ "id": "a", "model": bad, "subagents": { "model": bad }, "utilityModel": "v/" }],
    } }));
    let places: BTreeSet<&str> = found.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    for place in [
        "agents.defaults.model",
        "agents.defaults.imageModel.primary",
        "agents.defaults.imageModel.fallbacks[1]",
        "agents.defaults.subagents.model.primary",
        "agents.defaults.subagents.model.fallbacks[1]",
        "agents.defaults.heartbeat.model",
        "agents.defaults.utilityModel",
        "agents.list[0].model.primary",
        "agents.list[0].model.fallbacks[1]",
        "agents.list[0].subagents.model.primary",
        "agents.list[0].subagents.model.fallbacks[1]",
        "agents.list[0].utilityModel",
    ] {
        assert!(places.contains(place), "{place} in {places:?}");
    }
}

#[test]
fn what_people_read() {
    let told: Vec<String> = examples()
        .into_iter()
        .flat_map(|(example, _)| lint(&config(example)))
        .map(|finding| finding.to_string())
        .collect();
    insta::assert_snapshot!("findings", told.join("\n\n"));
}
