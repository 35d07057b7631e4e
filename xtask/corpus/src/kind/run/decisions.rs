//! The decisions that change recorded runs, and what they make of them, walked naively over the scripts.

use serde_json::{Map, Value, json};

use crate::kind::Decision;

/// Longest part of a provider's own message that a record shows, in UTF-16 units.
const MESSAGE: usize = 200;
/// Longest part of any other text.
const TEXT: usize = 400;

pub(super) const DECISIONS: &[Decision] = &[
    // The step of a success shows what the step of the failure showed, not the text as it came (R-12.5b).
    Decision {
        id: "M2",
        reach: |input| {
            let reached = walks(input).filter_map(|(run, walk)| {
                let Walk { failed, raw } = walk?;
                (preview(&raw) != raw).then(|| {
                    ["steps", "decisions"].map(|list| {
                        let path = ["runs", &run.to_string(), list, &failed.to_string(), DETAIL];
                        path.map(str::to_owned).to_vec()
                    })
                })
            });
            reached.flatten().collect()
        },
    },
];

const DETAIL: &str = "fallbackStepFromFailureDetail";

/// The detail of the step of each success, at its place among the steps and decisions.
pub(super) fn oracle(input: &Value) -> Value {
    let runs = walks(input).map(|(_, walk)| {
        let Some(Walk { failed, raw }) = walk else {
            return Value::Null;
        };
        let mut list = vec![Value::Null; failed];
        list.push(json!({ DETAIL: preview(&raw) }));
        json!({ "steps": list, "decisions": list })
    });
    json!({ "runs": runs.collect::<Vec<_>>() })
}

/// A run that a later candidate ended well: how many failed before, and the last failure's words.
struct Walk {
    failed: usize,
    raw: String,
}

fn walks(input: &Value) -> impl Iterator<Item = (usize, Option<Walk>)> {
    let runs = input["runs"].as_array().into_iter().flatten();
    runs.map(|run| walk(&input["config"], run)).enumerate()
}

/// Candidates in order, each with its first outcome; skips count as failures whose words are nobody's.
fn walk(config: &Value, run: &Value) -> Option<Walk> {
    let mut chain = vec![format!("{}/{}", text(&run["provider"]), text(&run["model"]))];
    let model = &config["agents"]["defaults"]["model"];
    if chain[0] == "/" {
        chain[0] = text(&model["primary"]);
    }
    let listed = run["fallbacksOverride"]
        .as_array()
        .or(model["fallbacks"].as_array());
    chain.extend(listed.into_iter().flatten().map(text));
    if run["fallbacksOverride"].is_null() {
        chain.push(text(&model["primary"]));
    }
    let mut seen: Vec<String> = Vec::new();
    chain.retain(|candidate| {
        let new = !seen.contains(candidate);
        seen.push(candidate.clone());
        new
    });
    let mut raw = None;
    for (failed, candidate) in chain.iter().enumerate() {
        let error = &run["script"][candidate][0]["throw"];
        match error["message"].as_str() {
            None => return raw.map(|raw| Walk { failed, raw }),
            Some(message) => raw = Some(message.to_owned()),
        }
    }
    None
}

/// The provider's own message where the text carries one, else the text; cut.
fn preview(raw: &str) -> String {
    let payload: Option<Map<String, Value>> =
        raw.find('{').and_then(|at| serde_json::from_str(&raw[at..]).ok());
    let own = payload.and_then(|payload| {
        let error = payload.get("error").and_then(|error| error.get("message"));
        error.or(payload.get("message")).map(text)
    });
    match own {
        Some(own) => cut(&own, MESSAGE),
        None => cut(raw, TEXT),
    }
}

fn cut(whole: &str, units: usize) -> String {
    let mut left = units;
    let mut kept = String::new();
    for c in whole.chars() {
        let Some(rest) = left.checked_sub(c.len_utf16()) else {
            return format!("{}…", kept.trim_end());
        };
        left = rest;
        kept.push(c);
    }
    kept
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
