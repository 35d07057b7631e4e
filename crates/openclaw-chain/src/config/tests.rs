//! Reading a configuration: what is understood, what is refused and how, what is let pass.

mod everything;
mod keys;

use std::fmt::Write as _;
use std::time::Duration;

use openclaw_ids::{AgentId, ProviderId};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{agent, config, owned};

/// As the program reads a file: with the path to the value and its place in the text.
fn read(text: &str) -> Result<ChainConfig, String> {
    let mut deserializer = json5::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| format!("{}: {}", error.path(), error.inner()))
}

#[test]
fn a_configuration_in_use_is_read_and_everything_else_in_it_is_stepped_over() {
    let config = read(
        r#"{
            // A comment, as people write them.
            meta: { lastTouchedVersion: "2026.7.1" },
            agents: {
                defaults: {
                    workspace: "~/ws",
                    model: { primary: " openai/gpt-5.5 ", fallbacks: ["groq/llama", " x "] },
                    imageModel: { primary: "google/pic", timeoutMs: 2500 },
                    pdfModel: 7,
                    utilityModel: "openai/gpt-5.4-mini",
                    subagents: { model: "groq/small", maxConcurrent: 4 },
                    heartbeat: { every: "30m", model: "groq/beat" },
                    models: { "openai/gpt-5.5": { alias: "gpt", params: { a: [1, null] } }, "groq/*": {} },
                },
                list: [
                    { id: "Ops Team", default: true, agentDir: " ~/ops ", model: "a/b", tools: { deny: [] } },
                    { id: "two", agentDir: "  ", model: { fallbacks: [] }, subagents: { model: { primary: "c/d" } } },
                    { id: "TWO" },
                ],
            },
            models: {
                mode: "merge",
                providers: {
                    Local: {
                        baseUrl: "http://127.0.0.1:8080/v1", apiKey: "k", auth: "api-key", api: "openai-completions",
                        headers: { "x-a": "1" }, timeoutSeconds: 2.5, contextWindow: 1000, region: "eu",
                        models: [
                            { id: "m", name: "M", input: ["text", "image"], contextWindow: 2e5, cost: { input: 1 } },
                            { id: "n", contextWindow: 9, contextTokens: 5 },
                            { id: "o" },
                        ],
                    },
                    " LOCAL ": { apiKey: { source: "env", provider: "default", id: "K" } },
                },
            },
            channels: null,
        }"#,
    )
    .unwrap();

    let defaults = &config.agents.defaults;
    assert_eq!(defaults.model.primary(), Some("openai/gpt-5.5"));
    assert_eq!(
        defaults.model.fallbacks(),
        Some(&owned(&["groq/llama", " x "])[..])
    );
    assert_eq!(defaults.image_model.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(defaults.subagents.model.primary(), Some("groq/small"));
    assert_eq!(defaults.heartbeat.model.as_deref(), Some("groq/beat"));
    assert_eq!(defaults.utility_model.as_deref(), Some("openai/gpt-5.4-mini"));
    assert_eq!(
        defaults.models.keys().collect::<Vec<_>>(),
        ["openai/gpt-5.5", "groq/*"]
    );

    assert_eq!(config.agent_ids(), [agent("ops-team"), agent("two")]);
    assert_eq!(config.default_agent(), agent("ops-team"));
    // L11
    assert_eq!(config.agent_dir(&agent("ops-team")), Some("~/ops"));
    assert_eq!(config.agent_dir(&agent("two")), None);

    let local = config
        .models
        .provider(&ProviderId::try_new("local").unwrap())
        .unwrap();
    assert_eq!(local.timeout, Some(Duration::from_millis(2500)));
    assert_eq!(local.auth, Some(AuthMode::ApiKey));
    assert_eq!(
        local.api_key.as_ref().and_then(SecretValue::expose_text),
        Some("k")
    );
    assert_eq!(local.headers["x-a"].expose_text(), Some("1"));
    assert!(local.models[0].takes_images() && !local.models[1].takes_images());
    let reference = config.models.providers[" LOCAL "].api_key.as_ref().unwrap();
    assert_eq!(reference.expose()["id"], "K");
}

#[test]
fn l12_the_default_agent() {
    for (list, expected) in [
        (json!([]), "main"),
        (json!([{ "id": "a" }, { "id": "b" }]), "a"),
        (
            json!([{ "id": "a" }, { "id": "b", "default": true }, { "id": "c", "default": true }]),
            "b",
        ),
    ] {
        let config = config(json!({ "agents": { "list": list } }));
        assert_eq!(config.default_agent(), agent(expected));
    }
    assert_eq!(ChainConfig::default().agent_ids(), [AgentId::main()]);
}

#[test]
fn the_forms_of_a_model_setting() {
    let setting = |value: serde_json::Value| {
        config(json!({ "agents": { "defaults": { "model": value } } }))
            .agents
            .defaults
            .model
    };
    // chain.md 9.1, first two columns: what each form imposes on an agent's runs.
    for (value, primary, imposed, form) in [
        (json!(""), None, None, SettingForm::Text),
        (json!("  "), None, None, SettingForm::Text),
        (json!({}), None, None, SettingForm::Object),
        (json!({ "primary": "" }), None, None, SettingForm::Object),
        (json!("q/q"), Some("q/q"), Some(owned(&[])), SettingForm::Text),
        (
            json!({ "primary": " q/q " }),
            Some("q/q"),
            Some(owned(&[])),
            SettingForm::Object,
        ),
        (
            json!({ "fallbacks": [] }),
            None,
            Some(owned(&[])),
            SettingForm::Object,
        ),
        (
            json!({ "fallbacks": ["a/b"] }),
            None,
            Some(owned(&["a/b"])),
            SettingForm::Object,
        ),
        (
            json!({ "primary": "q/q", "fallbacks": ["a/b"] }),
            Some("q/q"),
            Some(owned(&["a/b"])),
            SettingForm::Object,
        ),
    ] {
        let setting = setting(value.clone());
        assert_eq!(setting.primary(), primary, "{value}");
        assert_eq!(setting.imposed(), imposed.as_deref(), "{value}");
        assert_eq!(setting.form(), form, "{value}");
    }
    let misspelled = setting(json!({ "primary": "q/q", "fallback": ["a/b"] }));
    assert_eq!(misspelled.unknown_keys(), ["fallback"]);
    assert_eq!(ChainConfig::default().agents.defaults.model.imposed(), None);
}

#[test]
fn a_wrong_value_says_what_was_found_what_is_expected_and_how_to_write_it() {
    let mut told = String::new();
    for text in [
        "{ agents: [] }",
        "{ agents: { defaults: { model: 3 } } }",
        "{ agents: { defaults: { model: null } } }",
        "{ agents: { defaults: { model: { primary: true } } } }",
        "{\n  agents: { defaults: { model: {\n    fallbacks: 'openai/gpt-5.5' } } } }",
        "{ agents: { defaults: { model: { fallbacks: ['a/b', {}] } } } }",
        "{ agents: { defaults: { imageModel: { timeoutMs: -1 } } } }",
        "{ agents: { defaults: { imageModel: { timeoutMs: 1.5 } } } }",
        "{ agents: { defaults: { models: ['openai/gpt-5.5'] } } }",
        "{ agents: { defaults: { models: { 'openai/gpt-5.5': 'gpt' } } } }",
        "{ agents: { defaults: { heartbeat: { model: {} } } } }",
        "{ agents: { list: { main: {} } } }",
        "{ agents: { list: [{ default: 'yes' }] } }",
        "{ models: { providers: [] } }",
        "{ models: { providers: { x: { timeoutSeconds: 0 } } } }",
        "{ models: { providers: { x: { timeoutSeconds: 1e300 } } } }",
        "{ models: { providers: { x: { contextWindow: Infinity } } } }",
        "{ models: { providers: { x: { auth: 'api_key' } } } }",
        "{ models: { providers: { x: { models: ['m'] } } } }",
        "{ models: { providers: { x: { models: [{ id: 'm', input: 'text' }] } } } }",
        "[]",
    ] {
        let error = read(text).unwrap_err();
        writeln!(told, "{}\n  {error}\n", text.replace('\n', " ")).unwrap();
    }
    insta::assert_snapshot!("wrong_values", told);
}

#[test]
fn a_secret_is_neither_in_an_error_nor_in_a_debug_print() {
    for text in [
        "{ models: { providers: 'sk-secret' } }",
        "{ models: { providers: { x: 'sk-secret' } } }",
        "{ models: { providers: { x: { apiKey: ['sk-secret'] } } } }",
        "{ models: { providers: { x: { headers: 'sk-secret' } } } }",
        "{ models: { providers: { x: { headers: { authorization: ['sk-secret'] } } } } }",
        "{ models: { providers: { x: { timeoutSeconds: 'sk-secret' } } } }",
        "{ models: { providers: { x: { auth: 'sk-secret-0123456789' } } } }",
        "{ models: { providers: { x: { auth: 'sk-secret-ab' } } } }",
        "{ models: { providers: { x: { models: 'sk-secret' } } } }",
    ] {
        let error = read(text).unwrap_err();
        assert!(!error.contains("sk-secret"), "{error}");
    }
    let number = read("{ models: { providers: { x: { apiKey: 8675309 } } } }").unwrap_err();
    assert!(!number.contains("8675309"), "{number}");

    let config = read(
        "{ models: { providers: {
            x: { apiKey: 'sk-secret', headers: { authorization: 'sk-secret' } },
            y: { baseUrl: 'https://me:sk-secret@host:8080/v1?key=sk-secret#sk-secret' },
            z: { baseUrl: 'me:sk-secret@host' },
        } } }",
    );
    let printed = format!("{config:?}");
    assert!(printed.contains("https://host:8080/v1"), "{printed}");
    assert!(
        printed.contains("[redacted]") && !printed.contains("sk-secret"),
        "{printed}"
    );
}

#[test]
fn lenient_reading_of_1_1_treats_every_wrong_value_as_not_written() {
    let config = ChainConfig::lenient(&json!({
        "agents": {
            "defaults": {
                "model": { "primary": 3, "fallbacks": ["a/b", 7, null, "c/d"] },
                "imageModel": ["x"],
                "models": { "x/y": null, "z/w": { "alias": 1 } },
                "heartbeat": "no",
            },
            "list": [3, { "id": "a", "model": [] }, { "default": "yes" }],
        },
        "models": { "providers": { "p": 1, "q": { "models": [null, { "id": "m" }, { "id": 3 }], "api": 2 } } },
    }));
    let defaults = &config.agents.defaults;
    assert_eq!(defaults.model.primary(), None);
    assert_eq!(defaults.model.fallbacks(), Some(&owned(&["a/b", "c/d"])[..]));
    assert_eq!(defaults.image_model, ImageModelSetting::default());
    // A listed key stays listed, whatever it holds.
    assert_eq!(defaults.models.keys().collect::<Vec<_>>(), ["x/y", "z/w"]);
    assert_eq!(config.agents.list.len(), 2);
    assert_eq!(config.agents.list[0].model, ModelSetting::default());
    assert_eq!(config.models.providers["p"], ProviderConfig::default());
    assert_eq!(config.models.providers["q"].models.len(), 2);

    for root in [
        json!(null),
        json!([]),
        json!("x"),
        json!({ "agents": 3, "models": [] }),
    ] {
        assert_eq!(ChainConfig::lenient(&root), ChainConfig::default(), "{root}");
    }
}

#[test]
fn both_ways_of_reading_agree_on_a_correct_configuration() {
    let value = json!({
        "agents": { "defaults": { "model": { "primary": "a/b", "fallbacks": ["c/d"] }, "models": { "a/b": { "alias": "x" } } } },
        "models": { "providers": { "p": { "api": "q", "models": [{ "id": "m" }] } } },
    });
    assert_eq!(ChainConfig::lenient(&value), config(value));
}

/// JSON whose keys are mostly ours and whose values are mostly of the wrong shape.
fn anything() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        "(a/b|fast| |api-key)".prop_map(|text| json!(text)),
    ];
    let key = "(agents|models|defaults|list|model|primary|fallbacks|imageModel|timeoutMs|providers|apiKey|headers|\
        auth|timeoutSeconds|id|alias|input|contextWindow|other)";
    leaf.prop_recursive(6, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|list| json!(list)),
            prop::collection::hash_map(key, inner, 0..6).prop_map(|object| json!(object)),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_read_strictly_is_read_the_same_leniently(root in anything()) {
        let lenient = ChainConfig::lenient(&root);
        if let Ok(strict) = serde_json::from_value::<ChainConfig>(root) {
            prop_assert_eq!(strict, lenient);
        }
    }
}
