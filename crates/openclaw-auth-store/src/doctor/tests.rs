//! Each finding on its own.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::*;
use crate::store::conformance::{NOW, at, profile};
use crate::{AuthSnapshot, Credential};

#[test]
fn rows_of_9_6() {
    let mut work = json!({
        "profiles": {
            "openai-codex:me@x": {"type": "oauth", "provider": "openai-codex", "access": "a"},
            "OpenAI-Codex:": {"type": "oauth", "provider": "openai", "access": "b"},
            "mine": {"type": "oauth", "provider": " OpenAI-Codex ", "access": "c"},
            "openai:me@x": {"type": "api_key", "provider": "openai", "key": "k"},
        },
        "order": {"OpenAI-Codex": ["openai-codex:me@x", "mine"], "openai": ["openai:me@x", "mine"], "p": ["q"]},
        "lastGood": {"openai-codex": "mine"},
        "usageStats": {"openai-codex:me@x": {"errorCount": 1}, "openai:me@x": {"errorCount": 2}},
    });
    let mut config = json!({
        "auth": {
            "profiles": {"openai-codex:me@x": {"provider": "openai-codex", "mode": "oauth"},
                "openai:chatgpt-me@x": {"provider": "openai", "mode": "oauth"}},
            "order": {"openai-codex": ["openai-codex:me@x"]},
        },
        "agents": {"list": [{"model": {"authProfileId": "openai-codex:me@x"}}]},
    });
    let renames = codex_renames(std::slice::from_ref(&work), &config);
    let pairs: Vec<_> = renames.pairs().collect();
    assert_eq!(
        pairs,
        [
            ("OpenAI-Codex:", "openai:default"),
            ("mine", "openai:mine"),
            ("openai-codex:me@x", "openai:chatgpt-me@x-2"),
        ]
    );
    assert!(renames.apply_to_document(&mut work));
    assert_eq!(
        work,
        json!({
            "profiles": {
                "openai:chatgpt-me@x-2": {"type": "oauth", "provider": "openai", "access": "a"},
                "openai:default": {"type": "oauth", "provider": "openai", "access": "b"},
                "openai:mine": {"type": "oauth", "provider": "openai", "access": "c"},
                "openai:me@x": {"type": "api_key", "provider": "openai", "key": "k"},
            },
            "order": {"openai": ["openai:chatgpt-me@x-2", "openai:mine", "openai:me@x"], "p": ["q"]},
            "lastGood": {"openai": "openai:mine"},
            "usageStats": {"openai:chatgpt-me@x-2": {"errorCount": 1}, "openai:me@x": {"errorCount": 2}},
        })
    );
    assert!(renames.apply_to_config(&mut config));
    assert_eq!(
        config["auth"]["order"],
        json!({"openai": ["openai:chatgpt-me@x-2"]})
    );
    assert_eq!(
        config["auth"]["profiles"]["openai:chatgpt-me@x-2"],
        json!({"provider": "openai", "mode": "oauth"})
    );
    assert_eq!(
        config["agents"]["list"][0]["model"]["authProfileId"],
        "openai:chatgpt-me@x-2"
    );
    // Nothing is left to do.
    let again = codex_renames(std::slice::from_ref(&work), &config);
    assert_eq!(again, CodexRenames::default());
    assert!(!again.apply_to_document(&mut work) && !again.apply_to_config(&mut config));
}

#[test]
fn s9_6_last_good_moves_only_where_openai_had_none() {
    let mut document = json!({"profiles": {}, "lastGood": {"openai-codex": "a", "openai": "b"}});
    CodexRenames::default().apply_to_document(&mut document);
    assert_eq!(document["lastGood"], json!({"openai": "b"}));
}

#[test]
fn s9_5_cloud_markers_move_into_the_configuration() {
    let mut document = json!({"profiles": {
        "bedrock:a": {"type": "aws-sdk", "provider": "amazon-bedrock", "email": "e", "key": "gone"},
        "bedrock:b": {"mode": "aws-sdk", "provider": "amazon-bedrock"},
        "c": {"type": "aws-sdk"},
        "d": {"type": "api_key", "provider": "p", "key": "k"},
    }});
    let mut config = json!({"auth": {"profiles": {"bedrock:b": {"provider": "mine", "mode": "aws-sdk"}}}});
    assert_eq!(
        move_aws_markers(&mut document, &mut config),
        ["bedrock:a", "bedrock:b"]
    );
    let left: Vec<_> = document["profiles"].as_object().unwrap().keys().collect();
    assert_eq!(left, ["c", "d"], "what names no provider cannot be moved");
    assert_eq!(
        config,
        json!({"auth": {"profiles": {
            "bedrock:b": {"provider": "mine", "mode": "aws-sdk"},
            "bedrock:a": {"provider": "amazon-bedrock", "mode": "aws-sdk", "email": "e"},
        }}})
    );
    assert!(move_aws_markers(&mut document, &mut config).is_empty());
    let mut bare = json!({});
    assert!(move_aws_markers(&mut json!({}), &mut bare).is_empty());
    assert_eq!(bare, json!({}));
}

#[test]
fn g25_secrets_leave_the_configuration() {
    let mut config = json!({
        "auth": {
            "profiles": {
                "p:a": {"provider": "own", "mode": "api_key", "apiKey": "k1", "displayName": "d"},
                "p:b": {"api_key": "k2"},
                "c": {"mode": "token", "token": "t"},
                "d": {"access": "a", "refresh": "r", "expires": NOW},
                "e": {"key": "k"},
                "f": {"key": "k"},
                "g": {"provider": "p", "mode": "api_key"},
            },
            "order": {"Ordered": ["c"], "one": ["e"], "two": ["e"]},
        },
        "agents": {"defaults": {"model": {"primary": "named/m@d"}}},
    });
    let legacy = take_config_credentials(&mut config);
    let taken: Vec<_> = legacy
        .profiles()
        .iter()
        .map(|(id, credential)| format!("{id} {} {}", credential.provider(), credential.mode()))
        .collect();
    assert_eq!(
        taken,
        [
            "p:a own api_key",
            "p:b p api_key",
            "c ordered token",
            "d named oauth"
        ]
    );
    assert_eq!(
        config["auth"]["profiles"],
        json!({
            "p:a": {"provider": "own", "mode": "api_key", "displayName": "d"},
            "p:b": {"provider": "p", "mode": "api_key"},
            "c": {"mode": "token", "provider": "ordered"},
            "d": {"provider": "named", "mode": "oauth"},
            // Two providers use it, or none.
            "e": {"key": "k"},
            "f": {"key": "k"},
            "g": {"provider": "p", "mode": "api_key"},
        })
    );
    assert!(take_config_credentials(&mut config).is_empty());
}

#[test]
fn rows_of_9_8() {
    let login = |account: &str, access: &str, seconds: i64| {
        json!({"type": "oauth", "provider": "p", "accountId": account, "access": access,
            "expires": NOW + seconds * 1_000})
    };
    let holding = |entry: &Value| {
        let mut snapshot = AuthSnapshot::default();
        let credential = Credential::from_json(entry).unwrap();
        snapshot.upsert(profile("x"), credential).unwrap();
        snapshot
    };
    for (main, agent, stale) in [
        (login("a", "1", 10), login("a", "1", 10), true),
        (login("a", "1", 400), login("a", "2", 300), true),
        (login("a", "1", 400), login("a", "2", 400), true),
        (login("a", "1", 400), login("a", "2", 500), false),
        (login("b", "1", 400), login("a", "2", 300), false),
        (
            login("a", "1", 400),
            json!({"type": "oauth", "provider": "p", "accountId": "a", "access": "2"}),
            true,
        ),
        (
            json!({"type": "oauth", "provider": "p", "access": "1"}),
            login("a", "2", 300),
            false,
        ),
        (
            json!({"type": "api_key", "provider": "p", "key": "k"}),
            login("a", "2", 300),
            false,
        ),
    ] {
        let found = stale_copies(&holding(&main), &holding(&agent), at(0));
        assert_eq!(!found.is_empty(), stale, "{main} {agent}");
    }
}

#[test]
fn g32_a_repaired_file_has_a_copy_that_only_its_owner_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth-profiles.json");
    let add = |document: &mut Value| {
        document["new"] = 1.into();
        true
    };
    assert_eq!(repair_file(&path, "x", at(0), add).unwrap(), None, "no file");
    fs::write(&path, r#"{"old": 1}"#).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(
        repair_file(&path, "x", at(0), |_| false).unwrap(),
        None,
        "nothing to do"
    );
    let backup = repair_file(&path, "openai-provider-unification", at(0), add)
        .unwrap()
        .unwrap();
    let name = backup.file_name().unwrap().to_str().unwrap();
    assert_eq!(
        name,
        format!("auth-profiles.json.openai-provider-unification.{NOW}.bak")
    );
    assert_eq!(fs::read_to_string(&backup).unwrap(), r#"{"old": 1}"#);
    assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"old":1,"new":1}"#);
    for file in [&backup, &path] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    fs::write(&path, "{").unwrap();
    assert_eq!(
        repair_file(&path, "x", at(0), add).unwrap(),
        None,
        "what cannot be read stays"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "{");
}
