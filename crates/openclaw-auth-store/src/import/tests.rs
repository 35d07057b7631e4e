//! Every old format of a store, and files that are none.

#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use openclaw_cooldown::CooldownConfig;
use openclaw_ids::AgentId;
use serde_json::json;

use super::*;
use crate::store::conformance::{NOW, at, key, profile};
use crate::{ProfileStore, SqliteAuthStore, StoreError, UsageStore};

/// What a text holds, as it would be stored.
fn stored(legacy: &LegacyProfiles) -> Value {
    let entries = legacy.profiles.iter();
    entries
        .map(|(id, held)| (id.to_string(), held.to_json().unwrap()))
        .collect::<Map<_, _>>()
        .into()
}

fn profiles_file(document: Value) -> LegacyProfiles {
    let text = document.to_string();
    LegacyProfiles::read(LegacyTexts {
        profiles: Some(&text),
        ..LegacyTexts::default()
    })
}

#[test]
fn g21_the_canonical_form_and_its_alias() {
    let legacy = profiles_file(json!({"version": 1, "profiles": {
        "a": {"type": "api_key", "provider": "P", "api_key": "k"},
        "b": {"mode": "apiKey", "provider": "p", "key": " ", "api_key": {"source": "env", "id": "A"}},
        "c": {"type": "api_key", "provider": "p", "key": "own", "api_key": "other"},
        "d": {"type": "token", "provider": "p", "api_key": "k"},
        "e": {"type": "aws-sdk", "provider": "p"},
        "f": 5
    }, "order": {"p": ["a"]}}));
    assert_eq!(
        stored(&legacy),
        json!({
            "a": {"type": "api_key", "provider": "p", "key": "k"},
            "b": {"type": "api_key", "provider": "p", "keyRef": {"source": "env", "provider": "default", "id": "A"}},
            "c": {"type": "api_key", "provider": "p", "key": "own", "api_key": "other"},
            "d": {"type": "token", "provider": "p", "api_key": "k"},
        })
    );
    assert_eq!(legacy.state.order().len(), 1);
}

#[test]
fn g22_the_flat_form_tells_types_by_members() {
    let legacy = profiles_file(json!({
        " OpenAI ": {"apiKey": "k", "note": "gone", "email": "e"},
        "q": {"token": "t", "expires": 5},
        "r": {"access": "a", "refresh": "r", "expires": 5, "projectId": "j", "idToken": "gone"},
        "s": {"access": "a", "refresh": "r"},
        "t": {"mode": "oauth", "access": "a"},
        "__proto__": {"key": "k"}, " ": {"key": "k"}, "u": "k"
    }));
    assert_eq!(
        stored(&legacy),
        json!({
            "OpenAI:default": {"type": "api_key", "provider": "openai", "key": "k", "email": "e"},
            "q:default": {"type": "token", "provider": "q", "token": "t", "expires": 5},
            "r:default": {"type": "oauth", "provider": "r", "access": "a", "refresh": "r", "expires": 5, "projectId": "j"},
            "t:default": {"type": "oauth", "provider": "t", "access": "a"},
        })
    );
}

#[test]
fn g23_the_form_with_written_types() {
    let read = |document: Value| {
        let text = document.to_string();
        LegacyProfiles::read(LegacyTexts {
            auth: Some(&text),
            ..LegacyTexts::default()
        })
    };
    let legacy = read(json!({
        "p": {"type": "api_key", "key": "k", "email": "e", "metadata": {"gone": "1"}},
        "q": {"mode": "token", "provider": "Other", "token": "t", "expires": "soon"},
        "r": {"type": "oauth", "access": "a", "refresh": "r", "accountId": "acc", "displayName": "gone"},
        "s": {"key": "no type"},
        "t": {"type": "api_key", "key": {"source": "env", "id": "A"}}
    }));
    assert_eq!(
        stored(&legacy),
        json!({
            "p:default": {"type": "api_key", "provider": "p", "key": "k", "email": "e"},
            "q:default": {"type": "token", "provider": "other", "token": "t"},
            "r:default": {"type": "oauth", "provider": "r", "access": "a", "refresh": "r", "accountId": "acc"},
            "t:default": {"type": "api_key", "provider": "t"},
        })
    );
    assert!(read(json!({"profiles": {}, "p": {"type": "api_key", "key": "k"}})).is_empty());
}

#[test]
fn g3_the_shared_logins_of_the_first_versions() {
    let text = json!({
        " OpenAI ": {"type": "api_key", "provider": "evil", "access": "a", "refresh": "r", "expires": 5},
        "q": null, "r": ["access"], "s": "x"
    });
    let legacy = LegacyProfiles::oauth(&text.to_string());
    assert_eq!(
        stored(&legacy),
        json!({"OpenAI:default": {"type": "oauth", "provider": "openai", "access": "a", "refresh": "r", "expires": 5}})
    );
    assert!(LegacyProfiles::oauth("[]").is_empty() && LegacyProfiles::oauth("{").is_empty());
}

/// A folder with a store and the older files of `files`.
struct LegacyScenario {
    folder: tempfile::TempDir,
    store: SqliteAuthStore,
}

impl LegacyScenario {
    fn new(files: &[(&str, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let config = CooldownConfig::default();
        let store =
            SqliteAuthStore::open(folder.path(), &AgentId::main(), Vec::new(), config, at(0)).unwrap();
        Self { folder, store }
    }

    fn legacy(&self) -> LegacyFolder {
        LegacyFolder::new(self.folder.path())
    }

    async fn import(&self, seconds: i64) -> ImportReport {
        self.legacy().import_into(&self.store, at(seconds)).await.unwrap()
    }

    /// The names of the files in the folder, without the store's.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with("openclaw-agent")).collect();
        names.sort();
        names
    }
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[tokio::test]
async fn g26_g27_g30_three_files_become_one_store() {
    let entry = |key: &str| json!({"type": "api_key", "provider": "p", "key": key});
    let scene = LegacyScenario::new(&[
        (
            "auth-profiles.json",
            json!({"version": 1, "profiles": {"p:default": entry("profiles"), "mine": entry("profiles")},
                "order": {"P": ["embedded"], "q": ["embedded"]},
                "usageStats": {"p:default": {"disabledUntil": NOW + 60_000, "disabledReason": "billing"},
                    "gone": {"errorCount": 1}}})
            .to_string(),
        ),
        (
            "auth-state.json",
            json!({"order": {"p": ["p:default"]}, "lastGood": {"p": "mine"}}).to_string(),
        ),
        (
            "auth.json",
            json!({"p": {"type": "api_key", "key": "auth"}, "r": {"type": "token", "token": "t"}})
                .to_string(),
        ),
    ]);
    scene
        .store
        .upsert(profile("mine"), key("sqlite"), at(0))
        .await
        .unwrap();
    let report = scene.import(1).await;
    let added: Vec<_> = report.added.iter().map(ProfileId::as_str).collect();
    assert_eq!(added, ["p:default", "r:default"]);
    let snapshot = scene.store.snapshot();
    assert_eq!(snapshot.profiles[&profile("mine")], key("sqlite"));
    assert_eq!(
        snapshot.profiles[&profile("p:default")].to_json(),
        Some(entry("profiles"))
    );
    let orders = snapshot
        .order
        .iter()
        .map(|(provider, ids)| format!("{provider} {ids:?}"));
    assert_eq!(
        orders.collect::<Vec<_>>(),
        [r#"p ["p:default"]"#, r#"q ["embedded"]"#]
    );
    assert!(!snapshot.usage(&profile("p:default")).is_usable(None, at(2)));

    let backups: Vec<_> = report.backups.iter().map(|path| name(path)).collect();
    let suffix = ".sqlite-import.1750000001000.bak";
    assert_eq!(
        backups,
        ["auth-profiles.json", "auth-state.json", "auth.json"].map(|file| format!("{file}{suffix}"))
    );
    assert_eq!(scene.names(), backups);
    for backup in &report.backups {
        assert_eq!(
            fs::metadata(backup).unwrap().permissions().mode() & 0o777,
            0o600,
            "G32"
        );
    }
    // G33: nothing is left to do, and a file that comes back overwrites nothing.
    assert!(!scene.legacy().has_files());
    assert_eq!(scene.import(2).await, ImportReport::default());
    let again = json!({"profiles": {"p:default": entry("again")}}).to_string();
    fs::write(scene.folder.path().join("auth-profiles.json"), again).unwrap();
    assert_eq!(scene.import(3).await.added, []);
    assert_eq!(
        scene.store.snapshot().profiles[&profile("p:default")].to_json(),
        Some(entry("profiles"))
    );
}

#[tokio::test]
async fn g31_what_cannot_be_read_or_holds_nothing_stays() {
    let good = json!({"p": {"type": "api_key", "key": "k"}}).to_string();
    let scene = LegacyScenario::new(&[("auth-profiles.json", "{".to_owned()), ("auth.json", good)]);
    let report = scene.import(1).await;
    let left: Vec<_> = report.left.iter().map(|path| name(path)).collect();
    assert_eq!(left, ["auth-profiles.json"]);
    assert_eq!(
        scene.names(),
        ["auth-profiles.json", "auth.json.sqlite-import.1750000001000.bak"]
    );

    let scene = LegacyScenario::new(&[
        ("auth-profiles.json", "{}".to_owned()),
        ("auth-state.json", "[]".to_owned()),
        ("auth.json", json!({"profiles": {}}).to_string()),
    ]);
    let report = scene.import(1).await;
    assert_eq!((report.left.len(), report.backups.len()), (3, 0));
    assert_eq!(
        scene.names(),
        ["auth-profiles.json", "auth-state.json", "auth.json"]
    );
}

#[tokio::test]
async fn g34_logins_with_tokens_elsewhere_wait_for_the_other_program() {
    let waiting = json!({"type": "oauth", "provider": "openai",
        "oauthRef": {"source": "openclaw-credentials", "provider": "openai-codex", "id": "0123"}});
    let document = json!({"profiles": {"w": waiting, "k": {"type": "api_key", "provider": "p", "key": "k"}},
        "usageStats": {"w": {"errorCount": 1}, "k": {"errorCount": 2}}});
    let scene = LegacyScenario::new(&[("auth-profiles.json", document.to_string())]);
    let report = scene.import(1).await;
    assert_eq!(report.held_back, ["w"]);
    assert_eq!(scene.store.snapshot().profiles.len(), 1);
    let rest: Value =
        serde_json::from_slice(&fs::read(scene.folder.path().join("auth-profiles.json")).unwrap()).unwrap();
    assert_eq!(
        rest,
        json!({"version": 1, "profiles": {"w": waiting}, "usageStats": {"w": {"errorCount": 1}}})
    );
}

#[tokio::test]
async fn g2_the_shared_logins_are_looked_at_only_once() {
    let legacy = || LegacyProfiles::oauth(&json!({"p": {"access": "a", "refresh": "r"}}).to_string());
    let scene = LegacyScenario::new(&[]);
    scene.store.import_on_first_use(legacy(), at(1)).await.unwrap();
    assert!(scene.store.snapshot().credential(&profile("p:default")).is_some());
    scene.store.remove(profile("p:default"), at(2)).await.unwrap();
    scene.store.import_on_first_use(legacy(), at(3)).await.unwrap();
    assert!(scene.store.snapshot().profiles.is_empty());
}

#[tokio::test]
async fn g1_g5_g6_the_shared_file_is_read_and_left_alone() {
    let text = json!({"p": {"access": "a", "refresh": "r"}}).to_string();
    let scene = LegacyScenario::new(&[("oauth.json", text.clone())]);
    let path = scene.folder.path().join("oauth.json");
    let legacy = LegacyProfiles::oauth(&fs::read_to_string(&path).unwrap());
    scene.store.import_on_first_use(legacy, at(1)).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(
        LegacyProfiles::oauth("{").is_empty(),
        "a malformed file is nothing"
    );
    // Once any profile was stored, the file is ignored.
    let scene = LegacyScenario::new(&[]);
    scene
        .store
        .upsert(profile("mine"), key("k"), at(1))
        .await
        .unwrap();
    let legacy = LegacyProfiles::oauth(&text);
    scene.store.import_on_first_use(legacy, at(2)).await.unwrap();
    assert_eq!(scene.store.snapshot().profiles.len(), 1);
}

#[tokio::test]
async fn g20_g24_g28_state_is_imported_and_that_of_unknown_profiles_goes_with_the_next_mark() {
    let state = json!({"version": 1, "order": {"P": [" a ", 5, ""], "q": "x"}, "lastGood": {"P": "lost"},
        "usageStats": {"lost": {"errorCount": 3}, "a": {"lastUsed": NOW}}});
    let profiles = json!({"profiles": {"a": {"type": "api_key", "provider": "p", "key": "k"}}});
    let scene = LegacyScenario::new(&[
        ("auth-profiles.json", profiles.to_string()),
        ("auth-state.json", state.to_string()),
    ]);
    assert_eq!(scene.import(1).await.added, [profile("a")]);
    let snapshot = scene.store.snapshot();
    assert_eq!(
        snapshot.order[&"p".parse::<openclaw_ids::ProviderId>().unwrap()],
        [profile("a")]
    );
    assert!(snapshot.usage(&profile("a")).last_used.is_some());
    assert!(snapshot.last_good.is_empty(), "it names no profile");
}

#[tokio::test]
async fn g29_what_the_store_does_not_show_leaves_the_files() {
    let profiles = json!({"profiles": {"a": {"type": "api_key", "provider": "p", "key": "k"}}});
    let scene = LegacyScenario::new(&[("auth-profiles.json", profiles.to_string())]);
    let file = rusqlite::Connection::open(scene.store.path()).unwrap();
    file.execute_batch("INSERT OR REPLACE INTO auth_profile_store VALUES ('primary', 'broken', 1)")
        .unwrap();
    let error = scene.legacy().import_into(&scene.store, at(1)).await.unwrap_err();
    assert!(
        matches!(error, ImportError::Store(StoreError::Unreadable(_))),
        "{error:?}"
    );
    assert_eq!(scene.names(), ["auth-profiles.json"]);
    file.execute_batch("DELETE FROM auth_profile_store").unwrap();
    assert_eq!(
        scene.import(2).await.added,
        [profile("a")],
        "a second time it works"
    );
}
