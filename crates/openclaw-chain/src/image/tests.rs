//! The image chain: every row of chain.md 11.

use serde_json::json;

use crate::testing::{pairs, resolver};

#[test]
fn rows_of_section_11() {
    let fallbacks = json!(["google/gemini-2.5", "openai/gpt-img", "bare-x"]);
    for (image_model, over, expected) in [
        (json!({}), None, ""),
        (json!("openai/gpt-img"), None, "openai+gpt-img"),
        (
            json!({ "primary": "openai/gpt-img", "fallbacks": fallbacks }),
            None,
            "openai+gpt-img; google+gemini-2.5; openai+bare-x",
        ),
        (
            json!({ "primary": "openai/gpt-img", "fallbacks": ["google/gemini-2.5"] }),
            Some("anthropic/claude"),
            "anthropic+claude; google+gemini-2.5",
        ),
        (
            json!({ "primary": "google/gpt-img", "fallbacks": ["google/gemini-2.5"] }),
            Some("someimg"),
            "google+someimg; google+gemini-2.5",
        ),
        // G2: a blank override is none; G3: fallbacks without a primary; unreadable ones are skipped.
        (json!("openai/gpt-img"), Some("  "), "openai+gpt-img"),
        (
            json!({ "fallbacks": ["x", "y/", "groq/z"] }),
            None,
            "openai+x; groq+z",
        ),
        // G1: a primary that cannot be read leaves the default provider.
        (
            json!({ "primary": "groq/", "fallbacks": ["x"] }),
            None,
            "openai+x",
        ),
        (
            json!({ "primary": "openai/gpt-img", "timeoutMs": 60000 }),
            None,
            "openai+gpt-img",
        ),
    ] {
        // G4: the text model and its fallbacks are set and never appear.
        let config = json!({ "agents": { "defaults": {
            "model": { "primary": "anthropic/opus", "fallbacks": ["groq/llama"] },
            "imageModel": image_model,
        } } });
        let chain = resolver(config.clone()).image_chain(over);
        assert_eq!(pairs(&chain), expected, "{over:?} in {config}");
    }
}

#[test]
fn g3_the_allowlist_is_not_asked_and_aliases_work() {
    let chain = resolver(json!({ "agents": { "defaults": {
        "imageModel": { "primary": "openai/gpt-img", "fallbacks": ["google/gemini-2.5", "pic"] },
        "models": { "openai/gpt-img": {}, "bare-pic": { "alias": "pic" } },
    } } }))
    .image_chain(None);
    assert_eq!(
        pairs(&chain),
        "openai+gpt-img; google+gemini-2.5; openai+bare-pic"
    );
}

#[test]
fn g5_and_g8_without_an_image_model_the_error_says_what_to_set() {
    let text_only = resolver(json!({ "agents": { "defaults": { "model": "openai/gpt-5.5" } } }));
    let error = text_only.require_image_chain(Some("x/")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no image model is configured; set agents.defaults.imageModel.primary or agents.defaults.imageModel.fallbacks"
    );
    let given = text_only.require_image_chain(Some("google/pic")).unwrap();
    assert_eq!(pairs(&given), "google+pic");
}

#[test]
fn g7_bare_references_are_completed_when_one_provider_has_the_model() {
    let resolver = resolver(json!({ "models": { "providers": {
        "one": { "models": [{ "id": "Pic", "input": ["text", "image"] }, { "id": "both", "input": ["image"] }] },
        "two": { "models": [{ "id": "pic", "input": ["text"] }, { "id": "both", "input": ["image"] }] },
    } } }));
    assert_eq!(resolver.qualify_image_ref(" pic "), Ok("one/pic".to_owned()));
    assert_eq!(resolver.qualify_image_ref("other"), Ok("other".to_owned()));
    assert_eq!(resolver.qualify_image_ref("x/pic"), Ok("x/pic".to_owned()));
    let error = resolver.qualify_image_ref("both").unwrap_err();
    assert_eq!(
        error.to_string(),
        "image model `both` is ambiguous: one, two have it; write it as `provider/model`"
    );
}
