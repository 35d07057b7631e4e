//! The view of an agent that inherits from the main agent, and where its changes are written.

use std::sync::Arc;

use openclaw_classify::Reason;
use openclaw_cooldown::CooldownConfig;
use serde_json::{Value, json};

use super::*;
use crate::store::conformance::{at, failure, key, openai, profile, success};
use crate::{ChangeOutcome, EndpointKey, MemoryAuthStore, ProfileStore, UsageChange, UsageStore};

fn store(entries: &Value) -> AuthSnapshot {
    let mut store = AuthSnapshot::default();
    for (id, entry) in entries.as_object().unwrap() {
        let mut entry = entry.clone();
        entry["provider"] = json!("openai");
        store
            .upsert(profile(id), Credential::from_json(&entry).unwrap())
            .unwrap();
    }
    store
}

fn keys(ids: &[&str]) -> AuthSnapshot {
    let mut store = AuthSnapshot::default();
    for id in ids {
        store.upsert(profile(id), key(id)).unwrap();
    }
    store
}

fn ids(order: &[ProfileId]) -> String {
    order.iter().map(ProfileId::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn i2_own_profiles_come_first_and_win() {
    let (main, mut agent) = (keys(&["a", "b"]), keys(&["c"]));
    agent.upsert(profile("b"), key("own")).unwrap();
    let seen = inherit(&main, &agent);
    assert_eq!(ids(&seen.profiles.keys().cloned().collect::<Vec<_>>()), "c b a");
    assert_eq!(seen.profiles[&profile("b")], key("own"));
}

/// I3
#[test]
fn i3_whose_order_counts() {
    for (own_profiles, own_order, main_order, order) in [
        (vec!["c"], Some(vec!["c", "a"]), Some(vec!["b"]), Some("c a")),
        (vec!["c"], None, Some(vec!["b", "c", "a", "b"]), Some("c b a")),
        (vec!["c"], None, None, None),
        (vec![], Some(vec!["b"]), Some(vec!["a"]), Some("b")),
        (vec![], None, Some(vec!["b", "a"]), Some("b a")),
    ] {
        let (mut main, mut agent) = (keys(&["a", "b"]), keys(&own_profiles));
        let order_of = |list: Vec<&str>| list.into_iter().map(profile).collect::<Vec<_>>();
        main.order
            .extend(main_order.map(|list| (openai(), order_of(list))));
        agent
            .order
            .extend(own_order.map(|list| (openai(), order_of(list))));
        let seen = inherit(&main, &agent);
        let seen = seen.order.get(&openai()).map(|list| ids(list));
        assert_eq!(seen.as_deref(), order);
    }
}

#[test]
fn i4_last_good_is_overlaid_and_must_exist() {
    let (mut main, mut agent) = (keys(&["a"]), keys(&["c"]));
    main.last_good.insert(openai(), profile("a"));
    main.last_good.insert("groq".parse().unwrap(), profile("lost"));
    assert_eq!(inherit(&main, &agent).last_good[&openai()], profile("a"));
    agent.last_good.insert(openai(), profile("c"));
    let seen = inherit(&main, &agent).last_good;
    assert_eq!((seen.len(), &seen[&openai()]), (1, &profile("c")));
}

#[test]
fn rows_of_i9() {
    let login = |account: Option<&str>, email: Option<&str>, access: &str, expires: Option<i64>| {
        let mut entry = json!({"type": "oauth", "access": access, "accountId": account, "email": email});
        if let Some(expires) = expires {
            entry["expires"] = expires.into();
        }
        entry
    };
    let owner = |main: Value, agent: Value| {
        profile_owner(
            &store(&json!({"x": main})),
            &store(&json!({"x": agent})),
            &profile("x"),
        )
    };
    let (same, mail) = (Some("acc"), Some("Me@X"));
    for (main, agent, expected) in [
        (
            json!({"type": "api_key", "key": "k"}),
            json!({"type": "api_key", "key": "k"}),
            ProfileOwner::Agent,
        ),
        (
            login(None, None, "1", None),
            login(None, None, "1", None),
            ProfileOwner::Main,
        ),
        (
            login(same, None, "1", Some(20)),
            login(same, None, "2", Some(10)),
            ProfileOwner::Main,
        ),
        (
            login(same, None, "1", Some(10)),
            login(same, None, "2", Some(10)),
            ProfileOwner::Main,
        ),
        (
            login(same, None, "1", Some(9)),
            login(same, None, "2", Some(10)),
            ProfileOwner::Agent,
        ),
        (
            login(same, None, "1", None),
            login(same, None, "2", None),
            ProfileOwner::Main,
        ),
        (
            login(same, None, "1", None),
            login(same, None, "2", Some(1)),
            ProfileOwner::Agent,
        ),
        (
            login(Some("other"), mail, "1", Some(20)),
            login(same, mail, "2", Some(10)),
            ProfileOwner::Agent,
        ),
        (
            login(None, Some("me@x"), "1", Some(20)),
            login(same, mail, "2", Some(10)),
            ProfileOwner::Main,
        ),
        (
            login(None, Some("you@x"), "1", Some(20)),
            login(None, mail, "2", Some(10)),
            ProfileOwner::Agent,
        ),
        (
            login(same, None, "1", Some(20)),
            login(None, mail, "2", Some(10)),
            ProfileOwner::Agent,
        ),
        (
            login(same, mail, "1", Some(20)),
            login(None, None, "2", Some(10)),
            ProfileOwner::Main,
        ),
        (
            login(None, None, "1", Some(20)),
            login(same, None, "2", Some(10)),
            ProfileOwner::Agent,
        ),
    ] {
        assert_eq!(owner(main.clone(), agent.clone()), expected, "{main} {agent}");
    }
    assert_eq!(
        profile_owner(&keys(&["x"]), &keys(&[]), &profile("x")),
        ProfileOwner::Main
    );
    assert_eq!(
        profile_owner(&keys(&[]), &keys(&[]), &profile("x")),
        ProfileOwner::Agent
    );
}

fn engine(main: AuthSnapshot, agent: AuthSnapshot) -> InheritingAuthStore<MemoryAuthStore, MemoryAuthStore> {
    let memory = |snapshot| MemoryAuthStore::new(snapshot, CooldownConfig::default());
    InheritingAuthStore::new(Arc::new(memory(main)), memory(agent))
}

/// BL-75 (overruled): state is per agent, and inherited profiles share their owner's.
#[tokio::test]
async fn d14_bl_73_a_mark_goes_to_the_store_that_owns_the_profile() {
    let store = engine(keys(&["inherited"]), keys(&["own"]));
    for id in ["inherited", "own"] {
        let mark = failure(id, Reason::Billing, None, 1);
        assert_eq!(store.commit(mark, at(1)).await.unwrap(), ChangeOutcome::Done);
        assert!(!store.snapshot().usage(&profile(id)).is_usable(None, at(1)));
    }
    let resting = |snapshot: &AuthSnapshot| {
        let usage = snapshot
            .usage
            .iter()
            .filter(|(_, usage)| !usage.is_usable(None, at(1)));
        usage.map(|(id, _)| id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(resting(&store.main().unwrap().snapshot()), ["inherited"]);
    assert_eq!(resting(&store.agent().snapshot()), ["own"]);
    store.enqueue(success("inherited", None, 2), at(2));
    assert_eq!(resting(&store.main().unwrap().snapshot()), Vec::<String>::new());
    assert_eq!(
        store.main().unwrap().snapshot().last_good[&openai()],
        profile("inherited")
    );
    let nobody = store
        .commit(failure("nobody", Reason::Billing, None, 3), at(3))
        .await;
    assert!(nobody.is_err(), "a write that matches nothing is an error");
}

#[tokio::test]
async fn what_belongs_to_no_profile_is_the_agents_own() {
    let store = engine(keys(&["a"]), keys(&[]));
    let endpoint = EndpointKey {
        provider: openai(),
        base_url: "https://a".to_owned(),
    };
    let failed = UsageChange::EndpointFailure {
        endpoint,
        started_at: None,
    };
    store.commit(failed, at(1)).await.unwrap();
    assert_eq!(store.agent().snapshot().endpoints.len(), 1);
    assert!(store.main().unwrap().snapshot().endpoints.is_empty());
}

#[tokio::test]
async fn i10_i13_bl_78_profiles_are_changed_in_the_agents_own_store() {
    let login = |access: &str, expires: i64| {
        let entry = json!({"type": "oauth", "provider": "openai", "access": access, "accountId": "acc", "expires": expires});
        Credential::from_json(&entry).unwrap()
    };
    let mut main = keys(&["a"]);
    main.upsert(profile("login"), login("1", 20)).unwrap();
    let store = engine(main.clone(), keys(&[]));
    store.upsert(profile("a"), key("own"), at(0)).await.unwrap();
    store
        .upsert(profile("login"), login("0", 10), at(0))
        .await
        .unwrap();
    assert_eq!(
        ids(&store
            .agent()
            .snapshot()
            .profiles
            .keys()
            .cloned()
            .collect::<Vec<_>>()),
        "a"
    );
    store
        .upsert(profile("login"), login("2", 30), at(0))
        .await
        .unwrap();
    assert_eq!(store.snapshot().profiles[&profile("login")], login("2", 30));
    store
        .set_order(openai(), vec![profile("login"), profile("a")], at(0))
        .await
        .unwrap();
    store.remove(profile("a"), at(0)).await.unwrap();
    assert!(
        store.remove(profile("a"), at(0)).await.is_err(),
        "an inherited profile is not the agent's to remove"
    );
    assert_eq!(*store.main().unwrap().snapshot(), main);
}

#[test]
fn the_view_is_made_anew_only_when_something_changed() {
    let store = engine(keys(&["a"]), keys(&["b"]));
    let first = store.snapshot();
    assert!(Arc::ptr_eq(&first, &store.snapshot()));
    store.main().unwrap().enqueue(success("a", None, 1), at(1));
    assert!(!Arc::ptr_eq(&first, &store.snapshot()));
}

#[tokio::test]
async fn i1_the_main_agent_inherits_nothing() {
    let config = CooldownConfig::default();
    let own = Arc::new(MemoryAuthStore::new(keys(&["a"]), config));
    let store: InheritingAuthStore<MemoryAuthStore, MemoryAuthStore> =
        InheritingAuthStore::alone(Arc::clone(&own));
    assert!(Arc::ptr_eq(&store.snapshot(), &own.snapshot()));
    store.commit(success("a", None, 1), at(1)).await.unwrap();
    store.upsert(profile("b"), key("b"), at(1)).await.unwrap();
    assert_eq!(
        (own.snapshot().profiles.len(), own.snapshot().last_good.len()),
        (2, 1)
    );
    assert!(store.main().is_none());
}

#[test]
fn i5_i6_an_agent_without_anything_sees_the_main_agents_store() {
    let mut main = keys(&["a", "b"]);
    main.order.insert(openai(), vec![profile("b"), profile("lost")]);
    main.last_good.insert(openai(), profile("b"));
    let seen = inherit(&main, &AuthSnapshot::default());
    assert_eq!(
        (seen.profiles, seen.order, seen.last_good),
        (main.profiles, main.order, main.last_good)
    );
}

#[tokio::test]
async fn i12_the_use_of_an_inherited_profile_is_remembered() {
    let store = engine(keys(&["a"]), keys(&[]));
    let used = UsageChange::Used {
        profile: profile("a"),
    };
    store.commit(used, at(7)).await.unwrap();
    for seen in [store.snapshot(), store.main().unwrap().snapshot()] {
        assert_eq!(seen.usage(&profile("a")).last_used, Some(at(7)));
    }
}
