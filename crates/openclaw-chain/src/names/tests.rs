//! Splitting, OpenRouter's names, relays and inferred providers.

use proptest::prelude::*;

use super::*;
use crate::testing::{config, pair};
use serde_json::json;

fn names(json: serde_json::Value) -> Names {
    Names::new(&config(json), VendorRules::default(), BuiltInAliases::Added)
}

fn provider(id: &str) -> ProviderId {
    ProviderId::try_new(id).unwrap()
}

#[test]
fn rows_of_3_2() {
    let names = names(json!({}));
    for (text, expected) in [
        ("anthropic/claude", Some("anthropic+claude")),
        ("  OpenAI / GPT-5 ", Some("openai+GPT-5")),
        ("a/b/c", Some("a+b/c")),
        ("a//b", Some("a+/b")),
        ("x", Some("openai+x")),
        ("/x", None),
        ("x/", None),
        ("", None),
        ("  ", None),
        ("OpenRouter:AUTO", Some("openrouter+openrouter/auto")),
        ("openrouter:free", Some("openai+openrouter:free")),
    ] {
        let parsed = names.parse(text, &provider("openai"));
        assert_eq!(parsed.as_ref().map(pair).as_deref(), expected, "{text:?}");
    }
}

#[test]
fn openrouter_names_of_5_3() {
    let row = |models: serde_json::Value| json!({ "models": { "providers": { "OpenRouter": { "models": models } } } });
    for (config, text, expected) in [
        (json!({}), "openrouter:auto", Some("openrouter+openrouter/auto")),
        (json!({}), " OPENROUTER:AUTO ", Some("openrouter+openrouter/auto")),
        (json!({}), "openrouter:free", None),
        (
            json!({ "agents": { "defaults": { "models": {
                "groq/a/b:free": {}, "openrouter/solo:free": {}, "openrouter/meta/llama": {},
                "OpenRouter/meta/llama-4:free": {}, "openrouter/other/one:free": {} } } } }),
            "openrouter:free",
            Some("openrouter+meta/llama-4:free"),
        ),
        (
            row(json!([{ "id": "solo:free" }, { "id": "meta/llama-5:free" }])),
            "openrouter:free",
            Some("openrouter+meta/llama-5:free"),
        ),
        (row(json!([{ "id": "solo:free" }])), "openrouter:free", None),
        (json!({}), "openrouter/auto", None),
    ] {
        let found = names(config.clone()).openrouter_name(text);
        assert_eq!(
            found.as_ref().map(pair).as_deref(),
            expected,
            "{text:?} in {config}"
        );
    }
}

#[test]
fn relays_of_5_step_5() {
    let names = names(json!({ "models": { "providers": {
        "Proxy": { "api": "openai-completions" },
        "google": { "api": "Google" },
        "openai": {},
        "proxy": { "api": "proxy" },
    } } }));
    for (text, default, expected) in [
        ("PROXY/opus", "openai", Some("proxy+opus")), // the first matching key decides (V4)
        ("proxy/proxy/x", "openai", Some("proxy+x")),
        (
            "proxy/google/gemini-3-pro",
            "openai",
            Some("proxy+google/gemini-3.1-pro-preview"),
        ),
        ("proxy/google/other", "openai", Some("proxy+google/other")),
        ("x", "proxy", Some("proxy+x")), // a bare text is tried with the default provider
        ("x", "openai", None),           // no `api`
        ("google/x", "openai", None),    // its own wire format
        ("unknown/x", "openai", None),
        ("proxy/", "openai", None),
    ] {
        let found = names.relayed(text, &provider(default));
        assert_eq!(found.as_ref().map(pair).as_deref(), expected, "{text:?}");
    }
}

#[test]
fn the_provider_of_a_bare_name_must_be_the_only_one() {
    let names = names(json!({
        "agents": { "defaults": { "models": { "groq/one": {}, "x/two": {}, "bare": {}, "y/*": {} } } },
        "models": { "providers": {
            "x": { "models": [{ "id": "One", "input": ["text", "image"] }] },
            "X2": { "models": [{ "id": "two", "input": ["image"] }] },
            "x3": { "models": [{ "id": "three", "input": ["image"] }, { "id": "One", "input": ["image"] }] },
        } },
    }));
    for (text, expected, images) in [
        ("one", None, "x x3"),
        ("two", None, "x2"),
        ("THREE", Some("x3"), "x3"),
        ("bare", None, ""),
        ("*", None, ""),
    ] {
        let found = names.unique_provider(text);
        assert_eq!(found.as_ref().map(ProviderId::as_str), expected, "{text:?}");
        let with_images = names.image_providers(text);
        let with_images: Vec<&str> = with_images.iter().map(ProviderId::as_str).collect();
        assert_eq!(with_images.join(" "), images, "{text:?}");
    }
}

proptest! {
    /// chain.md 13: what a key is read back as has the same key.
    #[test]
    fn a_key_is_its_own_key(
        provider in "(openai|OpenRouter|nvidia|google|vercel-ai-gateway|z.ai)",
        model in "[A-Za-z0-9.:@-]{1,8}(/[A-Za-z0-9.:@-]{1,8})?",
    ) {
        prop_assume!(!model.to_lowercase().starts_with(&provider.to_lowercase()));
        let names = names(json!({}));
        let read = |text: &str| names.parse(text, &ProviderId::try_new("openai").unwrap());
        let first = read(&format!("{provider}/{model}")).unwrap();
        prop_assert_eq!(read(&first.key()), Some(first));
    }
}
