//! The alias index and the names that ship.

use crate::names::{BUILT_IN, BuiltInAliases};
use crate::testing::{defaults, pair, resolver};
use crate::{Resolver, VendorRules};
use serde_json::json;

fn meaning(models: &serde_json::Value, text: &str) -> Option<String> {
    let defaults = json!({ "model": "anthropic/claude-opus-4-6", "models": models });
    resolver(json!({ "agents": { "defaults": defaults } }))
        .resolve(text)
        .as_ref()
        .map(pair)
}

#[test]
fn lookups_of_6_1() {
    for (models, text, expected) in [
        (
            json!({ "openai/gpt-5.4": { "alias": "fast" } }),
            "Fast",
            "openai+gpt-5.4",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": " Fast " } }),
            " fast ",
            "openai+gpt-5.4",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": "fast" } }),
            "fast@work",
            "openai+gpt-5.4",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": "fast" } }),
            "openai/fast",
            "openai+gpt-5.4",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": "fast" } }),
            "OpenAI/FAST",
            "openai+gpt-5.4",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": "fast" } }),
            "groq/fast",
            "groq+fast",
        ),
        (
            json!({ "openai/gpt-5.4": { "alias": "  " } }),
            "fast",
            "anthropic+fast",
        ),
        (json!({ "openai/*": { "alias": "any" } }), "any", "anthropic+any"),
        // The last of equal names wins, also for the scoped form of the same provider.
        (
            json!({ "openai/a": { "alias": "x" }, "groq/b": { "alias": "X" } }),
            "x",
            "groq+b",
        ),
        (
            json!({ "openai/a": { "alias": "x" }, "groq/b": { "alias": "X" } }),
            "openai/x",
            "openai+a",
        ),
        // A bare key belongs to the primary's provider; keys are normalised.
        (
            json!({ "claude-haiku": { "alias": "q" } }),
            "q",
            "anthropic+claude-haiku",
        ),
        (
            json!({ "google/gemini-3-pro": { "alias": "g" } }),
            "g",
            "google+gemini-3.1-pro-preview",
        ),
        (
            json!({ "openrouter:auto": { "alias": "r" } }),
            "r",
            "openrouter+openrouter/auto",
        ),
        // An alias may look like a reference.
        (
            json!({ "anthropic/claude-sonnet-5": { "alias": "openai/gpt-5.5" } }),
            "openai/gpt-5.5",
            "anthropic+claude-sonnet-5",
        ),
        // An alias on a key that is no reference does nothing.
        (json!({ "x/": { "alias": "q" } }), "q", "anthropic+q"),
    ] {
        assert_eq!(
            meaning(&models, text).as_deref(),
            Some(expected),
            "{text:?} with {models}"
        );
    }
}

#[test]
fn keys_of_one_model_are_merged_as_1_3_says() {
    let twice = |first: serde_json::Value, second: serde_json::Value| json!({ "openai/x": first, " OpenAI / x ": second });
    let (a, b) = (json!({ "alias": "a" }), json!({ "alias": "b" }));
    for (models, text, expected) in [
        (twice(a.clone(), b.clone()), "b", "openai+x"),
        (twice(a.clone(), b.clone()), "a", "anthropic+a"),
        (twice(a.clone(), json!({})), "a", "openai+x"),
        (twice(a.clone(), json!({ "alias": " " })), "a", "anthropic+a"),
        // Google's renames hold at once, other vendors' do not.
        (
            json!({ "google/gemini-3-pro": a, "google/gemini-3.1-pro-preview": b }),
            "a",
            "anthropic+a",
        ),
        (
            json!({ "anthropic/opus": a, "anthropic/claude-opus-4-8": b }),
            "a",
            "anthropic+claude-opus-4-8",
        ),
        // A merged entry has a name already, so the shipped one stays away.
        (
            json!({ "google/gemini-3.1-pro-preview": {}, "google/gemini-3-pro": a }),
            "gemini",
            "anthropic+gemini",
        ),
    ] {
        assert_eq!(
            meaning(&models, text).as_deref(),
            Some(expected),
            "{text:?} with {models}"
        );
    }
}

#[test]
fn aliases_that_name_each_other_end_after_one_step() {
    let models = json!({ "openai/a": { "alias": "openai/b" }, "openai/b": { "alias": "openai/a" }, "self/x": { "alias": "self/x" } });
    for (text, expected) in [
        ("openai/a", "openai+b"),
        ("openai/b", "openai+a"),
        ("self/x", "self+x"),
    ] {
        assert_eq!(meaning(&models, text).as_deref(), Some(expected), "{text:?}");
    }
}

#[test]
fn built_in_names_of_6_2() {
    for (alias, target) in BUILT_IN {
        let listed = json!({ *target: {} });
        assert_eq!(
            meaning(&listed, alias),
            Some(target.replacen('/', "+", 1)),
            "{alias}"
        );
    }
    for (models, text, expected) in [
        // The model is not listed.
        (json!({ "groq/other": {} }), "gpt", "anthropic+gpt"),
        // The entry already has a name of its own.
        (
            json!({ "openai/gpt-5.4": { "alias": "mine" } }),
            "gpt",
            "anthropic+gpt",
        ),
        // Another entry uses the name.
        (
            json!({ "openai/gpt-5.4": {}, "groq/x": { "alias": "GPT" } }),
            "gpt",
            "groq+x",
        ),
        // The key counts in its normal form.
        (
            json!({ "google/gemini-3-pro": {} }),
            "gemini",
            "google+gemini-3.1-pro-preview",
        ),
    ] {
        assert_eq!(
            meaning(&models, text).as_deref(),
            Some(expected),
            "{text:?} with {models}"
        );
    }
}

#[test]
fn built_in_names_can_be_left_out() {
    let config = defaults(r#"{ "model": "groq/x", "models": { "openai/gpt-5.4": {} } }"#);
    let without = Resolver::with_rules(&config, VendorRules::default(), BuiltInAliases::LeftOut);
    assert_eq!(pair(&without.resolve("gpt").unwrap()), "groq+gpt");
    assert_eq!(
        pair(&Resolver::new(&config).resolve("gpt").unwrap()),
        "openai+gpt-5.4"
    );
}
