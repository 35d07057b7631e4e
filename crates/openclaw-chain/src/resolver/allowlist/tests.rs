//! The allowlist: rules W1 to W10 and the examples of chain.md 10.

use serde_json::{Value, json};

use super::*;
use crate::testing::{agent, config, model, resolver};

/// Checks one row: keys of the model map, then models that are allowed and models that are not.
fn check(keys: &[&str], agent_model: &Value, allowed: &[&str], refused: &[&str]) {
    let models: serde_json::Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    let resolver = resolver(json!({ "agents": {
        "defaults": { "model": { "primary": "openai/gpt-5.5", "fallbacks": ["groq/f"] }, "models": models },
        "list": [{ "id": "ops", "model": agent_model }],
    } }));
    for text in allowed {
        assert!(
            resolver.is_allowed(&agent("ops"), &model(text)),
            "{text} with {keys:?}"
        );
    }
    for text in refused {
        assert!(
            !resolver.is_allowed(&agent("ops"), &model(text)),
            "{text} with {keys:?}"
        );
    }
}

#[test]
fn examples_of_section_10() {
    let none = json!({});
    check(&[], &none, &["any/thing"], &[]); // W1
    check(&["  "], &none, &["any/thing"], &[]); // W1
    check(
        &["openai/gpt-5.4"],
        &none,
        &["openai/gpt-5.4", "groq/f", "openai/gpt-5.5"], // W4, W5
        &["x/y", "openai/GPT-5.4"],                      // W6: case counts in the model part
    );
    check(
        &["openai/*"], // W2
        &none,
        &["openai/anything", "openai/a/b"], // W6: up to the first slash
        &["groq/f"],                        // W4: a wildcard brings no fallbacks
    );
    check(&["vllm/*"], &none, &["vllm/x"], &["openai/gpt-5.5", "groq/f"]);
    check(
        &[" VLLM/* ", "x/y"],
        &none,
        &["vllm/a", "x/y", "groq/f"],
        &["openai/gpt-5.5"],
    );
    check(
        &["gpt-q"], // W3
        &none,
        &["openai/gpt-q", "openai/gpt-5.5"],
        &["anthropic/gpt-q"],
    );
    check(
        &["x/y"],
        &json!({ "primary": "q/q", "fallbacks": ["r/r"] }),
        &["x/y", "r/r", "openai/gpt-5.5"],
        &["groq/f", "q/q"],
    );
    // W4: an agent that is strict has no fallbacks to allow.
    check(&["x/y"], &json!("q/q"), &["x/y"], &["groq/f"]);
    // Both sides are compared in their normal form.
    check(
        &["anthropic/opus"],
        &none,
        &["anthropic/claude-opus-4-8", "anthropic/opus"],
        &["anthropic/sonnet"],
    );
}

#[test]
fn w8_the_chain_does_not_ask_the_allowlist() {
    let resolver = resolver(json!({ "agents": { "defaults": {
        "model": { "primary": "openai/gpt-5.5", "fallbacks": ["groq/f"] }, "models": { "vllm/*": {} },
    } } }));
    let ids = |chain: Vec<ModelRef>| chain.iter().map(ModelRef::key).collect::<Vec<_>>();
    let requested = crate::Requested::from(&model("x/y"));
    assert_eq!(
        ids(resolver.chain(&requested, None)),
        ["x/y", "groq/f", "openai/gpt-5.5"]
    );
    for text in ["x/y", "groq/f", "openai/gpt-5.5"] {
        assert!(!resolver.is_allowed(&agent("main"), &model(text)), "{text}");
    }
}

#[test]
fn w3_a_bare_key_takes_the_only_provider_that_has_it() {
    let resolver = resolver(json!({
        "agents": { "defaults": { "model": "openai/gpt-5.5", "models": { "m1": {} } } },
        "models": { "providers": { "custom": { "models": [{ "id": "m1" }] } } },
    }));
    assert!(resolver.is_allowed(&agent("main"), &model("custom/m1")));
    assert!(!resolver.is_allowed(&agent("main"), &model("openai/m1")));
}

#[test]
fn w7_aliases_and_an_agent_s_own_map_add_nothing() {
    let resolver = resolver(json!({ "agents": {
        "defaults": { "model": "openai/gpt-5.5", "models": { "x/y": { "alias": "groq/z" } } },
        "list": [{ "id": "main", "models": { "a/b": {} } }],
    } }));
    for text in ["groq/z", "a/b"] {
        assert!(!resolver.is_allowed(&agent("main"), &model(text)), "{text}");
    }
}

#[test]
fn w10_what_a_person_s_text_selects() {
    let resolver = resolver(json!({ "agents": { "defaults": {
        "model": "openai/gpt-5.5", "models": { "groq/llama": { "alias": "fast" } },
    } } }));
    for (text, expected) in [
        (" Fast@work ", "groq/llama"),
        ("gpt-5.5", "openai/gpt-5.5"),
        (" ", "invalid model: empty"),
        (" x/ ", "invalid model: x/"),
        ("x/y", "model not allowed: x/y"),
    ] {
        let told = match resolver.try_select(&agent("main"), text) {
            Ok(model) => model.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{text:?}");
    }
}

#[test]
fn w9_a_new_session_starts_with_the_first_allowed_model() {
    let providers = json!({ "vllm": { "models": [{ "id": "first" }, { "id": "second" }] } });
    for (models, providers, expected) in [
        (json!({}), json!({}), "openai/gpt-5.5"),
        (json!({ "vllm/*": {} }), providers.clone(), "vllm/first"),
        (json!({ "vllm/*": {}, "x/y": {} }), providers, "x/y"),
        (
            json!({ "vllm/*": {} }),
            json!({}),
            "model openai/gpt-5.5 is not allowed and no other one is; add it to agents.defaults.models or remove that map",
        ),
    ] {
        let resolver = Resolver::new(&config(json!({
            "agents": { "defaults": { "model": "openai/gpt-5.5", "models": models } },
            "models": { "providers": providers },
        })));
        let told = match resolver.initial_selection(&agent("main"), &resolver.primary()) {
            Ok(model) => model.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, expected, "{models}");
    }
}
