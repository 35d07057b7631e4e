//! Stored entries of every shape and age: read, refused, written back.

#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(entry: Value) -> Result<Credential, Rejection> {
    Credential::from_json(&entry)
}

/// What is written back for an entry, unknown members included.
fn rewritten(entry: Value) -> Value {
    read(entry).unwrap().to_json().unwrap()
}

#[test]
fn rejected_entries_of_4_2() {
    for (entry, rejection) in [
        (json!(null), Rejection::NonObject),
        (json!("sk-1"), Rejection::NonObject),
        (json!([]), Rejection::NonObject),
        (json!({}), Rejection::InvalidType),
        (
            json!({"type": 1, "mode": "token", "provider": "p"}),
            Rejection::InvalidType,
        ),
        (
            json!({"type": "aws-sdk", "provider": "p"}),
            Rejection::InvalidType,
        ),
        (json!({"type": "local", "provider": "p"}), Rejection::InvalidType),
        (
            json!({"type": "API_KEY", "provider": "p"}),
            Rejection::InvalidType,
        ),
        (json!({"type": "token"}), Rejection::MissingProvider),
        (
            json!({"type": "token", "provider": " "}),
            Rejection::MissingProvider,
        ),
        (
            json!({"type": "token", "provider": 5}),
            Rejection::MissingProvider,
        ),
    ] {
        assert_eq!(read(entry.clone()).err(), Some(rejection), "{entry}");
    }
}

#[test]
fn coerced_entries_of_4_2() {
    let pointer = json!({"source": "env", "provider": "default", "id": "A"});
    for (entry, stored) in [
        // 2: `mode` stands in for `type`, `apiKey` for `api_key`
        (
            json!({"mode": "apiKey", "provider": " P "}),
            json!({"type": "api_key", "provider": "p"}),
        ),
        // 3: `apiKey` stands in for `key`
        (
            json!({"type": "api_key", "provider": "p", "apiKey": "k"}),
            json!({"type": "api_key", "provider": "p", "key": "k"}),
        ),
        (
            json!({"type": "api_key", "provider": "p", "key": "k", "apiKey": "other"}),
            json!({"type": "api_key", "provider": "p", "key": "k", "apiKey": "other"}),
        ),
        // 4: a reference in the secret's place moves, anything else that is not text is dropped
        (
            json!({"type": "api_key", "provider": "p", "key": pointer}),
            json!({"type": "api_key", "provider": "p", "keyRef": pointer}),
        ),
        (
            json!({"type": "token", "provider": "p", "token": {"source": "env", "id": "A"}}),
            json!({"type": "token", "provider": "p", "tokenRef": pointer}),
        ),
        (
            json!({"type": "token", "provider": "p", "token": 7}),
            json!({"type": "token", "provider": "p"}),
        ),
        // 6: blanks are removed, everything else stays as it is
        (
            json!({"type": "oauth", "provider": "p", "access": " a ", "refresh": "  ", "email": "", "displayName": " D "}),
            json!({"type": "oauth", "provider": "p", "access": " a ", "displayName": " D "}),
        ),
        (
            json!({"type": "api_key", "provider": "p", "metadata": {"a": "1", "b": 2}, "copyToAgents": "yes"}),
            json!({"type": "api_key", "provider": "p", "metadata": {"a": "1"}}),
        ),
        (
            json!({"type": "api_key", "provider": "p", "metadata": {}, "copyToAgents": false}),
            json!({"type": "api_key", "provider": "p", "copyToAgents": false}),
        ),
        // 7 and C1: the reference excludes the key; the token beside a reference is not stored
        (
            json!({"type": "api_key", "provider": "p", "key": "k", "keyRef": "$A"}),
            json!({"type": "api_key", "provider": "p", "keyRef": pointer}),
        ),
        (
            json!({"type": "token", "provider": "p", "token": "t", "tokenRef": pointer}),
            json!({"type": "token", "provider": "p", "tokenRef": pointer}),
        ),
        // 4.1: every oauth field
        (
            json!({"type": "oauth", "provider": "p", "access": "a", "refresh": "r", "idToken": "i", "expires": 5,
                "accountId": "acc", "chatgptPlanType": "pro", "clientId": "c", "enterpriseUrl": "u", "projectId": "j",
                "oauthRef": {"source": "openclaw-credentials", "provider": "openai-codex",
                    "id": "0123456789abcdef0123456789abcdef"}, "email": "e"}),
            json!({"type": "oauth", "provider": "p", "access": "a", "refresh": "r", "idToken": "i", "expires": 5,
                "accountId": "acc", "chatgptPlanType": "pro", "clientId": "c", "enterpriseUrl": "u", "projectId": "j",
                "oauthRef": {"source": "openclaw-credentials", "provider": "openai-codex",
                    "id": "0123456789abcdef0123456789abcdef"}, "email": "e"}),
        ),
        (
            json!({"type": "oauth", "provider": "p", "oauthRef": {"source": "openclaw-credentials",
                "provider": "openai-codex", "id": "0123"}}),
            json!({"type": "oauth", "provider": "p"}),
        ),
    ] {
        assert_eq!(rewritten(entry.clone()), stored, "{entry}");
    }
}

#[test]
fn ends_of_4_2_rule_8() {
    let end = |expires: Value| {
        read(json!({"type": "token", "provider": "p", "token": "t", "expires": expires}))
            .unwrap()
            .expires()
    };
    for (value, expected) in [
        (json!(1), Expiry::At(1)),
        (json!(1_000.25), Expiry::At(1_001)),
        (
            json!(8_640_000_000_000_000_i64),
            Expiry::At(8_640_000_000_000_000),
        ),
        (json!(8_640_000_000_000_001_i64), Expiry::Invalid),
        (json!(1e300), Expiry::Invalid),
        (json!(0), Expiry::Invalid),
        (json!(-5), Expiry::Invalid),
        (json!(null), Expiry::Invalid),
        (json!("5"), Expiry::Invalid),
    ] {
        assert_eq!(end(value.clone()), Some(expected), "{value}");
    }
    assert_eq!(
        read(json!({"type": "token", "provider": "p"})).unwrap().expires(),
        None
    );
    assert_eq!(
        rewritten(json!({"type": "token", "provider": "p", "expires": "soon"}))["expires"],
        json!(0)
    );
}

#[test]
fn d13_unknown_members_come_back_verbatim() {
    let entry =
        json!({"type": "token", "provider": "p", "token": "t", "mode": "odd", "future": {"a": [1, null]}});
    assert_eq!(rewritten(entry.clone()), entry);
}

#[test]
fn x4_what_needs_no_credential_is_never_stored() {
    let local = Credential::local(ProviderId::try_new("ollama").unwrap());
    assert_eq!(local.to_json(), None);
    assert_eq!((local.mode(), local.fingerprint()), ("local", None));
}

#[cfg(feature = "sqlite")]
#[test]
fn x4_ambient_ids_are_told_by_their_name() {
    for (id, ambient) in [
        ("openai:env", true),
        ("openai:config", true),
        ("ollama:local", true),
        ("openai:default", false),
        ("env", false),
        ("openai:envy", false),
    ] {
        assert_eq!(is_ambient_id(&ProfileId::try_new(id).unwrap()), ambient, "{id}");
    }
}

#[test]
fn d9_what_makes_a_fingerprint() {
    let print = |entry: Value| read(entry).unwrap().fingerprint();
    let key = print(json!({"type": "api_key", "provider": "p", "key": "k"}));
    assert_eq!(key.as_ref().map(String::len), Some(16));
    // The text decides, not the kind of profile or the provider.
    assert_eq!(
        print(json!({"type": "token", "provider": "q", "token": "k"})),
        key
    );
    assert_ne!(
        print(json!({"type": "api_key", "provider": "p", "key": "k2"})),
        key
    );
    // What a reference resolves to is not known to the credential.
    for pointer in [
        json!({"type": "api_key", "provider": "p", "keyRef": "$A"}),
        json!({"type": "api_key", "provider": "p", "key": "$A"}),
        json!({"type": "token", "provider": "p", "token": "t", "tokenRef": "$A"}),
    ] {
        assert_eq!(print(pointer.clone()), None, "{pointer}");
    }
    let login = |access: &str, account: Option<&str>, email: Option<&str>| {
        print(
            json!({"type": "oauth", "provider": "p", "access": access, "accountId": account, "email": email}),
        )
    };
    assert_eq!(login("a", Some("x"), Some("e")), login("b", Some("x"), Some("f")));
    assert_ne!(login("a", Some("x"), None), login("a", Some("y"), None));
    assert_eq!(login("a", None, Some("Me@X")), login("b", None, Some("me@x")));
    assert_ne!(login("a", None, Some("x")), login("a", Some("x"), None));
    assert_eq!(login("a", None, None), None);
    assert_eq!(print(json!({"type": "api_key", "provider": "p"})), None);
}

#[test]
fn bl_84_debug_shows_no_secret_and_no_account() {
    let secret = "hush";
    for entry in [
        json!({"type": "api_key", "provider": "p", "key": "hush", "metadata": {"m": "hush"}, "x": "hush", "email": "hush"}),
        json!({"type": "token", "provider": "p", "token": "hush", "displayName": "hush"}),
        json!({"type": "oauth", "provider": "p", "access": "hush", "refresh": "hush", "idToken": "hush",
            "accountId": "hush", "clientId": "hush", "projectId": "hush", "enterpriseUrl": "hush"}),
    ] {
        let shown = format!("{:#?}", read(entry).unwrap());
        assert!(!shown.contains(secret), "{shown}");
        assert!(shown.contains("[redacted]"), "{shown}");
    }
}

/// Any JSON a few levels deep, with the known member names.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            "api_key", "apiKey", "token", "oauth", "env", "$A", "p", " ", "\u{2028}"
        ])
        .prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "type",
        "mode",
        "provider",
        "key",
        "apiKey",
        "keyRef",
        "token",
        "tokenRef",
        "access",
        "refresh",
        "expires",
        "email",
        "metadata",
        "copyToAgents",
        "oauthRef",
        "source",
        "id",
        "future",
    ]);
    leaf.prop_recursive(3, 24, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..8).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

proptest! {
    /// Every stored value is a credential or a rejection, and a credential survives being stored.
    #[test]
    fn a_stored_credential_reads_back_as_itself(entry in any_json()) {
        if let Ok(read) = Credential::from_json(&entry) {
            let stored = read.to_json().unwrap();
            let again = Credential::from_json(&stored).unwrap();
            prop_assert_eq!(again.to_json().unwrap(), stored);
            prop_assert_eq!(again.fingerprint(), read.fingerprint());
            prop_assert_eq!(again.expires(), read.expires());
        }
    }
}
