//! The `auth` section: valid forms, and the errors of invalid ones.

use serde_json::{Value, json};

use super::*;

fn read(section: Value) -> Result<AuthConfig, String> {
    serde_json::from_value(section).map_err(|error| error.to_string())
}

#[test]
fn the_section_of_5_2_and_what_is_ignored() {
    let config = read(json!({
        "profiles": {" openai:work ": {"provider": "OpenAI", "mode": "aws-sdk", "email": "me@example.com", "note": 1}},
        "order": {"OpenAI": ["b", "a", "b"], "openai": ["c"], "groq": []},
        "future": true
    }))
    .unwrap();
    let (id, profile) = config.profiles.first().unwrap();
    assert_eq!(
        (id.as_str(), profile.provider.as_str()),
        ("openai:work", "openai")
    );
    assert_eq!(
        (profile.mode.as_str(), profile.email.as_deref()),
        ("aws-sdk", Some("me@example.com"))
    );
    let order: Vec<_> = config
        .order
        .iter()
        .map(|(p, ids)| (p.as_str(), ids.len()))
        .collect();
    assert_eq!(order, [("openai", 3), ("groq", 0)]);
    assert_eq!(read(json!({})).unwrap(), AuthConfig::default());
}

#[test]
fn errors_say_what_is_expected() {
    for (section, hint) in [
        (json!("sk"), "the `auth` section as an object"),
        (json!({"order": {"openai": "a"}}), "a list of profile ids such as"),
        (
            json!({"order": {"openai": [" "]}}),
            "profile is empty; give a name",
        ),
        (json!({"order": {" ": []}}), "provider is empty; give a name"),
        (json!({"order": []}), "an object with one entry per id"),
        (
            json!({"profiles": {"a": {"provider": "p", "mode": "key"}}}),
            "expected one of `api_key`, `aws-sdk`",
        ),
        (
            json!({"profiles": {"a": {"mode": "token"}}}),
            "missing field `provider`",
        ),
        (
            json!({"profiles": {"a": "sk"}}),
            "an object such as {provider: \"openai\"",
        ),
    ] {
        let error = read(section.clone()).unwrap_err();
        assert!(error.contains(hint), "{section}: {error}");
    }
}
