//! The JSON rows: what is read of them and what an edit leaves alone.

use openclaw_cooldown::UsageStats;
use openclaw_ids::{ProfileId, ProviderId};
use serde_json::json;

use super::*;
use crate::{Credential, Rejection, Secret};

fn id(text: &str) -> ProfileId {
    text.parse().unwrap()
}

fn provider(text: &str) -> ProviderId {
    text.parse().unwrap()
}

#[test]
fn j1_what_is_no_store() {
    for (text, problem) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ("null", "not a JSON object"),
        ("{}", "no object under `profiles`"),
        (r#"{"profiles":[]}"#, "no object under `profiles`"),
    ] {
        let found = StoreDocument::parse(text).err().unwrap();
        assert!(found.starts_with(problem), "{text}: {found}");
    }
    assert!(StateDocument::parse("[]").is_err());
}

#[test]
fn d13_an_edit_leaves_everything_else_as_it_was() {
    let text = json!({
        "future": [1], "profiles": {
            " a ": {"type": "api_key", "provider": "P", "key": "1", "x": {"y": null}},
            "b": {"type": "aws-sdk", "provider": "p"},
            "": {"type": "api_key", "provider": "p", "key": "2"},
            "c": 5
        }, "version": 7
    })
    .to_string();
    let mut store = StoreDocument::parse(&text).unwrap();
    let found = store.profiles();
    assert_eq!(found.credentials.keys().collect::<Vec<_>>(), [&id("a")]);
    let rejected: Vec<_> = found
        .rejected
        .iter()
        .map(|(key, why)| (key.as_str(), why.as_str()))
        .collect();
    assert_eq!(
        rejected,
        [("b", "invalid_type"), ("", "non_object"), ("c", "non_object")]
    );
    assert_eq!(found.rejected[0].1, Rejection::InvalidType);

    store.put(&id("d"), &Credential::api_key(provider("q"), Secret::new("3")));
    store.put(&id("a"), &Credential::api_key(provider("p"), Secret::new("4")));
    assert!(store.holds(&id("c")) && !store.holds(&id("e")));
    assert_eq!(
        store.to_json(),
        json!({
            "version": 1, "future": [1], "profiles": {
                " a ": {"type": "api_key", "provider": "p", "key": "4"},
                "b": {"type": "aws-sdk", "provider": "p"},
                "": {"type": "api_key", "provider": "p", "key": "2"},
                "c": 5,
                "d": {"type": "api_key", "provider": "q", "key": "3"}
            }
        })
        .to_string()
    );
    store.remove(&id("a"));
    assert!(!store.holds(&id("a")));
}

#[test]
fn what_a_state_row_says() {
    let text = json!({
        "order": {"OpenAI": ["a", " b ", 5, "", "a"], "x": "a", "openai": ["c"], "empty": [" "]},
        "lastGood": {" OpenAI ": " a ", "x": "", "y": 5},
        "usageStats": {" a ": {"errorCount": 1, "future": 1}, "b": 5}
    })
    .to_string();
    let state = StateDocument::parse(&text).unwrap();
    assert_eq!(
        state.order().into_iter().collect::<Vec<_>>(),
        [(provider("openai"), vec![id("c")])]
    );
    assert_eq!(
        state.last_good().into_iter().collect::<Vec<_>>(),
        [(provider("openai"), id("a"))]
    );
    let stats: UsageStats = serde_json::from_value(json!({"errorCount": 1, "future": 1})).unwrap();
    assert_eq!(state.usage_stats().get(&id("a")), Some(&stats));
    assert_eq!(state.usage_stats().get(&id("b")), None);
}

#[test]
fn d12_what_is_taken_away_leaves_nothing() {
    let text = json!({
        "version": 1, "order": {"OpenAI": ["a"], "openai": ["b"]}, "lastGood": {"p": "a"}, "usageStats": {" a": {}}
    });
    let mut state = StateDocument::parse(&text.to_string()).unwrap();
    state.set_order(&provider("openai"), None);
    state.set_last_good(&provider("p"), None);
    assert!(!state.is_empty());
    state.set_usage(&id("a"), None);
    assert!(state.is_empty());
    state.set_order(&provider("p"), Some(&[id("a")]));
    state.set_last_good(&provider("p"), Some(&id("a")));
    state.set_usage(&id("a"), Some(json!({"errorCount": 0})));
    assert_eq!(
        state.to_json(),
        r#"{"version":1,"order":{"p":["a"]},"lastGood":{"p":"a"},"usageStats":{"a":{"errorCount":0}}}"#
    );
}

#[test]
fn j5_state_beside_the_secrets_is_the_base() {
    let text = json!({"profiles": {}, "order": {"P": ["old"], "q": ["old"]}, "lastGood": 5}).to_string();
    let mut store = StoreDocument::parse(&text).unwrap();
    let mut state = StateDocument::parse(r#"{"order":{"p":["new"]}}"#).unwrap();
    state.add_beneath(&store.take_embedded_state());
    assert!(
        store == StoreDocument::parse(r#"{"profiles":{},"lastGood":5}"#).unwrap(),
        "5 is no state"
    );
    let order: Vec<_> = state.order().into_values().flatten().collect();
    assert_eq!(order, [id("new"), id("old")]);
}

/// J3
#[test]
fn j3_one_warning_names_ten_rejected_entries_and_counts_all_of_them() {
    let mut entries = serde_json::Map::new();
    for number in 0..12 {
        entries.insert(
            format!("odd-{number}"),
            json!({"type": "plant", "key": "plant-key"}),
        );
    }
    entries.insert("list".to_owned(), json!([]));
    entries.insert(
        "nobody".to_owned(),
        json!({"type": "token", "token": "plant-token"}),
    );
    entries.insert(
        "good".to_owned(),
        json!({"type": "token", "provider": "p", "token": "t"}),
    );
    let text = json!({"profiles": entries}).to_string();
    let found = StoreDocument::parse(&text).unwrap().profiles();
    assert_eq!((found.credentials.len(), found.rejected.len()), (1, 14));

    let log = crate::testing::log_capture::Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        warn_rejected(&found.rejected);
        warn_rejected(&[]);
    });
    let lines = log.lines();
    assert_eq!(lines.matches("message=").count(), 1, "{lines}");
    assert_eq!(lines.matches("sha256:").count(), 10, "{lines}");
    for count in [
        "\"invalid_type\": 12",
        "\"missing_provider\": 1",
        "\"non_object\": 1",
    ] {
        assert!(lines.contains(count), "{count} in {lines}");
    }
    assert!(!lines.contains("plant") && !lines.contains("odd-"), "{lines}");
}
