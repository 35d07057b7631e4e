//! The naive walk on its own.

use std::path::Path;

use serde_json::{Value, json};

use super::*;
use crate::judge::{RowStatus, judge};
use crate::row;

const LIMITED: &str = r#"429 {"error":{"type":"rate_limit_error","message":"slow down"}}"#;

/// A row over two candidates with these runs.
fn row(runs: &Value, expected: &Value) -> Row {
    Row::of(&json!({
        "id": "x",
        "input": {
            "startMs": 1_750_000_000_000_i64,
            "config": {"agents": {"defaults": {"model": {"primary": "anthropic/claude", "fallbacks": ["openai/gpt"]}}}},
            "store": {"profiles": {}},
            "runs": runs,
        },
        "expected": expected,
    }))
}

fn run(script: &Value) -> Value {
    json!({"provider": "anthropic", "model": "claude", "runId": "r", "script": script})
}

fn answered(script: &Value) -> Value {
    answer(&row(&json!([run(script)]), &Value::Null))["runs"][0].clone()
}

#[test]
fn a_first_try_is_one_call_and_no_record() {
    let seen = answered(&json!({}));
    assert_eq!(seen["outcome"]["ok"]["provider"], "anthropic");
    assert_eq!(seen["calls"].as_array().unwrap().len(), 1);
    assert_eq!(seen["decisions"], json!([]));
}

#[test]
fn a_failure_is_seen_by_everybody() {
    let seen = answered(
        &json!({"anthropic/claude": [{"throw": {"$type": "Error", "message": LIMITED, "status": 429}}]}),
    );
    assert_eq!(seen["outcome"]["ok"]["attempts"][0]["reason"], "rate_limit");
    assert_eq!(seen["onError"][0]["error"], LIMITED);
    assert_eq!(seen["steps"][0]["fallbackStepFromFailureDetail"], "slow down");
    assert_eq!(seen["decisions"][1]["decision"], "candidate_succeeded");
}

#[test]
fn who_cancelled_is_read_off_the_facts_and_never_off_the_shape() {
    let abort = |more: Value| {
        let mut error = json!({"$type": "Error", "name": "AbortError", "message": "aborted"});
        error
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let seen = answered(&json!({"anthropic/claude": [{"throw": error}]}));
        seen["outcome"]["error"]["rethrown"] == true
    };
    assert!(abort(json!({"code": "OPENCLAW_RESTART_ABORT"})));
    assert!(abort(
        json!({"cause": {"$type": "Error", "code": "OPENCLAW_RESTART_ABORT"}})
    ));
    assert!(abort(
        json!({"$abortableWrapper": true, "cause": {"$type": "Error", "name": "TimeoutError"}})
    ));
    assert!(abort(
        json!({"$abortableWrapper": true, "cause": "cron: job execution timed out after 5 s"})
    ));
    assert!(!abort(
        json!({"$abortableWrapper": true, "cause": "cron: job execution timed outside"})
    ));
    assert!(!abort(json!({"cause": "cron: job execution timed out"})));
    assert!(!abort(json!({})));
}

#[test]
fn m2_the_step_of_a_success_shows_the_short_form() {
    let script =
        json!({"anthropic/claude": [{"throw": {"$type": "Error", "message": LIMITED, "status": 429}}]});
    let ours = answered(&script);
    let mut recorded = ours.clone();
    for list in ["steps", "decisions"] {
        recorded[list][1]["fallbackStepFromFailureDetail"] = LIMITED.into();
    }
    let judged = judge(&KIND, &row(&json!([run(&script)]), &json!({"runs": [recorded]})));
    assert_eq!(judged.standing, RowStatus::Decided(vec!["M2"]));
    let mut wrong = ours;
    wrong["steps"][0]["fallbackStepFromFailureDetail"] = LIMITED.into();
    let judged = judge(&KIND, &row(&json!([run(&script)]), &json!({"runs": [wrong]})));
    assert_eq!(judged.standing, RowStatus::Differ);
}

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/corpora/run.jsonl");

#[test]
fn every_recorded_run_agrees_or_decisions_explain_it() {
    let rows = row::read(Path::new(RECORDED)).unwrap();
    let standings: Vec<_> = rows.iter().map(|row| judge(&KIND, row).standing).collect();
    let count = |wanted: fn(&RowStatus) -> bool| standings.iter().filter(|standing| wanted(standing)).count();
    let agree = count(|standing| *standing == RowStatus::Agree);
    let disputed = count(|standing| *standing == RowStatus::Disputed);
    let decided = count(|standing| matches!(standing, RowStatus::Decided(_)));
    assert_eq!((agree, disputed, decided, rows.len()), (137, 9, 93, 239));
}

/// Without any decision the oracle is the recorded program, also where nothing was decided.
#[test]
fn without_decisions_the_oracle_finds_what_was_recorded() {
    let rows = row::read(Path::new(RECORDED)).unwrap();
    let none = crate::kind::Switches::of(&[]);
    let missed = rows.iter().filter(|row| !row.is_disputed());
    let missed = missed.filter(|row| {
        let found = oracle::oracle(row.input(), &none);
        !crate::difference::differences(row.expected(), &found).is_empty()
    });
    assert_eq!(missed.map(|row| row.id.as_str()).collect::<Vec<_>>(), [""; 0]);
}
