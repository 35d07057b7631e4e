//! Two programs on one file: what one writes, the other sees and keeps.

use openclaw_classify::Reason;
use openclaw_cooldown::ProfileUsage;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::conformance::{NOW, openai};
use crate::{EndpointKey, MemoryAuthStore, Secret};

fn set_state(file: &Connection, state: &Value) {
    let sql = "INSERT INTO auth_profile_state VALUES ('primary', ?1, ?2)
       ON CONFLICT (state_key) DO UPDATE SET state_json = excluded.state_json, updated_at = excluded.updated_at";
    file.execute(sql, rusqlite::params![state.to_string(), NOW + 60_000])
        .unwrap();
}

fn state(file: &Connection) -> Value {
    let text: Option<String> = file.query_row(STATE, [], |row| row.get(0)).unwrap_or_default();
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn writes_of_another_store_show_by_themselves() {
    let (folder, one) = with_profiles().await;
    let two = open(folder.path()).unwrap();
    one.commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let a = profile("a");
    eventually("the other store's view", || {
        !two.snapshot().usage(&a).is_usable(None, at(1))
    });
    two.commit(success("a", None, 2), at(2)).await.unwrap();
    eventually("the first store's view", || {
        one.snapshot().usage(&a).is_usable(None, at(2))
    });
    // Who cannot wait, looks.
    two.remove(a.clone(), at(3)).await.unwrap();
    one.refresh().unwrap();
    assert!(one.snapshot().credential(&a).is_none());
}

#[tokio::test]
async fn d11_a_use_reaches_the_file_by_itself() {
    let (folder, store) = with_profiles().await;
    store
        .commit(
            UsageChange::Used {
                profile: profile("a"),
            },
            at(5),
        )
        .await
        .unwrap();
    let file = outside(folder.path());
    eventually("the stored use", || {
        state(&file)["usageStats"]["a"]["lastUsed"] == json!(NOW + 5_000)
    });
}

#[tokio::test]
async fn d11_a_use_reaches_the_file_with_the_next_mark_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let never = Pace {
        use_delay: Duration::from_hours(1),
        ..fast()
    };
    let open = || {
        let (agent, config) = (AgentId::main(), CooldownConfig::default());
        SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), never).unwrap()
    };
    let store = open();
    for id in ["a", "b"] {
        store.upsert(profile(id), key(id), at(0)).await.unwrap();
    }
    let used = |id: &str| UsageChange::Used { profile: profile(id) };
    store.commit(used("a"), at(5)).await.unwrap();
    store
        .commit(failure("b", Reason::Overloaded, Some("m"), 6), at(6))
        .await
        .unwrap();
    let file = outside(folder.path());
    assert_eq!(state(&file)["usageStats"]["a"]["lastUsed"], json!(NOW + 5_000));
    store.commit(used("b"), at(7)).await.unwrap();
    assert_eq!(state(&file)["usageStats"]["b"].get("lastUsed"), None);
    drop(store);
    assert_eq!(state(&file)["usageStats"]["b"]["lastUsed"], json!(NOW + 7_000));
    assert_eq!(open().snapshot().usage(&profile("b")).last_used, Some(at(7)));
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
    // The other program saves its own view of the same state: other members first, what it does not know dropped.
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
async fn x5_state_that_somebody_took_away_is_gone() {
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
async fn x4_ambient_state_is_kept_without_its_secret() {
    let folder = tempfile::tempdir().unwrap();
    let ambient = |secret: &str| {
        vec![AmbientProfile {
            id: profile("openai:env"),
            credential: Credential::api_key(openai(), Secret::new(secret)),
        }]
    };
    let open_with = |ambient| {
        let (agent, config) = (AgentId::main(), CooldownConfig::default());
        SqliteAuthStore::open(folder.path(), &agent, ambient, config, at(0)).unwrap()
    };
    let env = profile("openai:env");
    let store = open_with(ambient("sk-hush"));
    store
        .commit(failure("openai:env", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    drop(store);
    let file = outside(folder.path());
    assert!(!opening::dump(&file).contains("hush"));
    let rows: i64 = file
        .query_row("SELECT count(*) FROM auth_profile_state", [], |row| row.get(0))
        .unwrap();
    assert_eq!(rows, 0, "the other program does not know the profile");

    // A process that does not know the key neither loses its state nor marks it.
    let store = open_with(Vec::new());
    store.upsert(profile("a"), key("a"), at(2)).await.unwrap();
    assert!(store.commit(success("openai:env", None, 3), at(3)).await.is_err());
    store.set_ambient(ambient("sk-hush"));
    assert!(!store.snapshot().usage(&env).is_usable(None, at(3)));
    store.set_ambient(ambient("sk-other"));
    assert!(store.snapshot().usage(&env).is_usable(None, at(3)), "D9");
    drop(store);
    assert!(
        !open_with(ambient("sk-hush"))
            .snapshot()
            .usage(&env)
            .is_usable(None, at(3))
    );
}

#[tokio::test]
async fn bl34_a_key_replaced_by_the_other_program_is_free_at_once() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let file = outside(folder.path());
    let sql = "UPDATE auth_profile_store SET store_json = json_set(store_json, '$.profiles.a.key', 'new')";
    file.execute(sql, []).unwrap();
    let a = profile("a");
    eventually("the new key", || {
        store.snapshot().usage(&a).is_usable(None, at(2))
    });
    // The next mark tells the other program, too.
    store.commit(success("b", None, 3), at(3)).await.unwrap();
    assert_eq!(state(&file)["usageStats"].get("a"), None);
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

fn changes() -> impl Strategy<Value = Vec<(UsageChange, i64)>> {
    let model = || prop::option::of(prop::sample::select(vec!["m", "n"]));
    let id = || prop::sample::select(vec!["a", "b"]);
    let reason = prop::sample::select(vec![
        Reason::Auth,
        Reason::Billing,
        Reason::RateLimit,
        Reason::Overloaded,
        Reason::AuthPermanent,
    ]);
    let change = prop_oneof![
        4 => (id(), reason, model(), -50_i64..50).prop_map(|(id, reason, model, late)| failure(id, reason, model, late)),
        2 => (id(), model(), -50_i64..50).prop_map(|(id, model, late)| success(id, model, late)),
        1 => id().prop_map(|id| UsageChange::Used { profile: profile(id) }),
        1 => id().prop_map(|id| UsageChange::Clear { profile: profile(id) }),
    ];
    prop::collection::vec((change, 0_i64..4_000), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever happens, the file says what the reference engine says, also after it was opened again.
    #[test]
    fn the_file_is_the_fold(changes in changes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (folder, store) = with_profiles().await;
            let mut start = AuthSnapshot::default();
            for id in ["a", "b"] {
                start.upsert(profile(id), key(id)).unwrap();
            }
            let memory = MemoryAuthStore::new(start, CooldownConfig::default());
            let mut now = 0;
            for (change, pause) in changes {
                now += pause;
                let applied = store.commit(change.clone(), at(now)).await.unwrap();
                assert_eq!(memory.commit(change, at(now)).await.unwrap(), applied);
            }
            assert_eq!(used_only(&store), used_only(&memory));
            drop(store);
            assert_eq!(used_only(&open(folder.path()).unwrap()), used_only(&memory));
        });
    }
}

/// What is known, without the profiles of which nothing is.
fn used_only(store: &impl UsageStore) -> AuthSnapshot {
    let mut snapshot = (*store.snapshot()).clone();
    for id in ["a", "b"] {
        let nothing = ProfileUsage {
            fingerprint: key(id).fingerprint(),
            ..ProfileUsage::default()
        };
        snapshot
            .usage
            .retain(|known, usage| known != &profile(id) || *usage != nothing);
    }
    snapshot
}
