//! The rows that both programs write.

use openclaw_classify::Reason;
use serde_json::{Value, json};

use super::*;
use crate::EndpointKey;
use crate::store::conformance::{NOW, openai};

fn set_state(file: &Connection, state: &Value) {
    let sql = "INSERT INTO auth_profile_state VALUES ('primary', ?1, ?2)
       ON CONFLICT (state_key) DO UPDATE SET state_json = excluded.state_json, updated_at = excluded.updated_at";
    file.execute(sql, rusqlite::params![state.to_string(), NOW + 60_000])
        .unwrap();
}

#[tokio::test]
async fn x5_our_own_mirror_is_not_read_back_but_a_change_of_it_is() {
    let (folder, store) = with_profiles().await;
    for seconds in [1, 40] {
        store
            .commit(failure("a", Reason::RateLimit, Some("m"), seconds), at(seconds))
            .await
            .unwrap();
    }
    let ours = store.snapshot().usage(&profile("a")).clone();
    let file = outside(folder.path());
    // OpenClaw saves its view of the same state: other members first, unknown ones dropped.
    let mut theirs = state(&file);
    theirs["usageStats"] = json!({"a": theirs["usageStats"]["a"], "b": {"errorCount": 0, "lastUsed": NOW}});
    set_state(&file, &theirs);
    store.refresh().unwrap();
    assert_eq!(store.snapshot().usage(&profile("a")), &ours);
    assert_eq!(store.snapshot().usage(&profile("b")).last_used, Some(at(0)));

    theirs["usageStats"]["a"]["disabledUntil"] = json!(NOW + 3_600_000);
    theirs["usageStats"]["a"]["disabledReason"] = json!("billing");
    set_state(&file, &theirs);
    store.refresh().unwrap();
    let block = store.snapshot().usage(&profile("a")).block(None, at(60)).unwrap();
    assert_eq!((block.reason, block.until), (Reason::Billing, at(3_600)));
    // It is ours now: the next write keeps it, and the one after that has nothing to take over.
    store
        .commit(
            UsageChange::Used {
                profile: profile("b"),
            },
            at(61),
        )
        .await
        .unwrap();
    store.commit(success("b", None, 62), at(62)).await.unwrap();
    let adopted = store.snapshot().usage(&profile("a")).clone();
    drop(store);
    assert_eq!(
        open(folder.path()).unwrap().snapshot().usage(&profile("a")),
        &adopted
    );
}

#[tokio::test]
async fn x5_state_that_was_removed_is_gone() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    outside(folder.path())
        .execute("DELETE FROM auth_profile_state", [])
        .unwrap();
    store.refresh().unwrap();
    assert!(store.snapshot().usage(&profile("a")).is_usable(None, at(2)));
}

#[tokio::test]
async fn d12_an_empty_state_has_no_row() {
    let (folder, store) = with_profiles().await;
    store
        .set_order(openai(), vec![profile("a")], at(1))
        .await
        .unwrap();
    let file = outside(folder.path());
    assert_eq!(state(&file), json!({"version": 1, "order": {"openai": ["a"]}}));
    store.set_order(openai(), Vec::new(), at(1)).await.unwrap();
    let rows: i64 = file
        .query_row("SELECT count(*) FROM auth_profile_state", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn j5_state_beside_the_secrets_moves_with_the_next_write() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = outside(folder.path());
    let older = json!({"version": 1, "profiles": {"a": {"type": "api_key", "provider": "openai", "key": "k"}},
        "order": {"openai": ["a"]}, "usageStats": {"a": {"disabledUntil": NOW + 60_000, "disabledReason": "billing"}}});
    file.execute(
        "INSERT INTO auth_profile_store VALUES ('primary', ?1, 1)",
        [older.to_string()],
    )
    .unwrap();
    let store = open(folder.path()).unwrap();
    assert!(!store.snapshot().usage(&profile("a")).is_usable(None, at(1)));
    store.set_order(openai(), Vec::new(), at(1)).await.unwrap();
    drop(store);
    let secrets: Value = serde_json::from_str(&text(&file, STORE)).unwrap();
    assert_eq!(
        secrets.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["version", "profiles"]
    );
    assert_eq!(
        state(&file)["usageStats"]["a"]["disabledReason"],
        json!("billing")
    );
    assert_eq!(
        state(&file).get("order"),
        None,
        "what was ended does not come back"
    );
}

#[tokio::test]
async fn d13_a_row_damaged_meanwhile_is_not_overwritten() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let file = outside(folder.path());
    for (table, column) in [
        ("auth_profile_state", "state_json"),
        ("auth_profile_store", "store_json"),
        ("failover_state", "value_json"),
    ] {
        let whole = text(&file, &format!("SELECT {column} FROM {table}"));
        file.execute(&format!("UPDATE {table} SET {column} = '{{'"), [])
            .unwrap();
        let refused = store.commit(success("a", None, 2), at(2)).await.unwrap_err();
        assert!(refused.to_string().contains(table), "{table}: {refused}");
        assert!(matches!(refused, StoreError::Unreadable(_)), "{refused:?}");
        assert_eq!(text(&file, &format!("SELECT {column} FROM {table}")), "{");
        assert!(
            !store.snapshot().usage(&profile("a")).is_usable(None, at(2)),
            "the last good view stays"
        );
        file.execute(&format!("UPDATE {table} SET {column} = ?1"), [whole])
            .unwrap();
    }
    store.commit(success("a", None, 3), at(3)).await.unwrap();
}

#[tokio::test]
async fn rows_of_a_newer_version_survive() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let probe = |holder: &str| UsageChange::ProbeStart {
        provider: openai(),
        holder: holder.to_owned(),
    };
    let failed = UsageChange::EndpointFailure {
        endpoint: EndpointKey {
            provider: openai(),
            base_url: "https://a".to_owned(),
        },
        started_at: None,
    };
    store.commit(probe("one"), at(1)).await.unwrap();
    store.commit(failed.clone(), at(1)).await.unwrap();
    let file = outside(folder.path());
    file.execute_batch(
        "UPDATE failover_state SET value_json = json_insert(value_json, '$.future', 1);
         INSERT INTO failover_state VALUES ('kind:of tomorrow', 'in no form we know', 1);",
    )
    .unwrap();
    store.commit(probe("two"), at(100)).await.unwrap();
    store.commit(failed, at(100)).await.unwrap();
    store
        .commit(
            UsageChange::Clear {
                profile: profile("a"),
            },
            at(100),
        )
        .await
        .unwrap();
    let sql = "SELECT group_concat(key || ' ' || (value_json -> '$.future'), ', ')
       FROM (SELECT * FROM failover_state WHERE key NOT LIKE 'kind:%' ORDER BY key)";
    assert_eq!(
        text(&file, sql),
        "endpoint:openai https://a 1, probe:openai 1, usage:a 1"
    );
    assert_eq!(
        text(
            &file,
            "SELECT value_json FROM failover_state WHERE key LIKE 'kind:%'"
        ),
        "in no form we know"
    );
}

#[tokio::test]
async fn state_of_a_profile_that_is_gone_goes_with_the_next_write() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let file = outside(folder.path());
    let sql = "UPDATE auth_profile_store SET store_json = json_remove(store_json, '$.profiles.a')";
    file.execute(sql, []).unwrap();
    store.commit(success("b", None, 2), at(2)).await.unwrap();
    assert_eq!(
        text(&file, "SELECT group_concat(key) FROM failover_state"),
        "usage:b"
    );
}

#[tokio::test]
async fn a_mark_that_cannot_be_written_holds_in_memory_and_arrives_with_the_next_write() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    file.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON failover_state BEGIN SELECT RAISE(ABORT, 'no space'); END",
    )
    .unwrap();
    let refused = store.commit(failure("a", Reason::Billing, None, 1), at(1)).await;
    assert!(refused.is_err(), "the caller knows that it is not durable");
    assert!(
        !store.snapshot().usage(&profile("a")).is_usable(None, at(2)),
        "the key rests all the same"
    );

    file.execute_batch("DROP TRIGGER full").unwrap();
    store
        .commit(failure("b", Reason::Billing, None, 2), at(2))
        .await
        .unwrap();
    drop(store);
    let again = open(folder.path()).unwrap().snapshot();
    for id in ["a", "b"] {
        assert!(
            !again.usage(&profile(id)).is_usable(None, at(3)),
            "{id} is forgotten"
        );
    }
}
