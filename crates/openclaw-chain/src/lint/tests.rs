//! Each finding on its own, what is no finding, and what people read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::testing::config;

/// `code place`, one line per finding.
fn found(json: Value) -> Vec<String> {
    found_with(json, None)
}

fn found_with(json: Value, credentials: Option<&Credentials>) -> Vec<String> {
    let findings = lint(&config(json), credentials);
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

/// A primary of a known size and these fallbacks.
fn sized(fallbacks: &Value) -> Value {
    let rows = |id: &str, tokens: u64| json!({ "models": [{ "id": id, "contextWindow": tokens }] });
    json!({
        "agents": { "defaults": { "model": { "primary": "anthropic/opus", "fallbacks": fallbacks } } },
        "models": { "providers": {
            "anthropic": rows("claude-opus-4-8", 1_000_000), "openai": rows("mid", 400_000), "groq": rows("small", 131_072),
            "google": rows("same", 1_000_000),
        } },
    })
}

/// Configurations whose findings depend on the credentials there are.
fn examples_with_credentials() -> impl Iterator<Item = (Value, Credentials, &'static [&'static str])> {
    let provider = |id: &str| ProviderId::try_new(id).unwrap();
    let known = |accounts: &[(&str, &str)]| {
        let none = Credentials::default();
        accounts
            .iter()
            .fold(none, |all, (id, account)| all.with(&provider(id), account))
    };
    let chain = |models: &[&str], providers: Value| {
        json!({ "agents": { "defaults": { "model": { "primary": models[0], "fallbacks": models[1..] } } },
            "models": { "providers": providers } })
    };
    let two = ["anthropic/opus", "openai/x"];
    let aws = json!({ "amazon-bedrock": { "auth": "aws-sdk" } });
    let relays =
        |second: &str| json!({ "openai": { "apiKey": "sk-one" }, "anthropic": { "apiKey": second } });
    [
        (
            chain(&two, json!({})),
            known(&[("anthropic", "a"), ("openai", "b")]),
            &[][..],
        ),
        (
            chain(&two, json!({})),
            known(&[("anthropic", "a")]),
            &["missing-credentials agents.defaults.model.fallbacks[0]"],
        ),
        (chain(&two, relays("sk-two")), known(&[]), &[]),
        (
            chain(&["amazon-bedrock/x", "openai/x"], aws),
            known(&[("openai", "b")]),
            &[],
        ),
        // One gateway account behind two providers, known from outside or from equal keys.
        (
            chain(&two, json!({})),
            known(&[("anthropic", "a"), ("openai", "a")]),
            &["one-account agents.defaults.model"],
        ),
        (
            chain(&two, relays("sk-one")),
            known(&[]),
            &["one-account agents.defaults.model"],
        ),
        (chain(&two, relays("sk-one")), known(&[("openai", "b")]), &[]),
        // An alias of a provider uses the same credentials (V2).
        (
            chain(&["claude-cli/opus", "anthropic/opus"], json!({})),
            known(&[("anthropic", "a")]),
            &["one-account agents.defaults.model"],
        ),
    ]
    .into_iter()
}

/// One configuration per rule and the findings in it.
#[rustfmt::skip]
fn examples() -> Vec<(Value, &'static [&'static str])> {
    let model = |fallbacks: &Value| with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallbacks": fallbacks } }));
    vec![
        (with_defaults(&json!({ "models": { "openai/a": { "alias": "b" }, "groq/b": {}, "openai/x": { "alias": "X" } } })),
            &["alias-hides-model agents.defaults.models[\"openai/a\"].alias"]),
        (with_defaults(&json!({ "models": { "openai/a": { "alias": "groq/b" }, "groq/b": {} } })),
            &["alias-name agents.defaults.models[\"openai/a\"].alias"]),
        (with_defaults(&json!({ "models": { "openai/a": { "alias": "x" }, "groq/b": { "alias": " X " }, "groq/*": { "alias": "x" } } })),
            &["alias-twice agents.defaults.models[\"groq/b\"].alias"]),
        (with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallbacks": ["gpt-9", "openai/x"] }, "models": { "anthropic/*": {}, "openai/gpt-9": {} } })),
            &["bare-fallback agents.defaults.model.fallbacks[0]"]),
        (json!({ "agents": { "list": [{ "id": "Ops Team" }, { "id": "ops-team" }] }, "models": { "providers": { "Groq": {}, "groq": {} } } }),
            &["duplicate-entry agents.list[1].id", "duplicate-entry models.providers[\"groq\"]"]),
        (model(&json!(["openai/x", "openai/y", "OpenAI/x"])), &["duplicate-fallback agents.defaults.model.fallbacks[2]"]),
        (with_agents(&json!([{ "id": "a", "model": { "fallbacks": [] } }, { "id": "b" }])),
            &["empty-fallbacks agents.list[0].model.fallbacks"]),
        (with_defaults(&json!({ "model": "mystery" })), &["guessed-provider agents.defaults.model"]),
        (json!({ "models": { "providers": { "mine": { "models": [{ "id": "m" }] } } } }),
            &["incomplete-provider models.providers[\"mine\"]"]),
        (model(&json!(["anthropic/sonnet"])), &["one-provider agents.defaults.model"]),
        (with_defaults(&json!({ "model": "anthropic/opus", "models": { "anthropic/*": {}, "anthropic/claude-*": {}, "*": {} } })),
            &["partial-wildcard agents.defaults.models[\"anthropic/claude-*\"]", "partial-wildcard agents.defaults.models[\"*\"]"]),
        (model(&json!(["openai/x", "anthropic/claude-opus-4-8"])), &["primary-as-fallback agents.defaults.model.fallbacks[1]"]),
        (with_defaults(&json!({ "model": "anthropic/opus", "models": { "groq/*": {} } })),
            &["primary-not-allowed agents.defaults.model"]),
        (with_agents(&json!([{ "id": "a", "model": "openai/x" }, { "id": "b" }])), &["primary-only agents.list[0].model"]),
        (model(&json!(["openai/x@work"])), &["profile-dropped agents.defaults.model.fallbacks[0]"]),
        (json!({ "models": { "providers": { "a/b": { "baseUrl": "http://x", "models": [{ "id": "m" }] }, "openai": {} } } }),
            &["provider-slash models.providers[\"a/b\"]"]),
        (sized(&json!(["openai/mid", "groq/small", "openai/unsized"])),
            &["smaller-window agents.defaults.model.fallbacks[0]", "smaller-window agents.defaults.model.fallbacks[1]"]),
        (with_defaults(&json!({ "model": { "primary": "anthropic/opus", "fallback": ["openai/x"] } })),
            &["unknown-key agents.defaults.model.fallback"]),
        (json!({ "agents": { "defaults": { "model": { "primary": "mine/a", "fallbacks": ["openai/x", "mine/b"] } } },
            "models": { "providers": { "Mine": { "baseUrl": "http://x", "models": [{ "id": "a" }] } } } }),
            &["unknown-model agents.defaults.model.fallbacks[1]"]),
        (model(&json!(["openai/x", "antropic/opus", "antropic/sonnet"])), &["unknown-provider agents.defaults.model.fallbacks[1]"]),
        (with_defaults(&json!({ "models": { "openai/gpt-5.5": {}, "antropic/*": {} } })),
            &["unknown-provider agents.defaults.models[\"antropic/*\"]"]),
        (with_defaults(&json!({ "models": { "openai/gpt-5.5": {}, "x/": {}, " ": {}, "/*": {} } })),
            &["unreadable-model agents.defaults.models[\"x/\"]", "unreadable-model agents.defaults.models[\" \"]", "unreadable-model agents.defaults.models[\"/*\"]"]),
        (model(&json!(["openai/x", "groq/"])), &["unreadable-model agents.defaults.model.fallbacks[1]"]),
        (with_agents(&json!([{ "id": "a", "model": { "fallbacks": ["openai/x"] } }])),
            &["unused-fallbacks agents.defaults.model.fallbacks"]),
        (json!({ "agents": { "defaults": { "subagents": { "model": "openai/small" } },
            "list": [{ "id": "a", "model": "openai/x" }, { "id": "b", "subagents": { "model": { "primary": "groq/y" } } }] } }),
            &["unused-subagents agents.defaults.subagents.model"]),
        (model(&json!(["openai/*"])), &["wildcard-fallback agents.defaults.model.fallbacks[0]"]),
    ]
}

#[test]
fn each_rule_has_an_example_that_finds_it_and_nothing_else() {
    let mut seen = BTreeSet::new();
    let plain = examples()
        .into_iter()
        .map(|(example, expected)| (example, None, expected));
    let with_credentials =
        examples_with_credentials().map(|(example, known, expected)| (example, Some(known), expected));
    for (example, known, expected) in plain.chain(with_credentials) {
        assert_eq!(found_with(example.clone(), known.as_ref()), expected, "{example}");
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
fn bl_54_windows_that_are_not_smaller_or_not_known_are_no_finding() {
    assert_eq!(
        found(sized(&json!(["google/same", "openai/unsized"]))),
        Vec::<String>::new()
    );
}

#[test]
fn an_account_is_never_shown() {
    let known = Credentials::default().with(&ProviderId::try_new("openai").unwrap(), "me@example.com");
    assert!(!format!("{known:?}").contains("example"), "{known:?}");
    let both = known.with(&ProviderId::try_new("groq").unwrap(), "me@example.com");
    let json = with_defaults(&json!({ "model": { "primary": "openai/a", "fallbacks": ["groq/b"] } }));
    let finding = lint(&config(json), Some(&both)).remove(0);
    assert_eq!(finding.rule.code, "one-account");
    assert!(!finding.to_string().contains("example"), "{finding}");
}

#[test]
fn a_finding_is_data() {
    let finding = lint(&config(with_defaults(&json!({ "model": "mystery" }))), None).remove(0);
    assert_eq!(
        serde_json::to_value(&finding).unwrap(),
        json!({
            "code": "guessed-provider",
            "severity": "warning",
            "place": "agents.defaults.model",
            "detail": "`mystery` is taken as `openai/mystery`",
            "remedy": "write the model as provider/model",
        })
    );
}

#[test]
fn what_people_read() {
    let told: Vec<String> = examples()
        .into_iter()
        .map(|(example, _)| (example, None))
        .chain(examples_with_credentials().map(|(example, known, _)| (example, Some(known))))
        .flat_map(|(example, known)| lint(&config(example), known.as_ref()))
        .map(|finding| finding.to_string())
        .collect();
    insta::assert_snapshot!("findings", told.join("\n\n"));
}

#[test]
fn a_provider_needs_an_address_and_nothing_else() {
    let listed = |row: Value, known: Option<&Credentials>| {
        let json = json!({ "models": { "providers": { "mine": row } } });
        let mut found = found_with(json, known);
        found.retain(|found| found.starts_with("incomplete-provider"));
        found
    };
    let known = Credentials::default().with_address(&ProviderId::try_new("mine").unwrap());
    let incomplete = ["incomplete-provider models.providers[\"mine\"]"];
    for (row, known, expected) in [
        (json!({ "baseUrl": "http://x" }), None, &[][..]),
        (json!({ "baseUrl": "http://x", "models": [] }), None, &[]),
        (json!({ "apiKey": "k" }), Some(&known), &[]),
        (json!({ "apiKey": "k" }), None, &incomplete),
        (
            json!({ "baseUrl": " ", "models": [{ "id": "m" }] }),
            None,
            &incomplete,
        ),
    ] {
        assert_eq!(listed(row.clone(), known), expected, "{row}");
    }
    let named = with_defaults(&json!({ "model": { "primary": "openai/x", "fallbacks": ["mine/m"] } }));
    let unknown = |known| {
        let found = found_with(named.clone(), known);
        found.iter().any(|found| found.starts_with("unknown-provider"))
    };
    assert!(unknown(None) && !unknown(Some(&known)));
}
