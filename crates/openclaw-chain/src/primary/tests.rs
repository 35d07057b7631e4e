//! The configured primary: every row of chain.md 7, and how it was found.

use crate::testing::{agent, pair, resolver};
use serde_json::{Value, json};

/// The primary under this model setting, model map and provider rows, and what is said about it.
fn check(model: &Value, models: &Value, providers: &Value, expected: &str, found: &str) {
    let config = json!({
        "agents": { "defaults": { "model": model, "models": models } },
        "models": { "providers": providers },
    });
    let resolver = resolver(config.clone());
    assert_eq!(pair(&resolver.primary()), expected, "{config}");
    let told = resolver.primary.found.to_string();
    assert!(told.contains(found), "{told}");
}

#[test]
#[rustfmt::skip]
fn rows_of_section_7_with_a_text() {
    let none = json!({});
    let fast = json!({ "openai/gpt-5.4": { "alias": "fast" } });
    let custom = json!({ "custom": { "models": [{ "id": "m1" }] } });
    check(&json!("Fast"), &fast, &none, "openai+gpt-5.4", "is an alias");
    check(&json!("fast@openai:work"), &fast, &none, "openai+gpt-5.4", "is an alias");
    let twice = json!({ "openai/gpt-5.4": { "alias": "fast" }, "groq/llama": { "alias": "FAST" } });
    check(&json!("fast"), &twice, &none, "groq+llama", "is an alias");
    check(&json!("foo/bar"), &json!({ "openai/gpt-5.4": { "alias": "foo/bar" } }), &none, "openai+gpt-5.4", "is an alias");
    check(&json!("foo/bar"), &json!({ "gpt-5.4": { "alias": "foo/bar" } }), &none, "foo+bar", "is configured");
    check(&json!("gpt-9"), &json!({ "groq/gpt-9": {} }), &none, "groq+gpt-9", "exactly one");
    check(&json!("GPT-9@work"), &json!({ "groq/gpt-9": {} }), &none, "groq+GPT-9", "exactly one");
    check(&json!("gpt-9"), &json!({ "groq/gpt-9": {}, "x/gpt-9": {} }), &none, "openai+gpt-9", "write `provider/model`");
    check(&json!("M1"), &none, &custom, "custom+M1", "exactly one");
    check(&json!("x/"), &none, &none, "openai+gpt-5.5", "is not a model reference");
    check(&json!("x/"), &none, &custom, "custom+m1", "is not a model reference");
    // Step 4: an unknown bare name is kept whole.
    check(&json!("mystery@work"), &none, &none, "openai+mystery@work", "is assumed");
    check(&json!("openrouter:auto"), &none, &none, "openrouter+openrouter/auto", "is configured");
    check(&json!("anthropic/opus@work"), &none, &none, "anthropic+claude-opus-4-8", "is configured");
    // Step 2 comes before the alias for a reference; a bare text asks the aliases first.
    let relay = json!({ "proxy": { "api": "openai-completions" }, "openai": { "api": "openai-responses" } });
    check(&json!("proxy/fast"), &json!({ "proxy/other": { "alias": "proxy/fast" } }), &relay, "proxy+fast", "is configured");
    check(&json!("fast"), &json!({ "groq/llama": { "alias": "fast" } }), &relay, "groq+llama", "is an alias");
}

#[test]
#[rustfmt::skip]
fn rows_of_section_7_without_a_text() {
    let none = json!({});
    let openai_and_custom = json!({ "openai": { "models": [{ "id": "a" }] }, "custom": { "models": [{ "id": "m1" }] } });
    check(&none, &none, &json!({ "Custom": { "models": [{ "id": "M1" }] } }), "custom+M1", "first provider row");
    check(&none, &none, &openai_and_custom, "openai+gpt-5.5", "built-in default");
    // Only the exact key `openai` keeps the built-in default.
    check(&none, &none, &json!({ "OpenAI": { "models": [{ "id": "a" }] } }), "openai+a", "first provider row");
    let empty_first = json!({ "empty": { "models": [] }, "local": { "models": [{ "id": "m-a" }] } });
    check(&none, &none, &empty_first, "local+m-a", "first provider row");
    check(&json!({ "fallbacks": ["groq/x"] }), &none, &none, "openai+gpt-5.5", "built-in default");
    check(&json!("  "), &none, &none, "openai+gpt-5.5", "built-in default");
}

#[test]
fn an_agent_s_own_primary_takes_the_place_of_the_default() {
    let resolver = resolver(json!({ "agents": {
        "defaults": { "model": "groq/x", "models": { "openai/gpt-5.4": { "alias": "fast" } } },
        "list": [
            { "id": "own", "model": "fast" },
            { "id": "blank", "model": { "primary": " ", "fallbacks": ["a/b"] } },
            { "id": "bad", "model": "y/" },
        ],
    } }));
    for (id, expected) in [
        ("own", "openai+gpt-5.4"),
        ("blank", "groq+x"),
        ("bad", "openai+gpt-5.5"),
        ("unlisted", "groq+x"),
    ] {
        assert_eq!(pair(&resolver.agent_primary(&agent(id))), expected, "{id}");
    }
}

#[test]
fn the_built_in_default() {
    assert_eq!(pair(&super::built_in()), "openai+gpt-5.5");
}
