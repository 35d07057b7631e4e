//! Both files together, from text to types.

use super::*;
use crate::failover::BodyModelPolicy;
use crate::secrets::SecretProvider;

fn parse(text: &str) -> Result<Config, FileError> {
    Config::parse(Path::new("/c/openclaw.json"), text)
}

#[test]
fn sections_are_composed_and_other_keys_are_ignored() {
    let config = parse(
        "{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['groq/llama'] } } },
           models: { providers: { bedrock: { auth: 'aws-sdk' } } },
           auth: { order: { openai: ['openai:work'] } }, channels: { x: 1 } }",
    )
    .unwrap();
    assert_eq!(config.chain.agents.defaults.model.primary(), Some("openai/gpt"));
    assert_eq!(config.auth.order.len(), 1);
    assert_eq!(config.auth.aws_sdk.len(), 1);
    assert!(config.exists && !config.names_no_model());
}

#[test]
fn wrong_values_are_told_with_their_place() {
    for (name, text) in [
        (
            "fallbacks",
            "{\n  agents: {\n    defaults: { model: { primary: 'a/b', fallbacks: 'c/d' } },\n  },\n}",
        ),
        (
            "cooldown",
            "{\n  auth: {\n    cooldowns: { billingBackoffHours: 'soon' },\n  },\n}",
        ),
        ("order", "{ auth: { order: { openai: 'openai:work' } } }"),
        (
            "timeout",
            "{ models: { providers: { relay: { timeoutSeconds: -1 } } } }",
        ),
    ] {
        insta::assert_snapshot!(name, parse(text).unwrap_err());
    }
}

#[test]
fn nothing_is_named_until_a_model_or_a_provider_is() {
    for (text, expected) in [
        ("{}", true),
        ("{ agents: { list: [{ id: 'a' }] } }", true),
        ("{ agents: { defaults: { model: 'a/b' } } }", false),
        (
            "{ agents: { defaults: { model: { fallbacks: ['a/b'] } } } }",
            false,
        ),
        ("{ agents: { defaults: { model: { fallbacks: [] } } } }", true),
        ("{ agents: { list: [{ id: 'a', model: 'a/b' }] } }", false),
        (
            "{ models: { providers: { relay: { baseUrl: 'http://h' } } } }",
            false,
        ),
    ] {
        assert_eq!(parse(text).unwrap().names_no_model(), expected, "{text}");
    }
}

#[test]
fn a_found_chain_becomes_the_default_one() {
    let found: Vec<ModelRef> = ["a/b", "c/d"].iter().map(|text| text.parse().unwrap()).collect();
    let config = Config::default().with_default_chain(found.iter());
    assert_eq!(config.chain.agents.defaults.model.primary(), Some("a/b"));
    assert_eq!(
        config.chain.agents.defaults.model.fallbacks(),
        Some(&["c/d".to_owned()][..])
    );
    assert!(Config::default().with_default_chain([].iter()).names_no_model());
}

#[test]
fn files_are_optional_and_our_settings_are_apart() {
    let directory = tempfile::tempdir().unwrap();
    let (path, failover) = (
        directory.path().join("openclaw.json"),
        directory.path().join("failover.json5"),
    );
    let config = Config::load(&path, &failover).unwrap();
    assert!(!config.exists);
    assert_eq!(config.failover, FailoverConfig::default());

    std::fs::write(&failover, "{ inlineWaitMs: 100, bodyModelPolicy: 'strict' }").unwrap();
    let config = Config::load(&path, &failover).unwrap();
    assert_eq!(config.failover.inline_wait_ms, 100);
    assert_eq!(config.failover.body_model_policy, BodyModelPolicy::Strict);

    std::fs::write(&failover, "{ bodyModelPolicy: 'maybe' }").unwrap();
    let error = Config::load(&path, &failover).unwrap_err().to_string();
    assert!(error.contains("failover.json5:1:"), "{error}");
}

fn failover(text: &str) -> Result<FailoverConfig, FileError> {
    Config::parse_failover(Path::new("/c/failover.json5"), text)
}

#[test]
fn d8_bypassed_providers_reach_the_cooldown_settings() {
    let (own, other) = (
        ProviderId::try_new("openrouter").unwrap(),
        ProviderId::try_new("openai").unwrap(),
    );
    let config = parse("{}").unwrap();
    assert!(!config.auth.cooldowns.bypasses(&own), "empty by default");
    let config = config.with_failover(failover("{ cooldownBypass: [' OpenRouter '] }").unwrap());
    assert!(config.auth.cooldowns.bypasses(&own));
    assert!(!config.auth.cooldowns.bypasses(&other));
}

#[test]
fn wrong_settings_of_our_own_are_told_with_their_place() {
    let wrong = [
        "{\n  bodyModelPolicy: 'maybe' }",
        "{ cooldownBypass: 'openrouter' }",
        "{ cooldownBypass: ['openrouter', ' '] }",
        "{ cooldownBypass: [{}] }",
        "{ inlineWait: true }",
        "{ inlineWaitMs: -1 }",
        "{ inlineWaitMs: 'soon' }",
        "{ maxAttempts: 0 }",
        "{ deadlines: { all: { runMs: 1.5 } } }",
        "{ deadlines: { all: { idleMs: 0 } } }",
        "{ deadlines: { models: { slow: { headMs: 1 } } } }",
        "{ deadlines: { providers: 5 } }",
        "{ notices: 'loud' }",
        "{ advanceOnFormat: 'yes' }",
        "{ allowFormatRetry: 1 }",
        "{ logins: { openai: 'me' } }",
        "{ logins: { openai: { tokenUrl: 'http://id.example/token' } } }",
        "{ logins: { openai: { baseUrl: 'chatgpt.com' } } }",
        "{ logins: { openai: { tokenBody: 'xml' } } }",
        "{ inlineWait: 'last',\n  inlineWaitMS: 5 }",
        "{ historyy: {} }",
        "{ history: { maxDays: 3 } }",
        "{ deadlines: { idleMs: 1 } }",
        "{ deadlines: { providers: { a: { idle: 1 } } } }",
        "{ logins: { openai: { token_url: 'https://id.example' } } }",
        "{ stream: { rescues: 'splice' } }",
        "{ 'sk-live-0123456789abcdefghijkl': 1 }",
        "[]",
    ];
    let told: Vec<String> = wrong
        .iter()
        .map(|text| format!("{text}\n    {}", failover(text).unwrap_err()))
        .collect();
    insta::assert_snapshot!("failover", told.join("\n"));
}

#[test]
fn wrong_places_of_secrets_are_told_with_their_place() {
    let wrong = [
        "{ secrets: { providers: { vault: { source: 'file' } } } }",
        "{ secrets: { providers: { vault: { source: 'file', path: 7 } } } }",
        "{ secrets: { providers: { vault: { source: 'exec', command: '/x', timeoutMs: 0 } } } }",
        "{ secrets: { providers: { vault: 'file' } } }",
    ];
    let told: Vec<String> = wrong
        .iter()
        .map(|text| format!("{text}\n    {}", parse(text).unwrap_err()))
        .collect();
    insta::assert_snapshot!("secrets", told.join("\n"));
    let other = parse("{ secrets: { providers: { chain: { source: 'keychain', x: 1 } } } }").unwrap();
    assert_eq!(other.secrets.providers["chain"], SecretProvider::Other);
}
