//! Rules of auth-store.md that no other test is about.

use openclaw_classify::Reason;
use serde_json::json;

use openclaw_sqlite::open_read_write;

use super::*;
use crate::store::conformance::openai;
use crate::{AuthConfig, rotation_order};

fn pragma(connection: &Connection, name: &str) -> i64 {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .unwrap()
}

#[test]
fn d2_d5_pragmas_of_a_writer_and_defaults_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    let writer = open_read_write(store.path(), connect::LOCK_WAIT).unwrap();
    connect::configure(&writer, FilesystemKind::Local, connect::LOCK_WAIT).unwrap();
    for (name, value) in [
        ("wal_autocheckpoint", 1_000),
        ("synchronous", 1),
        ("foreign_keys", 1),
        ("application_id", 0),
        ("page_size", 4_096),
        ("auto_vacuum", 0),
        ("user_version", 1),
    ] {
        assert_eq!(pragma(&writer, name), value, "{name}");
    }
    assert_eq!(text(&writer, "PRAGMA encoding"), "UTF-8");
    assert_eq!(text(&writer, "PRAGMA journal_mode"), "wal");
}

#[test]
fn d3_a_network_volume_gets_a_journal_that_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let path = open(folder.path()).unwrap().path().to_owned();
    let writer = open_read_write(&path, connect::LOCK_WAIT).unwrap();
    connect::configure(&writer, FilesystemKind::Network, connect::LOCK_WAIT).unwrap();
    assert_eq!(text(&writer, "PRAGMA journal_mode"), "delete");
    // While another connection uses the log, the mode cannot change, which is reported.
    connect::configure(&writer, FilesystemKind::Local, connect::LOCK_WAIT).unwrap();
    let other = outside(folder.path());
    other
        .execute_batch("BEGIN; SELECT count(*) FROM schema_meta")
        .unwrap();
    let impatient = open_read_write(&path, BusyWait::None).unwrap();
    assert!(connect::configure(&impatient, FilesystemKind::Network, BusyWait::None).is_err());
}

#[tokio::test]
async fn d10_d11_rows_of_other_keys_are_left_and_a_row_is_replaced() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    file.execute_batch(
        "INSERT INTO auth_profile_store VALUES ('other', 'not ours', 1);
         INSERT INTO auth_profile_state VALUES ('other', 'not ours', 1)",
    )
    .unwrap();
    for second in [1, 2] {
        let mark = failure("a", Reason::Billing, None, second);
        store.commit(mark, at(second)).await.unwrap();
    }
    for (table, key) in [
        ("auth_profile_store", "store_key"),
        ("auth_profile_state", "state_key"),
    ] {
        let rows = format!("SELECT group_concat({key}, ' ') FROM (SELECT {key} FROM {table} ORDER BY {key})");
        assert_eq!(text(&file, &rows), "other primary", "{table}");
    }
    let updated: i64 = file
        .query_row(
            "SELECT updated_at FROM auth_profile_state WHERE state_key = 'primary'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(updated, at(2).as_millisecond());
}

#[test]
fn d22_a_folder_of_its_own_is_named_by_a_hash_or_by_what_is_above_it() {
    let root = tempfile::tempdir().unwrap();
    for (folder, owner, opens) in [
        ("agents/ops/agent", "ops".to_owned(), true),
        ("agents/ops/agent", "other".to_owned(), false),
        (
            "custom",
            format!(
                "custom-{}",
                crate::secret::mask::hex(&[root.path().join("custom").to_str().unwrap()], 12)
            ),
            true,
        ),
        ("custom", "custom-0123456789ab".to_owned(), false),
    ] {
        let folder = root.path().join(folder);
        drop(SqliteAuthStore::read_snapshot(&folder, Vec::new()).unwrap());
        drop(open(&folder));
        let file = outside(&folder);
        file.execute("UPDATE schema_meta SET agent_id = ?1", [&owner])
            .unwrap();
        assert_eq!(open(&folder).is_ok(), opens, "{owner}");
        assert_eq!(
            text(&file, "SELECT agent_id FROM schema_meta"),
            owner,
            "the owner stays"
        );
    }
}

#[tokio::test]
async fn d30_d31_d32_a_body_that_fails_leaves_nothing_and_frees_the_lock() {
    let (folder, store) = with_profiles().await;
    let writer = open_read_write(store.path(), connect::LOCK_WAIT).unwrap();
    let failed: rusqlite::Result<()> = openclaw_sqlite::immediate(&writer, |connection| {
        connection.execute("UPDATE auth_profile_store SET store_json = 'half'", [])?;
        assert!(!connection.is_autocommit(), "inside the transaction");
        Err(rusqlite::Error::QueryReturnedNoRows)
    });
    assert!(failed.is_err() && writer.is_autocommit());
    assert!(text(&outside(folder.path()), STORE).starts_with('{'));
    // Writes of another connection since the snapshot was made are read inside the transaction.
    let file = outside(folder.path());
    let sql = "UPDATE auth_profile_store SET store_json = json_set(store_json, '$.profiles.a.displayName', 'theirs')";
    file.execute(sql, []).unwrap();
    store.upsert(profile("c"), key("c"), at(3)).await.unwrap();
    assert!(text(&file, STORE).contains("theirs"));
}

#[tokio::test]
async fn m1_m2_a_refused_change_stores_nothing_and_says_why() {
    let (folder, store) = with_profiles().await;
    let before = opening::dump(&outside(folder.path()));
    let refused = store
        .commit(failure("nobody", Reason::Billing, None, 1), at(1))
        .await;
    assert!(
        matches!(refused, Err(StoreError::UnknownProfile { .. })),
        "{refused:?}"
    );
    assert_eq!(opening::dump(&outside(folder.path())), before);
}

#[tokio::test]
async fn j2_j4_i11_what_is_stored_of_a_store() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    let sql = "UPDATE auth_profile_store SET store_json = json_set(store_json, '$.version', 7, \
         '$.profiles.a.unknown', 'kept', '$.profiles.odd', 5)";
    file.execute(sql, []).unwrap();
    store.upsert(profile("a"), key("new"), at(1)).await.unwrap();
    let stored: Value = serde_json::from_str(&text(&file, STORE)).unwrap();
    assert_eq!(stored["version"], 1, "J2");
    assert_eq!(stored["profiles"]["a"]["unknown"], "kept", "J4");
    assert_eq!(stored["profiles"]["odd"], 5, "J4");
    let members: Vec<_> = stored.as_object().unwrap().keys().collect();
    assert_eq!(members, ["version", "profiles"], "I11");
}

#[tokio::test]
async fn p4_x1_x3_the_provider_of_a_credential_decides_and_no_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path()).unwrap();
    for (id, entry) in [
        (
            "anything",
            json!({"type": "api_key", "provider": "openai", "key": "k"}),
        ),
        (
            "anthropic:me",
            json!({"type": "oauth", "provider": "openai", "access": "a"}),
        ),
        (
            "openai-codex:me",
            json!({"type": "oauth", "provider": "openai-codex", "access": "a"}),
        ),
        (
            "openai:other",
            json!({"type": "api_key", "provider": "groq", "key": "k"}),
        ),
    ] {
        let credential = Credential::from_json(&entry).unwrap();
        store.upsert(profile(id), credential, at(0)).await.unwrap();
    }
    let (config, aliases) = (AuthConfig::default(), openclaw_providers::AuthAliases::default());
    let order = rotation_order(&store.snapshot(), &config, &aliases, &openai(), None, at(0));
    assert_eq!(
        order,
        [profile("anthropic:me"), profile("anything")],
        "X4: logins first"
    );
    assert!(
        store.snapshot().credential(&profile("ANYTHING")).is_none(),
        "ids keep their case"
    );
}

#[tokio::test]
async fn z1_secrets_are_plain_in_the_file_and_nowhere_in_our_table() {
    let (folder, store) = with_profiles().await;
    store.upsert(profile("z"), key("sk-plain"), at(0)).await.unwrap();
    store
        .commit(failure("z", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let file = outside(folder.path());
    assert!(text(&file, STORE).contains("sk-plain"));
    for table in ["auth_profile_state", "failover_state", "schema_meta"] {
        assert!(!opening::dump_table(&file, table).contains("sk-plain"), "{table}");
    }
}
