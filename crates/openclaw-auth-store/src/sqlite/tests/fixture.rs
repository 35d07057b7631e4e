//! A file of OpenClaw's, opened, changed and opened again.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::opening::dump_table;
use super::*;
use crate::store::conformance::NOW;
use openclaw_classify::Reason;

/// The tables that only OpenClaw uses.
const THEIRS: &[&str] = &[
    "cache_entries",
    "memory_embedding_cache",
    "memory_index_chunks",
    "memory_index_meta",
    "memory_index_sources",
    "memory_index_state",
];

/// Shortly after the fixture was made, in seconds of the tests' time.
const LATER: i64 = (1_795_981_920_000 - NOW) / 1_000;

fn copied() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/openclaw-agent.sqlite");
    fs::copy(fixture, folder.path().join("openclaw-agent.sqlite")).unwrap();
    folder
}

fn json(file: &Connection, sql: &str) -> Value {
    serde_json::from_str(&text(file, sql)).unwrap()
}

#[test]
fn what_the_other_program_wrote_is_understood() {
    let folder = copied();
    let store = open(folder.path()).unwrap();
    let snapshot = store.snapshot();
    let modes: Vec<_> = snapshot
        .profiles
        .iter()
        .map(|(id, held)| format!("{id} {}", held.mode()))
        .collect();
    insta::assert_debug_snapshot!("fixture_modes", modes);
    let blocks = |id: &str, model: Option<&str>| {
        let model = model.map(|model| model.parse().unwrap());
        let block = snapshot.usage(&profile(id)).block(model.as_ref(), at(LATER))?;
        Some(format!("{} until {}", block.reason, block.until))
    };
    insta::assert_debug_snapshot!(
        "fixture_blocks",
        [
            ("openai:default", None),
            ("anthropic:work", Some("claude-sonnet-5")),
            ("anthropic:work", Some("claude-opus-5")),
            ("groq:env", None),
            ("openai:me@example.com", None),
        ]
        .map(|(id, model)| (id, model, blocks(id, model)))
    );
    let order: Vec<_> = snapshot
        .order
        .iter()
        .map(|(provider, ids)| format!("{provider} {ids:?}"))
        .collect();
    assert_eq!(order, [r#"openai ["openai:me@example.com", "openai:default"]"#]);
    assert_eq!(
        snapshot.last_good[&crate::store::conformance::openai()],
        profile("openai:default")
    );
}

#[tokio::test]
async fn only_what_a_mark_is_about_changes() {
    let folder = copied();
    let file = outside(folder.path());
    file.execute_batch(
        r#"INSERT INTO cache_entries VALUES ('s', 'k', '{"a":1}', x'00ff', NULL, 7);
           INSERT INTO memory_index_sources VALUES ('p', 'memory', 'h', 1, 2);
           INSERT INTO auth_profile_store VALUES ('other', 'not ours', 3);
           INSERT INTO auth_profile_state VALUES ('other', 'not ours', 3);
           UPDATE auth_profile_store SET store_json = json_insert(store_json, '$.future', json('[1,null]'),
             '$.profiles."groq:env".future', json('{"x":1}'), '$.profiles."odd"', json('{"type":"aws-sdk","provider":"p"}'))
             WHERE store_key = 'primary';
           UPDATE auth_profile_state SET state_json = json_insert(state_json, '$.future', 'kept',
             '$.usageStats."openai:default".future', json('[2]'), '$.usageStats."lost"', json('{"errorCount":1}'))
             WHERE state_key = 'primary';"#,
    )
    .unwrap();
    let theirs = |file: &Connection| {
        THEIRS
            .iter()
            .map(|table| dump_table(file, table))
            .collect::<String>()
    };
    let (tables, secrets, state) = (theirs(&file), text(&file, STORE), json(&file, STATE));
    let secrets_at = text(&file, "SELECT CAST(updated_at AS TEXT) FROM auth_profile_store");

    let store = open(folder.path()).unwrap();
    let mark = failure("openai:default", Reason::RateLimit, Some("gpt-5.5"), LATER);
    store.commit(mark, at(LATER)).await.unwrap();
    drop(store);

    assert_eq!(theirs(&file), tables);
    assert_eq!(text(&file, STORE), secrets);
    assert_eq!(
        text(&file, "SELECT CAST(updated_at AS TEXT) FROM auth_profile_store"),
        secrets_at,
        "D13"
    );
    for (table, key) in [
        ("auth_profile_store", "store_key"),
        ("auth_profile_state", "state_key"),
    ] {
        let other = text(&file, &format!("SELECT * FROM {table} WHERE {key} = 'other'"));
        assert_eq!(other, "other");
    }
    let mut expected = state;
    let marked = &mut expected["usageStats"]["openai:default"];
    marked["errorCount"] = json!(1);
    marked["failureCounts"] = json!({"rate_limit": 1});
    marked["lastFailureAt"] = json!(NOW + LATER * 1_000);
    marked["cooldownUntil"] = json!(NOW + (LATER + 30) * 1_000);
    marked["cooldownReason"] = json!("rate_limit");
    marked["cooldownModel"] = json!("gpt-5.5");
    // A mirrored entry always says how many errors there were.
    expected["usageStats"]["openai:me@example.com"]["errorCount"] = json!(0);
    assert_eq!(json(&file, STATE), expected);
    let meta = "SELECT json_array(role, schema_version, agent_id, app_version, created_at) FROM schema_meta";
    assert_eq!(
        json(&file, meta),
        json!(["agent", 1, "main", null, 1_795_981_912_185_i64])
    );
    let version: i64 = file
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 1);

    let store = open(folder.path()).unwrap();
    let again = store.snapshot();
    assert!(!again.usage(&profile("openai:default")).is_usable(None, at(LATER)));
    assert_eq!(json(&file, STATE), expected, "opening writes no state");
    store.upsert(profile("new"), key("k"), at(LATER)).await.unwrap();
    let mut with_new: Value = serde_json::from_str(&secrets).unwrap();
    with_new["profiles"]["new"] = json!({"type": "api_key", "provider": "openai", "key": "k"});
    assert_eq!(json(&file, STORE), with_new);
}
