//! Secrets that are planted everywhere, and searched in all output (BL-84).

use std::io;
use std::os::unix::fs::PermissionsExt;

use openclaw_classify::Reason;
use serde_json::json;

use super::*;
use crate::testing::log_capture::Log;
use crate::{AuthConfig, LegacyFolder, LoginChange, LoginStore, SecretLookup, health, profile_secret};

/// What every planted secret begins with.
const PLANT: &str = "plant-";

fn entries() -> Value {
    json!({
        "plain": {"type": "api_key", "provider": "p", "key": "plant-key", "metadata": {"note": "plant-metadata"},
            "email": "plant-email", "apiSecret": "plant-unknown"},
        "bearer": {"type": "token", "provider": "p", "token": "plant-token"},
        "login": {"type": "oauth", "provider": "p", "access": "plant-access", "refresh": "plant-refresh",
            "idToken": "plant-identity", "accountId": "plant-account", "clientId": "plant-client", "expires": 5},
        "pointer": {"type": "api_key", "provider": "p", "keyRef": {"source": "exec", "id": "x"}},
        "rejected": {"type": "plant-type", "secret": "plant-rejected"},
        "none": 5,
    })
}

/// An error with all its causes, in both forms.
fn told(error: &dyn std::error::Error) -> String {
    let mut told = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(inner) = cause {
        told.extend([format!(" {inner} {inner:?}")]);
        cause = inner.source();
    }
    told
}

#[tokio::test]
async fn no_planted_secret_is_seen_anywhere() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let mut seen = String::new();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    write("auth-profiles.json", &json!({"profiles": entries()}).to_string());
    write("auth-state.json", "{\"plant-state");
    write(
        "auth.json",
        &json!({"q": {"type": "api_key", "key": "plant-auth"}}).to_string(),
    );

    let store = open(folder.path()).unwrap();
    let legacy = LegacyFolder::new(folder.path());
    seen.extend([format!("{:?}", legacy.import_into(&store, at(1)).await.unwrap())]);
    drop(store);
    // What the import leaves behind may stand in the store, too.
    let file = outside(folder.path());
    let rejected = entries()["rejected"].to_string();
    let sql =
        "UPDATE auth_profile_store SET store_json = json_insert(store_json, '$.profiles.rejected', json(?1))";
    file.execute(sql, [rejected]).unwrap();
    let store = open(folder.path()).unwrap();
    let snapshot = store.snapshot();
    assert_eq!(snapshot.profiles.len(), 5, "{:?}", snapshot.profiles.keys());
    seen.extend([format!("{store:?} {snapshot:?}")]);
    for (id, credential) in &snapshot.profiles {
        seen.extend([format!(
            "{:?} {:?}",
            health(credential, at(1), Duration::ZERO),
            credential.fingerprint()
        )]);
        let places = SecretLookup {
            env: &|_| None,
            file: &|_| None,
            exec: &|_, _| Some(Err(io::Error::other("exit code 1"))),
        };
        if let Err(error) = profile_secret(&snapshot, &AuthConfig::default(), id, places) {
            seen += &told(&error);
        }
    }
    for mark in [
        failure("plain", Reason::Billing, None, 2),
        success("bearer", None, 2),
    ] {
        store.commit(mark, at(2)).await.unwrap();
    }
    let login = snapshot.stored_login(&profile("login")).unwrap();
    let change = LoginChange::Adopt(Box::new(login));
    seen.extend([format!("{change:?}")]);
    store.change_login(profile("login"), change, at(2)).await.unwrap();
    let unknown = store.remove(profile("nobody"), at(2)).await.unwrap_err();
    seen += &told(&unknown);

    // Damaged rows, while the store is open and when it is opened.
    for row in [
        "{\"profiles\": {\"plant-broken",
        "[\"plant-list\"]",
        "{\"profiles\": \"plant-text\"}",
    ] {
        file.execute("UPDATE auth_profile_store SET store_json = ?1", [row])
            .unwrap();
        let mark = failure("bearer", Reason::Overloaded, Some("m"), 3);
        seen += &told(&store.commit(mark, at(3)).await.unwrap_err());
        seen += &told(&open(folder.path()).unwrap_err());
    }
    for row in [
        "{\"usage\": \"plant-usage\"}",
        "{\"usage\": {\"lastUsed\": \"plant-used\"}}",
        "plant",
    ] {
        let sql = "INSERT OR REPLACE INTO failover_state VALUES ('usage:plain', ?1, 1)";
        file.execute(sql, [row]).unwrap();
        file.execute(
            "UPDATE auth_profile_store SET store_json = '{\"profiles\":{}}'",
            [],
        )
        .unwrap();
        seen += &told(&open(folder.path()).unwrap_err());
    }
    drop(store);

    check_files(folder.path());
    let logged = log.lines();
    assert!(
        logged.contains("invalid_type"),
        "there are log lines to look at: {logged}"
    );
    for (what, text) in [("output", &seen), ("log", &logged)] {
        let found = text
            .find(PLANT)
            .map(|at| text[at.saturating_sub(60)..].chars().take(90).collect::<String>());
        assert_eq!(found, None, "in the {what}");
    }
}

/// Only files that hold secrets may show them, and only their owner may read those.
fn check_files(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        let holds = bytes
            .windows(PLANT.len())
            .any(|window| window == PLANT.as_bytes());
        let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
        // Unreadable files were left unchanged.
        assert!(
            mode == 0o600 || !holds || name == "auth-state.json",
            "{name} has mode {mode:o}"
        );
    }
}
