//! What a new credential takes over, and what it resets.

#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

use openclaw_classify::Reason;
use openclaw_cooldown::{Lane, Window};
use serde_json::{Value, json};

use super::*;

fn id(text: &str) -> ProfileId {
    text.parse().unwrap()
}

fn credential(entry: Value) -> Credential {
    Credential::from_json(&entry).unwrap()
}

fn store(entries: Value) -> AuthSnapshot {
    let mut store = AuthSnapshot::default();
    for (name, entry) in entries.as_object().unwrap() {
        store.upsert(id(name), credential(entry.clone())).unwrap();
    }
    store
}

fn rest(store: &mut AuthSnapshot, name: &str) {
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let fingerprint = store.profiles[&id(name)].fingerprint();
    store.usage.update(&id(name), |mut usage| {
        usage.fingerprint = fingerprint;
        let window = Window::new(now, now, Reason::Billing);
        usage.windows.insert(Lane::Billing, window);
        usage
    });
}

#[test]
fn c2_pasted_secrets_are_cleaned() {
    let store = store(json!({
        "k": {"type": "api_key", "provider": "p", "key": " sk\n1 "},
        "t": {"type": "token", "provider": "p", "token": "\u{2028}"},
        "o": {"type": "oauth", "provider": "p", "access": " a "},
    }));
    let kept = |name: &str| store.profiles[&id(name)].to_json().unwrap();
    assert_eq!(kept("k")["key"], json!("sk1"));
    assert_eq!(kept("t").get("token"), None);
    assert_eq!(kept("o")["access"], json!(" a "));
}

#[test]
fn d13_c3_what_a_new_credential_takes_over() {
    let old_pointer = json!({"source": "openclaw-credentials", "provider": "openai-codex",
        "id": "0123456789abcdef0123456789abcdef"});
    for (old, new, stored) in [
        (
            json!({"type": "api_key", "provider": "p", "key": "1", "future": true, "email": "old"}),
            json!({"type": "api_key", "provider": "p", "key": "2"}),
            json!({"type": "api_key", "provider": "p", "key": "2", "future": true}),
        ),
        // Of another type or provider nothing may turn into a secret of the new one.
        (
            json!({"type": "token", "provider": "p", "token": "1", "key": "leftover"}),
            json!({"type": "api_key", "provider": "p"}),
            json!({"type": "api_key", "provider": "p"}),
        ),
        (
            json!({"type": "api_key", "provider": "q", "key": "1", "future": true}),
            json!({"type": "api_key", "provider": "p", "key": "2"}),
            json!({"type": "api_key", "provider": "p", "key": "2"}),
        ),
        (
            json!({"type": "oauth", "provider": "p", "oauthRef": old_pointer}),
            json!({"type": "oauth", "provider": "p", "email": "e"}),
            json!({"type": "oauth", "provider": "p", "email": "e", "oauthRef": old_pointer}),
        ),
        (
            json!({"type": "oauth", "provider": "p", "access": "a", "oauthRef": old_pointer}),
            json!({"type": "oauth", "provider": "p", "access": "b"}),
            json!({"type": "oauth", "provider": "p", "access": "b"}),
        ),
    ] {
        let mut store = store(json!({"x": old}));
        store.upsert(id("x"), credential(new.clone())).unwrap();
        assert_eq!(store.profiles[&id("x")].to_json(), Some(stored), "{old} {new}");
    }
}

#[test]
fn d9_a_replaced_key_is_free_and_a_refreshed_login_is_not() {
    let mut store = store(json!({
        "k": {"type": "api_key", "provider": "p", "key": "1"},
        "o": {"type": "oauth", "provider": "p", "access": "1", "accountId": "acc"},
    }));
    rest(&mut store, "k");
    rest(&mut store, "o");
    let key = json!({"type": "api_key", "provider": "p", "key": "2"});
    let login = json!({"type": "oauth", "provider": "p", "access": "2", "accountId": "acc"});
    store.upsert(id("k"), credential(key)).unwrap();
    store.upsert(id("o"), credential(login)).unwrap();
    assert!(store.usage(&id("k")).windows.is_empty());
    assert_eq!(store.usage(&id("o")).windows.len(), 1);
}

#[test]
fn x4_what_needs_no_credential_is_not_stored() {
    let mut store = AuthSnapshot::default();
    let error = store
        .upsert(id("o:local"), Credential::local("o".parse().unwrap()))
        .unwrap_err();
    assert!(error.to_string().contains("is not stored"), "{error}");
    assert!(store.profiles.is_empty());
}

#[test]
fn m10_removing_a_profile_removes_every_trace() {
    let mut store = store(json!({
        "a": {"type": "api_key", "provider": "p", "key": "1"},
        "b": {"type": "api_key", "provider": "p", "key": "2"},
    }));
    let p: ProviderId = "p".parse().unwrap();
    store.last_good.insert(p.clone(), id("a"));
    store.set_order(p.clone(), vec![id("a"), id("b")]);
    rest(&mut store, "a");
    store.remove(&id("a")).unwrap();
    assert_eq!(store.order[&p], [id("b")]);
    assert!(store.last_good.is_empty() && store.usage.is_empty());
    store.remove(&id("b")).unwrap();
    assert!(store.order.is_empty());
    assert!(store.remove(&id("b")).is_err());
}

#[test]
fn m11_an_order_keeps_each_id_once_and_an_empty_one_ends_it() {
    let mut store = AuthSnapshot::default();
    let p: ProviderId = "p".parse().unwrap();
    store.set_order(p.clone(), ["lost", "a", "lost"].map(id).to_vec());
    assert_eq!(store.order[&p], ["lost", "a"].map(id));
    store.set_order(p, Vec::new());
    assert!(store.order.is_empty());
}

#[test]
fn bl_48_ids_that_do_not_belong_into_an_order_are_named() {
    let mut store = store(json!({
        "a": {"type": "api_key", "provider": "p", "key": "1"},
        "b": {"type": "api_key", "provider": "q", "key": "2"},
    }));
    let env = credential(json!({"type": "api_key", "provider": "p", "key": "3"}));
    store.ambient.insert(id("p:env"), env);
    let check = |ids: &[&str]| {
        let ids: Vec<_> = ids.iter().map(|text| id(text)).collect();
        store
            .check_order(&"p".parse().unwrap(), &ids)
            .map_err(|error| error.to_string())
    };
    assert_eq!(check(&["a", "p:env"]), Ok(()));
    assert!(
        check(&["a", "typo"])
            .unwrap_err()
            .contains("there is no profile `typo`")
    );
    assert!(
        check(&["b"])
            .unwrap_err()
            .contains("is for provider `q`, not `p`")
    );
}

#[test]
fn s8_3_removing_a_provider_removes_it_under_all_its_names() {
    let mut snapshot = store(json!({
        "a": {"type": "api_key", "provider": "minimax", "key": "k"},
        "b": {"type": "api_key", "provider": "minimax-cn", "key": "k"},
        "c": {"type": "api_key", "provider": "openai", "key": "k"},
    }));
    let [minimax, openai] = ["minimax", "openai"].map(|id| id.parse::<ProviderId>().unwrap());
    snapshot.set_order(minimax.clone(), vec!["lost".parse().unwrap()]);
    snapshot.set_order(openai.clone(), vec!["c".parse().unwrap()]);
    snapshot.last_good.insert(minimax.clone(), "b".parse().unwrap());
    snapshot.remove_provider(&minimax);
    let left: Vec<_> = snapshot.profiles.keys().map(ProfileId::as_str).collect();
    assert_eq!(left, ["c"]);
    assert_eq!(snapshot.order.keys().collect::<Vec<_>>(), [&openai]);
    assert!(snapshot.last_good.is_empty());
}

#[test]
fn s8_3_a_promoted_profile_comes_first() {
    let mut snapshot = store(json!({
        "a": {"type": "api_key", "provider": "minimax", "key": "k"},
        "b": {"type": "api_key", "provider": "minimax-cn", "key": "k"},
        "c": {"type": "api_key", "provider": "openai", "key": "k"},
    }));
    let [minimax, cn] = ["minimax", "minimax-cn"].map(|id| id.parse::<ProviderId>().unwrap());
    let id = |text: &str| text.parse::<ProfileId>().unwrap();
    let list = |ids: &[&str]| ids.iter().map(|text| id(text)).collect::<Vec<_>>();
    let first = |snapshot: &AuthSnapshot, at: &str| snapshot.promoted(&cn, &id(at)).unwrap();
    assert_eq!(
        first(&snapshot, "b"),
        Some((minimax.clone(), list(&["b", "a"]))),
        "from all"
    );
    snapshot.set_order(cn.clone(), list(&["a", "lost"]));
    assert_eq!(
        first(&snapshot, "b"),
        Some((cn.clone(), list(&["b", "a", "lost"]))),
        "its own key"
    );
    snapshot.set_order(minimax.clone(), list(&["b", "a"]));
    assert_eq!(
        first(&snapshot, "b"),
        None,
        "the shared key counts, and it is first"
    );
    assert_eq!(first(&snapshot, "a"), Some((minimax, list(&["a", "b"]))));
    for (at, unknown) in [("lost", true), ("c", false)] {
        let error = snapshot.promoted(&cn, &id(at)).unwrap_err();
        assert_eq!(matches!(error, OrderError::Unknown { .. }), unknown, "{error}");
    }
}

#[test]
fn s7_what_a_new_agent_may_be_given() {
    let mut snapshot = store(json!({
        "key": {"type": "api_key", "provider": "p", "key": "k"},
        "kept": {"type": "api_key", "provider": "p", "key": "k", "copyToAgents": false},
        "token": {"type": "token", "provider": "p", "token": "t", "copyToAgents": true},
        "held": {"type": "token", "provider": "p", "token": "t", "copyToAgents": false},
        "login": {"type": "oauth", "provider": "p", "access": "a"},
        "lent": {"type": "oauth", "provider": "p", "refresh": "r", "copyToAgents": true},
        "empty": {"type": "oauth", "provider": "p", "copyToAgents": true},
    }));
    let [p, q] = ["p", "q"].map(|id| id.parse::<ProviderId>().unwrap());
    let list = |ids: &[&str]| {
        ids.iter()
            .map(|text| text.parse().unwrap())
            .collect::<Vec<ProfileId>>()
    };
    snapshot.set_order(p.clone(), list(&["kept", "lent", "key"]));
    snapshot.set_order(q, list(&["kept"]));
    snapshot
        .usage
        .insert("key".parse().unwrap(), openclaw_cooldown::ProfileUsage::default());
    let copy = snapshot.portable();
    let ids: Vec<_> = copy.profiles.keys().map(ProfileId::as_str).collect();
    assert_eq!(ids, ["key", "token", "lent"]);
    assert_eq!((copy.order.len(), &copy.order[&p]), (1, &list(&["lent", "key"])));
    assert!(copy.usage.is_empty());
}
