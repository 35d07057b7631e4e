//! Which profile may serve which provider, row by row.

use serde_json::{Value, json};

use super::*;

const NOW: i64 = 1_750_000_000_000;

fn now() -> Timestamp {
    Timestamp::from_millisecond(NOW).unwrap()
}

fn asked(entry: Option<Value>, auth: Value, provider: &str) -> &'static str {
    let id: ProfileId = "x".parse().unwrap();
    let mut snapshot = AuthSnapshot::default();
    if let Some(entry) = entry {
        snapshot
            .profiles
            .insert(id.clone(), Credential::from_json(&entry).unwrap());
    }
    let mut config: AuthConfig = serde_json::from_value(auth).unwrap();
    config.aws_sdk.insert("bedrock".parse().unwrap());
    let provider = provider.parse().unwrap();
    eligibility(&snapshot, &config, &AuthAliases::default(), &provider, &id, now()).as_str()
}

#[test]
fn rows_of_11_1() {
    for (entry, code) in [
        (
            json!({"type": "api_key", "key": "openclaw onboard --x --auth-choice y"}),
            "malformed_api_key",
        ),
        (
            json!({"type": "api_key", "key": " OpenClaw Onboard --AUTH-CHOICE=token"}),
            "malformed_api_key",
        ),
        (json!({"type": "api_key", "key": "openclaw onboard"}), "ok"),
        (
            json!({"type": "api_key", "key": "--auth-choice openclaw onboard"}),
            "ok",
        ),
        (json!({"type": "api_key"}), "missing_credential"),
        (json!({"type": "api_key", "key": " "}), "missing_credential"),
        (
            json!({"type": "api_key", "keyRef": {"source": "env"}}),
            "missing_credential",
        ),
        (json!({"type": "api_key", "keyRef": "$A"}), "ok"),
        (json!({"type": "token", "expires": 1}), "missing_credential"),
        (json!({"type": "token", "tokenRef": "$A"}), "ok"),
        (
            json!({"type": "token", "token": "t", "expires": 0}),
            "invalid_expires",
        ),
        (
            json!({"type": "token", "token": "t", "expires": "2030"}),
            "invalid_expires",
        ),
        (
            json!({"type": "token", "token": "t", "expires": 8_640_000_000_000_001_i64}),
            "invalid_expires",
        ),
        (
            json!({"type": "token", "token": "t", "expires": 8_640_000_000_000_000_i64}),
            "ok",
        ),
        (
            json!({"type": "token", "token": "t", "expires": NOW - 1}),
            "expired",
        ),
        (json!({"type": "token", "token": "t", "expires": NOW}), "expired"),
        (json!({"type": "token", "token": "t", "expires": NOW + 1}), "ok"),
        (json!({"type": "token", "token": "t"}), "ok"),
        (
            json!({"type": "oauth", "access": "", "refresh": " "}),
            "missing_credential",
        ),
        (
            json!({"type": "oauth", "oauthRef": {"source": "openclaw-credentials", "provider": "openai-codex",
                "id": "0123456789abcdef0123456789abcdef"}}),
            "unresolved_ref",
        ),
        (json!({"type": "oauth", "refresh": "r"}), "ok"),
        (
            json!({"type": "oauth", "access": "a", "refresh": "r", "expires": NOW - 1}),
            "ok",
        ),
        (json!({"type": "oauth", "access": "a", "expires": 0}), "ok"),
    ] {
        let mut whole = entry.clone();
        whole["provider"] = "p".into();
        assert_eq!(asked(Some(whole), json!({}), "p"), code, "{entry}");
    }
}

#[test]
fn rows_of_11_2() {
    let key = |provider: &str| Some(json!({"type": "api_key", "provider": provider, "key": "k"}));
    let token = || Some(json!({"type": "token", "provider": "p", "token": "t"}));
    let login = || Some(json!({"type": "oauth", "provider": "p", "access": "a"}));
    let says = |provider: &str, mode: &str| json!({"profiles": {"x": {"provider": provider, "mode": mode}}});
    for (entry, auth, provider, code) in [
        (None, says("bedrock", "aws-sdk"), "bedrock", "ok"),
        (None, says("bedrock", "aws-sdk"), "p", "profile_missing"),
        (None, says("p", "aws-sdk"), "p", "profile_missing"),
        (None, says("bedrock", "api_key"), "bedrock", "profile_missing"),
        (None, json!({}), "p", "profile_missing"),
        (key("q"), json!({}), "p", "provider_mismatch"),
        (key("minimax-cn"), json!({}), "minimax", "ok"),
        (key("p"), says("q", "api_key"), "p", "provider_mismatch"),
        (key("p"), says("p", "api_key"), "p", "ok"),
        (key("p"), says("p", "token"), "p", "mode_mismatch"),
        (key("p"), says("p", "aws-sdk"), "p", "mode_mismatch"),
        (token(), says("p", "oauth"), "p", "ok"),
        (token(), says("p", "token"), "p", "ok"),
        (token(), says("p", "api_key"), "p", "mode_mismatch"),
        (login(), says("p", "oauth"), "p", "ok"),
        (login(), says("p", "token"), "p", "mode_mismatch"),
    ] {
        assert_eq!(
            asked(entry.clone(), auth.clone(), provider),
            code,
            "{entry:?} {auth} {provider}"
        );
    }
}
