//! Which parts of a recorded usage state decisions change, read off the events alone.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kind::{Decision, EXEMPT};

/// What says nothing about a credential.
const UNMARKED: [&str; 6] = [
    "empty_response",
    "format",
    "no_error_details",
    "session_expired",
    "unclassified",
    "unknown",
];

const COUNTS: &[&str] = &["errorCount", "failureCounts"];
const ENDS: &[&str] = &["cooldownUntil", "disabledUntil"];
const LABELS: &[&str] = &["cooldownReason", "cooldownModel", "disabledReason"];
const BLOCK: &[&str] = &["blockedUntil", "blockedReason", "blockedSource", "blockedModel"];

#[rustfmt::skip]
pub(super) const DECISIONS: &[Decision] = &[
    // Counters survive the end of a window, so a later failure stands on a higher step.
    Decision { id: "D1", reach: |input| reach(input, &[COUNTS, ENDS], |mark, earlier| (mark.counts() || mark.op == "expire") && earlier.iter().any(|other| mark.at - other.at >= other.shortest())) },
    // While a window is active a failure belongs to its episode.
    Decision { id: "D2", reach: |input| reach(input, &[&["errorCount"], ENDS, BLOCK], |mark, earlier| mark.counts() && !earlier.is_empty()) },
    // A failure that came before another makes the series no older.
    Decision { id: "D2", reach: |input| reach(input, &[&["lastFailureAt"]], |mark, earlier| mark.counts() && earlier.iter().any(|other| other.at > mark.at)) },
    // A window is not relabelled.
    Decision { id: "D3", reach: |input| reach(input, &[LABELS], |mark, earlier| mark.counts() && earlier.iter().any(|other| other.reason != mark.reason)) },
    // A scoped failure rests its model, and another model's window stays what it is.
    Decision { id: "D4", reach: |input| reach(input, &[ENDS, LABELS], |mark, earlier| {
        let scoped = ["model_not_found", "overloaded"].contains(&mark.reason.as_str()) && mark.model.is_some();
        scoped || mark.counts() && earlier.iter().any(|other| other.model != mark.model || other.reason != mark.reason)
    }) },
    // Each lane has its own steps, and the count that is shown is the sum of all episodes.
    Decision { id: "D5", reach: |input| reach(input, &[&["errorCount"], ENDS, &["disabledReason"]], |mark, earlier| {
        mark.op == "blocked" || mark.counts() && earlier.iter().any(|other| other.lane() != mark.lane())
    }) },
    // What says nothing about a credential is not recorded.
    Decision { id: "D6", reach: |input| reach(input, WHOLE, |mark, _| mark.op == "failure" && UNMARKED.contains(&mark.reason.as_str())) },
    // A stated end belongs to an account-wide limit, which has a ladder too; one shorter than the ladder shortens nothing.
    Decision { id: "D7", reach: |input| reach(input, &[BLOCK, ENDS, LABELS], |mark, _| mark.op == "blocked" || mark.checked) },
    // No provider is exempt from cooldowns.
    Decision { id: "D8", reach: |input| reach(input, WHOLE, |mark, _| EXEMPT.contains(&mark.provider.as_str())) },
    // Why and until when something is unavailable follows from the windows that block, and from nothing else.
    Decision { id: "D15", reach: |input| reach(input, &[], |_, _| true) },
];

/// Every member of the profile.
const WHOLE: &[&[&str]] = &[&["*"]];

/// An event that concerns a profile's usage, or what was known about it before the first event.
struct Mark {
    /// The step it makes; `None` for what was stored.
    step: Option<usize>,
    at: i64,
    op: String,
    profile: String,
    provider: String,
    reason: String,
    model: Option<String>,
    /// Whether a usage check answered.
    checked: bool,
}

impl Mark {
    /// The shortest window it may have opened; after a longer pause it may have ended.
    fn shortest(&self) -> i64 {
        if self.checked { 15_000 } else { 30_000 }
    }

    /// Whether it is, or was, a failure.
    fn counts(&self) -> bool {
        ["failure", "blocked", "stored"].contains(&self.op.as_str())
    }

    /// Whose steps it concerns.
    fn lane(&self) -> &str {
        match self.reason.as_str() {
            lane @ ("billing" | "auth_permanent") => lane,
            "rate_limit" | "timeout" | "overloaded" | "model_not_found" => {
                self.model.as_deref().unwrap_or("*")
            }
            _ => "*",
        }
    }
}

/// The parts that change from each event on for which `applies`, given the failures of its profile since the last success
/// or clear: `members` of the profile, and what can be asked about it.
fn reach(input: &Value, members: &[&[&str]], applies: fn(&Mark, &[&Mark]) -> bool) -> Vec<Vec<String>> {
    let steps = input["events"].as_array().map_or(0, Vec::len);
    let marks = marks(input);
    let mut failures: BTreeMap<&str, Vec<&Mark>> = BTreeMap::new();
    let mut paths = Vec::new();
    for mark in &marks {
        let earlier = failures.entry(&mark.profile).or_default();
        if applies(mark, earlier) {
            let first = mark.step.unwrap_or(0);
            let mut places: Vec<_> = (first..steps)
                .map(|step| vec!["steps".to_owned(), step.to_string()])
                .collect();
            if mark.step.is_none() {
                places.push(vec!["initial".to_owned()]);
            }
            for place in places {
                paths.extend(
                    parts(&mark.profile, members)
                        .into_iter()
                        .map(|part| [place.clone(), part].concat()),
                );
            }
        }
        match mark.op.as_str() {
            "success" | "clear" => earlier.clear(),
            _ if mark.counts() => earlier.push(mark),
            _ => {}
        }
    }
    paths
}

fn parts(profile: &str, members: &[&[&str]]) -> Vec<Vec<String>> {
    let of = |view: &str| vec![view.to_owned(), profile.to_owned()];
    let mut parts = vec![
        of("inCooldown"),
        of("unusableUntil"),
        vec!["soonestExpiry".into()],
        vec!["unavailableReason".into()],
    ];
    for member in members.iter().copied().flatten() {
        let mut part = of("usageStats");
        // Everything is also the profile itself, which may have no entry on one side.
        part.extend((*member != "*").then(|| (*member).to_owned()));
        parts.push(part);
    }
    parts
}

/// What was stored, then the events, in order.
fn marks(input: &Value) -> Vec<Mark> {
    let mut now = input["startMs"].as_i64().unwrap_or(0);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let provider = |profile: &str| {
        text(&input["store"]["profiles"][profile]["provider"])
            .trim()
            .to_lowercase()
    };
    let mut marks = Vec::new();
    for (profile, stats) in input["store"]["usageStats"].as_object().into_iter().flatten() {
        marks.push(Mark {
            step: None,
            at: stats["lastFailureAt"].as_i64().unwrap_or(0),
            op: "stored".to_owned(),
            profile: profile.clone(),
            provider: provider(profile),
            reason: text(&stats["cooldownReason"]),
            model: stats["cooldownModel"].as_str().map(str::to_owned),
            checked: false,
        });
    }
    let everyone: Vec<String> = input["store"]["profiles"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(id, _)| id.clone())
        .collect();
    for (step, event) in input["events"].as_array().into_iter().flatten().enumerate() {
        now += event["ms"].as_i64().unwrap_or(0);
        let concerned = match event["profile"].as_str() {
            Some(profile) => vec![profile.to_owned()],
            None => everyone.clone(),
        };
        marks.extend(concerned.into_iter().map(|profile| Mark {
            step: Some(step),
            at: now,
            op: text(&event["op"]),
            provider: provider(&profile),
            profile,
            reason: if event["op"] == "blocked" {
                "rate_limit".to_owned()
            } else {
                text(&event["reason"])
            },
            model: event["model"].as_str().map(str::to_owned),
            checked: !event["usageProbe"].is_null(),
        }));
    }
    marks
}
