#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::*;

fn env(name: &str) -> Option<String> {
    match name {
        "A" => Some(" from-env\n".to_owned()),
        "BLANK" => Some("  ".to_owned()),
        _ => None,
    }
}

fn resolve(entry: Value, file: Option<PathBuf>) -> Result<Option<String>, String> {
    let credential = Credential::from_json(&entry).unwrap();
    let places = SecretPlaces {
        env: &env,
        file: &|alias| file.clone().filter(|_| alias == "vault"),
    };
    match resolve_secret_from(&credential, places) {
        Ok(secret) => Ok(secret.map(|secret| secret.expose_secret().to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn rows_of_4_4() {
    for (entry, sent) in [
        (
            json!({"type": "api_key", "provider": "p", "key": " sk\n1 "}),
            Some("sk1"),
        ),
        (
            json!({"type": "api_key", "provider": "p", "key": "$A"}),
            Some("from-env"),
        ),
        // A text that only looks like a pointer is sent as it is.
        (
            json!({"type": "api_key", "provider": "p", "key": "$GONE"}),
            Some("$GONE"),
        ),
        (
            json!({"type": "api_key", "provider": "p", "key": "\u{2028}"}),
            None,
        ),
        (json!({"type": "api_key", "provider": "p"}), None),
        (
            json!({"type": "api_key", "provider": "p", "key": "sk", "keyRef": "$A"}),
            Some("from-env"),
        ),
        (
            json!({"type": "token", "provider": "p", "token": "t", "tokenRef": "$A"}),
            Some("t"),
        ),
        (
            json!({"type": "token", "provider": "p", "token": " ", "tokenRef": "$A"}),
            Some("from-env"),
        ),
        (json!({"type": "token", "provider": "p"}), None),
        (
            json!({"type": "oauth", "provider": "p", "access": "$A", "refresh": "r"}),
            Some("$A"),
        ),
        (json!({"type": "oauth", "provider": "p", "refresh": "r"}), None),
    ] {
        assert_eq!(
            resolve(entry.clone(), None),
            Ok(sent.map(str::to_owned)),
            "{entry}"
        );
    }
}

#[test]
fn what_needs_no_credential_sends_none() {
    let local = Credential::local(openclaw_ids::ProviderId::try_new("ollama").unwrap());
    assert!(resolve_secret(&local, &env).unwrap().is_none());
}

#[test]
fn pointers_into_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secrets.json");
    std::fs::write(&path, r#"{"groq": {"key": "gsk-1", "old/one": "x", "n": 1}}"#).unwrap();
    let file = |id: &str, alias: &str| {
        let entry = json!({"type": "api_key", "provider": "p",
            "keyRef": {"source": "file", "provider": alias, "id": id}});
        resolve(entry, Some(path.clone()))
    };
    assert_eq!(file("/groq/key", "vault"), Ok(Some("gsk-1".to_owned())));
    assert_eq!(file("/groq/old~1one", "vault"), Ok(Some("x".to_owned())));
    assert!(
        file("/groq/n", "vault")
            .unwrap_err()
            .contains("has no text at `/groq/n`")
    );
    assert!(
        file("/groq/gone", "vault")
            .unwrap_err()
            .contains("correct the pointer")
    );
    assert!(
        file("value", "other")
            .unwrap_err()
            .contains("no secrets file is configured as `other`")
    );
    std::fs::write(&path, "gsk-2\n").unwrap();
    assert_eq!(file("value", "vault"), Ok(Some("gsk-2".to_owned())));
    assert!(file("/groq/key", "vault").is_err());
    std::fs::remove_file(&path).unwrap();
    assert!(file("value", "vault").unwrap_err().contains("cannot be read"));
}

#[test]
fn pointers_that_lead_nowhere_say_what_to_do() {
    let pointer = |source: &str, id: &str| {
        let entry = json!({"type": "token", "provider": "p", "tokenRef": {"source": source, "id": id}});
        resolve(entry, None).unwrap_err()
    };
    assert!(pointer("env", "GONE").contains("`GONE` is not set"));
    assert!(pointer("env", "BLANK").contains("`BLANK` is not set"));
    assert!(pointer("exec", "op").contains("is not run here"));
}
