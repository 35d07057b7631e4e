//! The oracle keeps the decisions on small examples, and decisions reach only what their input calls for.

use std::path::Path;

use serde_json::{Value, json};

use super::{KIND, decisions, oracle};
use crate::judge::{RowStatus, judge};
use crate::row;

const DAY: i64 = 86_400_000;

fn input(events: &Value) -> Value {
    json!({
        "startMs": DAY,
        "config": {},
        "models": ["m1", "m2"],
        "store": {"profiles": {"groq:a": {"type": "api_key", "provider": "groq", "key": "k"}}},
        "events": events,
    })
}

fn failure(reason: &str, model: &str) -> Value {
    json!({"op": "failure", "profile": "groq:a", "reason": reason, "model": model})
}

fn advance(ms: i64) -> Value {
    json!({"op": "advance", "ms": ms})
}

/// The saved state after the last event, times counted from the start.
fn last(events: &Value) -> Value {
    let answer = oracle::oracle(&input(events));
    let steps = answer["steps"].as_array().unwrap();
    let mut stats = steps.last().unwrap()["usageStats"]["groq:a"].clone();
    for member in ["cooldownUntil", "disabledUntil", "lastFailureAt", "lastUsed"] {
        if let Some(at) = stats[member].as_i64() {
            stats[member] = json!(at - DAY);
        }
    }
    stats
}

#[test]
fn d1_the_ladder_goes_on_after_a_window_has_ended() {
    let fail = || failure("rate_limit", "m1");
    let stats = last(&json!([fail(), advance(31_000), fail(), advance(61_000), fail()]));
    assert_eq!(stats["cooldownUntil"], 92_000 + 300_000);
    assert_eq!(stats["errorCount"], 3);
}

#[test]
fn d2_failures_within_a_window_are_one_episode() {
    let fail = || failure("rate_limit", "m1");
    let stats = last(&json!([fail(), advance(5_000), fail()]));
    assert_eq!(
        (&stats["cooldownUntil"], &stats["errorCount"]),
        (&json!(30_000), &json!(1))
    );
    assert_eq!(
        (&stats["failureCounts"], &stats["lastFailureAt"]),
        (&json!({"rate_limit": 2}), &json!(5_000))
    );
}

#[test]
fn d4_d5_each_model_rests_alone_and_on_its_own_step() {
    let answer = oracle::oracle(&input(&json!([
        failure("overloaded", "m1"),
        failure("timeout", "m2")
    ])));
    let step = &answer["steps"][1];
    assert_eq!(
        step["inCooldown"]["groq:a"],
        json!({"*": true, "m1": true, "m2": true})
    );
    assert_eq!(
        answer["steps"][0]["inCooldown"]["groq:a"],
        json!({"*": true, "m1": true, "m2": false})
    );
    assert_eq!(step["usageStats"]["groq:a"]["errorCount"], 2);
    assert_eq!(step["unusableUntil"]["groq:a"], DAY + 30_000);
}

#[test]
fn d15_a_window_that_is_over_has_no_end_to_wait_for() {
    let answer = oracle::oracle(&input(&json!([failure("auth", "m1"), advance(30_000)])));
    let step = &answer["steps"][1];
    assert_eq!(
        (&step["unusableUntil"]["groq:a"], &step["soonestExpiry"]["*"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(step["unavailableReason"], Value::Null);
}

/// The recorded answers of the other program, under the decisions.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/corpora/cooldown.jsonl"
);

#[test]
fn every_recorded_answer_agrees_or_a_decision_explains_it() {
    let rows = row::read(Path::new(RECORDED)).unwrap();
    let standings: Vec<_> = rows.iter().map(|row| judge(&KIND, row).standing).collect();
    let count = |wanted: fn(&RowStatus) -> bool| standings.iter().filter(|standing| wanted(standing)).count();
    let agree = count(|standing| *standing == RowStatus::Agree);
    let disputed = count(|standing| *standing == RowStatus::Disputed);
    let decided = count(|standing| matches!(standing, RowStatus::Decided(_)));
    // `cooldown-billing-cfg-max-below-base` is decided since a cap holds below the first wait (F-5).
    assert_eq!((agree, disputed, decided, rows.len()), (40, 10, 113, 163));
}

/// The decisions that reach a path after the last event, by its profile member.
fn reaching(events: &Value, member: &str) -> Vec<&'static str> {
    let at = (events.as_array().unwrap().len() - 1).to_string();
    let path = ["steps", &at, "usageStats", "groq:a", member]
        .map(str::to_owned)
        .to_vec();
    let reaches = |patterns: Vec<Vec<String>>| patterns.iter().any(|pattern| path.starts_with(pattern));
    let decisions = decisions::DECISIONS
        .iter()
        .filter(|decision| reaches((decision.reach)(&input(events))));
    decisions.map(|decision| decision.id).collect()
}

#[test]
fn a_single_scoped_failure_is_what_was_recorded() {
    for member in [
        "cooldownUntil",
        "cooldownModel",
        "cooldownReason",
        "errorCount",
        "failureCounts",
    ] {
        assert_eq!(
            reaching(&json!([failure("rate_limit", "m1")]), member),
            [""; 0],
            "{member}"
        );
    }
}

#[test]
fn decisions_reach_what_their_input_calls_for() {
    let fail = || failure("rate_limit", "m1");
    assert_eq!(
        reaching(&json!([failure("overloaded", "m1")]), "cooldownModel"),
        ["D4"]
    );
    assert_eq!(
        reaching(&json!([fail(), advance(1_000), fail()]), "errorCount"),
        ["D2"]
    );
    assert_eq!(
        reaching(&json!([fail(), advance(31_000), fail()]), "failureCounts"),
        ["D1"]
    );
    assert_eq!(
        reaching(&json!([fail(), failure("auth", "m1")]), "cooldownReason"),
        ["D3", "D4"]
    );
    assert_eq!(
        reaching(&json!([failure("no_error_details", "m1")]), "lastFailureAt"),
        ["D6"]
    );
}
