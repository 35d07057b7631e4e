//! The oracle keeps the order rules on small examples, and decisions reach only what their input calls for.

use serde_json::{Value, json};

use super::oracle::{DECISIONS, oracle};

const NOW: i64 = 1_000_000;

fn input(provider: &str, usage: &Value) -> Value {
    let key = |secret: &str| json!({"type": "api_key", "provider": provider, "key": secret});
    json!({
        "nowMs": NOW,
        "config": {},
        "provider": provider,
        "store": {"profiles": {"a": key("k"), "b": key("k"), "c": key(" ")}, "usageStats": usage},
    })
}

fn reaching(input: &Value) -> Vec<&'static str> {
    DECISIONS
        .iter()
        .filter(|decision| !(decision.reach)(input).is_empty())
        .map(|decision| decision.id)
        .collect()
}

#[test]
fn what_rests_comes_last_and_what_cannot_be_used_not_at_all() {
    assert_eq!(
        oracle(&input("groq", &json!({"a": {"blockedUntil": NOW + 1}})))["order"],
        json!(["b", "a"])
    );
    assert_eq!(
        oracle(&input("groq", &json!({"a": {"blockedUntil": NOW}})))["order"],
        json!(["a", "b"])
    );
    assert_eq!(
        oracle(&input("groq", &json!({"a": {"lastUsed": 5}})))["order"],
        json!(["b", "a"])
    );
}

#[test]
fn d1_counts_stay_when_a_window_is_taken_out() {
    let usage = json!({"a": {"cooldownUntil": NOW, "cooldownReason": "auth", "errorCount": 2}});
    let input = input("groq", &usage);
    assert_eq!(oracle(&input)["usageStats"], json!({"a": {"errorCount": 2}}));
    assert_eq!(reaching(&input), ["D1"]);
}

#[test]
fn d5_a_window_that_nobody_counted_is_an_episode() {
    let input = input(
        "groq",
        &json!({"a": {"disabledUntil": 5, "disabledReason": "billing"}}),
    );
    assert_eq!(oracle(&input)["usageStats"], json!({"a": {"errorCount": 1}}));
    assert_eq!(reaching(&input), ["D5"]);
}

#[test]
fn d8_reaches_exempt_providers_that_rest_and_nobody_else() {
    let resting = json!({"a": {"cooldownUntil": NOW + 1, "errorCount": 1}});
    assert_eq!(reaching(&input("openrouter", &resting)), ["D8"]);
    assert_eq!(reaching(&input("groq", &resting)), [""; 0]);
    assert_eq!(
        reaching(&input("openrouter", &json!({"a": {"lastUsed": 1}}))),
        [""; 0]
    );
}
