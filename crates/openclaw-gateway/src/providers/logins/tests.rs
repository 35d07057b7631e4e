//! Where logins are used and refreshed, as known and as configured.

use serde_json::{Value, json};

use super::*;

fn credential(entry: &Value) -> Credential {
    Credential::from_json(entry).unwrap()
}

fn login(provider: &str) -> Credential {
    credential(&json!({"type": "oauth", "provider": provider, "access": "a", "accountId": "acc"}))
}

fn key(provider: &str) -> Credential {
    credential(&json!({"type": "api_key", "provider": provider, "key": "k"}))
}

fn token(provider: &str) -> Credential {
    credential(&json!({"type": "token", "provider": provider, "token": "t"}))
}

fn id(text: &str) -> ProviderId {
    ProviderId::try_new(text).unwrap()
}

fn configured(text: &str) -> LoginEndpoints {
    let configs: LoginConfigs = json5::from_str(text).unwrap();
    LoginEndpoints::new(&configs)
}

#[test]
fn every_row_can_be_used_and_is_there_once() {
    let logins = PROVIDERS
        .iter()
        .filter_map(|row| Some((row.id, row.login.as_ref()?)));
    for (provider, login) in logins {
        assert!(LoginUrl::try_new(login.token_url).is_ok(), "{provider}");
        assert!(
            login.usage_url.is_none_or(|url| LoginUrl::try_new(url).is_ok()),
            "{provider}"
        );
        assert!(!login.formats.is_empty() && !login.client_id.is_empty());
        assert_eq!(known(&id(provider)), Some(login));
        assert_eq!(AuthAliases::default().auth_id(&id(provider)).as_str(), provider);
    }
}

#[test]
fn logins_are_good_for_the_formats_that_are_answered_to_them() {
    let endpoints = LoginEndpoints::new(&LoginConfigs::new());
    for (credential, chat, messages, responses) in [
        (login("openai"), false, false, true),
        (key("openai"), true, true, true),
        (token("openai"), true, true, true),
        (login("anthropic"), false, true, false),
        (token("anthropic"), false, true, false),
        (login("claude-cli"), false, true, false),
        (key("anthropic"), true, true, true),
        (login("relay"), true, true, true),
    ] {
        let serves = |wire| endpoints.serves(&credential, wire);
        let found = (
            serves(WireFormat::ChatCompletions),
            serves(WireFormat::Messages),
            serves(WireFormat::Responses),
        );
        assert_eq!(found, (chat, messages, responses), "{credential:?}");
    }
}

#[test]
fn a_login_has_an_address_of_its_own_where_one_is_known_or_configured() {
    let base_url = |endpoints: &LoginEndpoints, credential: &Credential| {
        let endpoint = endpoints.endpoint_of(credential)?;
        Some(endpoint.base_url().to_owned())
    };
    let known = LoginEndpoints::new(&LoginConfigs::new());
    assert_eq!(
        base_url(&known, &login("openai")).as_deref(),
        Some("https://chatgpt.com/backend-api/codex")
    );
    for credential in [key("openai"), token("openai"), login("anthropic"), login("relay")] {
        assert_eq!(base_url(&known, &credential), None);
    }
    let moved = configured(
        "{ OpenAI: { baseUrl: 'http://127.0.0.1:9/codex' }, 'claude-cli': { baseUrl: 'https://ignored.example' },
           anthropic: { baseUrl: 'https://gate.example/v1' }, relay: { baseUrl: 'https://relay.example/oauth' } }",
    );
    for (credential, expected) in [
        (login("openai"), Some("http://127.0.0.1:9/codex")),
        (login("anthropic"), Some("https://gate.example/v1")),
        (token("anthropic"), Some("https://gate.example/v1")),
        (login("relay"), Some("https://relay.example/oauth")),
        (token("relay"), None),
    ] {
        assert_eq!(
            base_url(&moved, &credential).as_deref(),
            expected,
            "{credential:?}"
        );
    }
    let (name, value) = known.account_header(&login("openai")).unwrap();
    assert_eq!(
        (name.as_str(), value.to_str().unwrap()),
        ("chatgpt-account-id", "acc")
    );
    assert!(value.is_sensitive());
    assert!(known.account_header(&login("anthropic")).is_none());
}

#[test]
fn where_a_login_is_refreshed() {
    let known = LoginEndpoints::new(&LoginConfigs::new());
    assert!(known.oauth_config(&id("relay")).is_none());
    let place = known.oauth_config(&id("claude-cli")).unwrap();
    assert_eq!(place.body, TokenBody::Json);
    let configured = configured(
        "{ openai: { tokenUrl: 'http://127.0.0.1:9/token' },
           relay: { tokenUrl: 'https://id.example/token', clientId: 'c', clientSecret: '$SECRET', scope: 'all', tokenBody: 'json' } }",
    );
    let place = configured.oauth_config(&id("openai")).unwrap();
    assert_eq!(place.url.as_url().as_str(), "http://127.0.0.1:9/token");
    assert_eq!(place.body, TokenBody::Form);
    assert!(place.client_id.is_some(), "what is not configured stays as known");
    let place = configured.oauth_config(&id("relay")).unwrap();
    assert_eq!(
        (place.client_id.as_deref(), place.scope.as_deref()),
        (Some("c"), Some("all"))
    );
    assert!(!format!("{place:?}").contains("SECRET"));
    assert_eq!(configured.usage_url(&id("relay")), None);
    assert!(known.usage_url(&id("openai")).is_some());
}
