//! State belongs to a secret: another secret starts clean, and ambient profiles stay unstored.

use openclaw_classify::Reason;
use serde_json::json;

use super::*;
use crate::store::conformance::openai;
use crate::{Secret, SecretLookup};

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

    // A process that lacks the key neither loses its state nor changes it.
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
async fn other_settings_count_from_the_next_failure_on() {
    let (_folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let quick = serde_json::from_value(json!({"billingBackoffHours": 0.5})).unwrap();
    store.set_cooldowns(quick);
    store
        .commit(failure("b", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let snapshot = store.snapshot();
    let usable = |id: &str| snapshot.usage(&profile(id)).is_usable(None, at(3_600));
    assert!(usable("b") && !usable("a"), "the open window stays");
}

#[tokio::test]
async fn bl_34_a_key_replaced_by_the_other_program_is_free_at_once() {
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
    // The next change updates the mirror, too.
    store.commit(success("b", None, 3), at(3)).await.unwrap();
    assert_eq!(state(&file)["usageStats"].get("a"), None);
}

#[tokio::test]
async fn bl_34_a_variable_set_to_another_key_is_another_secret() {
    let (folder, store) = with_profiles().await;
    let pointer = json!({"type": "api_key", "provider": "openai", "keyRef": "$A"});
    let pointer = Credential::from_json(&pointer).unwrap();
    store.upsert(profile("p"), pointer, at(0)).await.unwrap();
    let p = profile("p");
    let set_to = |store: &SqliteAuthStore, value: Option<&str>| {
        let env = |name: &str| value.filter(|_| name == "A").map(str::to_owned);
        let places = SecretLookup::env(&env);
        store.set_resolved(store.snapshot().pointer_fingerprints(places));
    };
    set_to(&store, Some("one"));
    store
        .commit(failure("p", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    // A process that lacks the variable leaves the state as it is.
    set_to(&store, None);
    store.commit(success("a", None, 2), at(2)).await.unwrap();
    assert!(!store.snapshot().usage(&p).is_usable(None, at(2)));
    drop(store);
    let store = open(folder.path()).unwrap();
    set_to(&store, Some("one"));
    assert!(!store.snapshot().usage(&p).is_usable(None, at(2)));
    set_to(&store, Some("two"));
    assert!(store.snapshot().usage(&p).is_usable(None, at(2)));
    store.refresh().unwrap();
    assert!(store.snapshot().usage(&p).is_usable(None, at(2)));
}
