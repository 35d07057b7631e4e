//! The observed behaviour of the other program, and where the decisions part from it.
//!
//! Every answer must be the oracle's. Where it is not the observed one, a decision that applies to the line must
//! name the path.

mod decisions;
mod expected;
mod replay;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use decisions::DECISIONS;
use expected::Expected;
use replay::Replay;

const CORPUS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/corpora/cooldown.jsonl"
);

/// Members that answer questions of a store, not of this crate.
const ELSEWHERE: [&str; 3] = ["changed", "lastGood", "usageProbeCalls"];

/// Every value with its path; `null` counts as absent.
fn flat(value: &Value) -> BTreeMap<Vec<String>, Value> {
    let mut values = BTreeMap::new();
    let mut open = vec![(Vec::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, value) in members
                    .iter()
                    .filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()))
                {
                    open.push(([path.clone(), vec![name.clone()]].concat(), value));
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                values.insert(path, value.clone());
            }
        }
    }
    values
}

/// The paths on which two answers differ, with both values.
fn differences(ours: &Value, theirs: &Value) -> Vec<(Vec<String>, Option<Value>, Option<Value>)> {
    let (ours, theirs) = (flat(ours), flat(theirs));
    let paths: BTreeSet<_> = ours.keys().chain(theirs.keys()).cloned().collect();
    let pair = |path: Vec<String>| {
        let (ours, theirs) = (ours.get(&path).cloned(), theirs.get(&path).cloned());
        (ours != theirs).then_some((path, ours, theirs))
    };
    paths.into_iter().filter_map(pair).collect()
}

#[test]
fn the_corpus_agrees_except_where_a_decision_says_so() {
    let text = std::fs::read_to_string(CORPUS).unwrap();
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let (mut lines, mut equal, mut unexplained) = (0, 0, Vec::new());
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        let line: Value = serde_json::from_str(line).unwrap();
        let (id, input) = (line["id"].as_str().unwrap(), &line["input"]);
        let (mut replay, mut expected) = (Replay::new(input), Expected::new(input));
        let mut observed = vec![&line["expected"]["initial"]];
        observed.extend(line["expected"]["steps"].as_array().unwrap());
        let mut differs = false;
        for (step, theirs) in observed.into_iter().enumerate() {
            let event = step.checked_sub(1).map(|index| &input["events"][index]);
            if let Some(event) = event {
                replay.apply(event);
                expected.apply(event);
            }
            let ours = replay.answer();
            let wrong = differences(&ours, &expected.answer());
            assert!(
                wrong.is_empty(),
                "{id}, step {step}: we, then the oracle: {wrong:#?}"
            );
            // A sweep in memory is shown there as if it were saved; here there is nothing to sweep.
            let swept = event.is_some_and(|event| event["op"] == "expire");
            for (path, ours, theirs) in differences(&ours, theirs) {
                if swept && path[0] == "usageStats" {
                    continue;
                }
                differs = true;
                let decision = DECISIONS.iter().find(|decision| decision.explains(input, &path));
                match decision {
                    Some(decision) => _ = used.entry(decision.id).or_default().insert(id.to_owned()),
                    None => {
                        unexplained.push(format!("{id}, step {step}, {path:?}: {ours:?}, not {theirs:?}"));
                    }
                }
            }
        }
        lines += 1;
        equal += usize::from(!differs);
    }
    assert!(
        unexplained.is_empty(),
        "no decision explains\n{}",
        unexplained.join("\n")
    );
    let rows = used
        .iter()
        .map(|(id, lines)| format!("{id} parts on {} lines", lines.len()));
    let summary = [format!("{equal} of {lines} lines agree on every path")]
        .into_iter()
        .chain(rows);
    insta::assert_snapshot!("summary", summary.collect::<Vec<_>>().join("\n"));
}
