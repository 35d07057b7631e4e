//! Known providers, changed and added ones.

use std::path::Path;
use std::time::Duration;

use openclaw_config::{Config, Environment};

use super::*;

fn endpoints(models: &str) -> Result<Endpoints, ProviderError> {
    let config = Config::parse(
        Path::new("/c"),
        &format!("{{ models: {{ providers: {models} }} }}"),
    )
    .unwrap();
    let environment = Environment::of([("TEAM_KEY", "t1")], Path::new("/"));
    Endpoints::try_new(
        &config.chain.models,
        &SecretSources::new(&config.secrets, &environment),
    )
}

fn id(text: &str) -> ProviderId {
    ProviderId::try_new(text).unwrap()
}

#[test]
fn known_providers_need_no_row_and_a_row_changes_only_what_it_says() {
    let endpoints = endpoints(
        "{ ' OpenAI ': { timeoutSeconds: 7 },
           groq: { baseUrl: ' http://127.0.0.1:9/x/ ' },
           relay: { baseUrl: 'https://relay.example/v1', headers: { 'x-team': '$TEAM_KEY', 'x-plain': 'p' } },
           nowhere: { models: [] } }",
    )
    .unwrap();
    for (provider, base_url) in [
        ("anthropic", "https://api.anthropic.com/v1"),
        ("openai", "https://api.openai.com/v1"),
        ("groq", "http://127.0.0.1:9/x"),
        ("relay", "https://relay.example/v1"),
    ] {
        let keys = endpoints.keys();
        let key = keys.get(&id(provider)).unwrap();
        assert_eq!(
            (key.provider.as_str(), key.base_url.as_str()),
            (provider, base_url)
        );
    }
    let limit = |provider| endpoints.get(&id(provider)).unwrap().answer_limit();
    assert_eq!(limit("openai"), Some(Duration::from_secs(7)));
    assert_eq!(limit("groq"), None);
    let headers = endpoints.get(&id("relay")).unwrap().headers();
    assert_eq!(
        (
            headers["x-team"].to_str().unwrap(),
            headers["x-plain"].to_str().unwrap()
        ),
        ("t1", "p")
    );
    assert!(!format!("{headers:?}").contains("t1"), "a header may be a secret");
    assert!(endpoints.get(&id("nowhere")).is_none());
}

#[test]
fn a_base_url_written_for_another_wire_format_leads_to_the_compatible_paths_beside_it() {
    for (row, base_url) in [
        (
            "ollama: { baseUrl: 'http://127.0.0.1:11434', api: 'ollama' }",
            "http://127.0.0.1:11434/v1",
        ),
        (
            "ollama: { baseUrl: 'http://10.0.0.7:11434/' }",
            "http://10.0.0.7:11434/v1",
        ),
        (
            "ollama: { baseUrl: 'http://10.0.0.7:11434/v1' }",
            "http://10.0.0.7:11434/v1",
        ),
        (
            "anthropic: { baseUrl: 'https://api.anthropic.com' }",
            "https://api.anthropic.com/v1",
        ),
        (
            "claude: { baseUrl: 'https://h', api: 'anthropic-messages' }",
            "https://h/v1",
        ),
        (
            "claude: { baseUrl: 'https://h/x', api: 'anthropic-messages' }",
            "https://h/x",
        ),
        (
            "g: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta', api: 'google-generative-ai' }",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
        (
            "relay: { baseUrl: 'https://h', api: 'openai-completions' }",
            "https://h",
        ),
    ] {
        let endpoints = endpoints(&format!("{{ {row} }}")).unwrap();
        let provider = id(row.split(':').next().unwrap());
        assert_eq!(endpoints.get(&provider).unwrap().base_url(), base_url, "{row}");
    }
}

#[test]
fn rows_that_cannot_be_called() {
    for (models, expected) in [
        (
            "{ relay: { baseUrl: 'relay.example' } }",
            "models.providers.relay.baseUrl cannot be used",
        ),
        (
            "{ relay: { baseUrl: 'http://h', headers: { 'a b': 'x' } } }",
            "models.providers.relay.headers.a b cannot be sent; names are tokens and values one line of text",
        ),
        (
            "{ relay: { baseUrl: 'http://h', headers: { 'Host': 'x' } } }",
            "models.providers.relay.headers.Host is set by each connection for itself; remove it",
        ),
        (
            "{ relay: { baseUrl: 'http://h', headers: { 'transfer-encoding': '$NOT_SET' } } }",
            "models.providers.relay.headers.transfer-encoding is set by each connection for itself; remove it",
        ),
    ] {
        assert_eq!(endpoints(models).err().unwrap().to_string(), expected);
    }
}

#[test]
fn a_header_without_its_secret_is_left_out_and_told() {
    let row = "{ relay: { baseUrl: 'http://h', headers: { a: '$NOT_SET', b: '$TEAM_KEY' } } }";
    let endpoints = endpoints(row).unwrap();
    let headers = endpoints.get(&id("relay")).unwrap().headers();
    assert_eq!((headers.len(), headers["b"].as_bytes()), (1, &b"t1"[..]));
    assert_eq!(
        endpoints.unusable()[0].to_string(),
        "models.providers.relay.headers.a: the header is not sent to `relay`: environment variable `NOT_SET` is not set; \
         set it and start again"
    );
}
