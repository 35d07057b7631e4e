//! Resolution of references, and the errors of those that cannot be resolved.

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

fn command(alias: &str, id: &str) -> Option<std::io::Result<String>> {
    match (alias, id) {
        ("op", "item") => Some(Ok("from-command\n".to_owned())),
        ("op", "blank") => Some(Ok(" \n".to_owned())),
        ("op", _) => Some(Err(std::io::Error::other("exit code 1"))),
        _ => None,
    }
}

fn resolve(entry: Value, file: Option<PathBuf>) -> Result<Option<String>, String> {
    let credential = Credential::from_json(&entry).unwrap();
    let places = SecretLookup {
        env: &env,
        file: &|alias| {
            let path = file.clone().filter(|_| alias == "vault")?;
            let text = std::fs::read_to_string(&path);
            Some((path, text))
        },
        exec: &command,
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
            json!({"type": "oauth", "provider": "p", "access": " a ", "refresh": "r"}),
            Some("a"),
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
}

#[test]
fn pointers_to_commands() {
    let ask = |provider: &str, id: &str| {
        let pointer = json!({"source": "exec", "provider": provider, "id": id});
        resolve(
            json!({"type": "api_key", "provider": "p", "keyRef": pointer}),
            None,
        )
    };
    assert_eq!(ask("op", "item"), Ok(Some("from-command".to_owned())));
    for (provider, id, says) in [
        ("op", "blank", "command `op` gave no secret for `blank`"),
        ("op", "other", "command `op` gave no secret for `other`"),
        ("op", "--help", "`--help`, which is no id for a command"),
        ("none", "item", "no command is configured as `none`"),
    ] {
        let error = ask(provider, id).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

/// The policy guard of 4.4.
#[test]
fn a_login_is_never_a_pointer() {
    let config: crate::AuthConfig =
        serde_json::from_value(json!({"profiles": {"login": {"provider": "p", "mode": "oauth"}}})).unwrap();
    let pointer = || json!({"source": "env", "provider": "default", "id": "A"});
    let login = |member: &str, value: Value| {
        let mut entry = json!({"type": "oauth", "provider": "p", "access": "a", "refresh": "r"});
        entry[member] = value;
        entry
    };
    for (id, entry, refused) in [
        ("other", login("access", pointer()), Some("access")),
        ("other", login("refresh", pointer()), Some("refresh")),
        ("other", login("access", json!("$A")), Some("access")),
        ("other", login("token", json!("$A")), Some("token")),
        ("other", login("tokenRef", pointer()), Some("tokenRef")),
        ("other", login("key", pointer()), Some("key")),
        ("other", login("keyRef", pointer()), Some("keyRef")),
        ("other", login("note", pointer()), None),
        (
            "other",
            json!({"type": "api_key", "provider": "p", "keyRef": "$A"}),
            None,
        ),
        (
            "login",
            json!({"type": "api_key", "provider": "p", "keyRef": "$A"}),
            Some("keyRef"),
        ),
        (
            "login",
            json!({"type": "api_key", "provider": "p", "key": "$A"}),
            Some("key"),
        ),
        (
            "login",
            json!({"type": "api_key", "provider": "p", "key": "k"}),
            None,
        ),
        (
            "login",
            json!({"type": "token", "provider": "p", "tokenRef": "$A"}),
            Some("tokenRef"),
        ),
        (
            "login",
            json!({"type": "token", "provider": "p", "token": "$A"}),
            Some("token"),
        ),
        (
            "login",
            json!({"type": "token", "provider": "p", "token": "t"}),
            None,
        ),
    ] {
        let id: ProfileId = id.parse().unwrap();
        let credential = Credential::from_json(&entry).unwrap();
        let stored = credential.to_json().unwrap();
        assert_eq!(
            stored.get("access"),
            entry.get("access"),
            "what is refused is not lost"
        );
        let mut snapshot = AuthSnapshot::default();
        snapshot.profiles.insert(id.clone(), credential);
        let member = match profile_secret(&snapshot, &config, &id, SecretLookup::env(&env)) {
            Err(SecretError::LoginPointer { member }) => Some(member),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        };
        assert_eq!(member, refused, "{id} {entry}");
    }
}
