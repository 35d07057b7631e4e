//! The reset time in the rate limits that a Codex server reports (cooldown.md 8.2).

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::millis;

/// Members whose values may hold snapshots, after the maps by limit id.
const CONTAINERS: &[&str] = &["rateLimits", "rate_limits", "data", "items"];

/// Maps from limit id to snapshot.
const BY_ID: &[&str] = &["rateLimitsByLimitId", "rate_limits_by_limit_id"];

/// Members that make an object a snapshot, whatever they hold.
const MARKS: &[&str] = &[
    "rateLimitReachedType",
    "rate_limit_reached_type",
    "limitId",
    "limit_id",
    "limitName",
    "limit_name",
];

/// The two windows of a snapshot.
const WINDOWS: [&str; 2] = ["primary", "secondary"];

/// The limit that is read first.
const MAIN: &str = "codex";

/// When the blocking limit in `report` resets: the first blocking one without an id or with the id `codex`, else the
/// first blocking one. Among its windows that reset after `now`, the latest of those used up, else the earliest.
pub fn codex_reset(report: &Value, now: Timestamp) -> Option<Timestamp> {
    let mut snapshots = Vec::new();
    collect(report, &mut snapshots);
    let mut blocking = snapshots.iter().filter(|snapshot| is_blocking(snapshot));
    let is_main =
        |snapshot: &&&Map<String, Value>| text(snapshot, ["limitId", "limit_id"]).is_none_or(|id| id == MAIN);
    let chosen = blocking.clone().find(is_main).or_else(|| blocking.next())?;

    let future = || {
        windows(chosen)
            .filter_map(|window| Some((window, resets_at(window)?)))
            .filter(|(_, at)| *at > now)
    };
    let used_up = future()
        .filter(|(window, _)| is_used_up(window))
        .map(|(_, at)| at)
        .max();
    used_up.or_else(|| future().map(|(_, at)| at).min())
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a Map<String, Value>>) {
    let object = match value {
        Value::Array(items) => return items.iter().for_each(|item| collect(item, found)),
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return,
    };
    if is_snapshot(object) {
        found.push(object);
    }
    for map in BY_ID.iter().filter_map(|name| object.get(*name)?.as_object()) {
        let mut limits: Vec<_> = map.iter().collect();
        limits.sort_by_key(|(id, _)| (*id != MAIN, *id));
        for (_, limit) in limits {
            collect(limit, found);
        }
    }
    for inner in CONTAINERS.iter().filter_map(|name| object.get(*name)) {
        collect(inner, found);
    }
}

fn is_snapshot(object: &Map<String, Value>) -> bool {
    windows(object).next().is_some() || MARKS.iter().any(|mark| object.contains_key(*mark))
}

fn is_blocking(snapshot: &Map<String, Value>) -> bool {
    text(snapshot, ["rateLimitReachedType", "rate_limit_reached_type"]).is_some()
        || windows(snapshot).any(is_used_up)
}

fn windows(snapshot: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    WINDOWS.iter().filter_map(|name| snapshot.get(*name)?.as_object())
}

fn is_used_up(window: &Map<String, Value>) -> bool {
    number(window, ["usedPercent", "used_percent"]).is_some_and(|used| used >= 100.0)
}

/// Epoch seconds; fractions of a millisecond are cut.
fn resets_at(window: &Map<String, Value>) -> Option<Timestamp> {
    let ms = millis::whole(number(window, ["resetsAt", "resets_at"])? * 1000.0)?;
    Some(millis::after(Timestamp::UNIX_EPOCH, Duration::from_millis(ms)))
}

fn number(object: &Map<String, Value>, names: [&str; 2]) -> Option<f64> {
    names.iter().find_map(|name| object.get(*name)?.as_f64())
}

/// A text that is not blank, trimmed.
fn text<'a>(object: &'a Map<String, Value>, names: [&str; 2]) -> Option<&'a str> {
    let texts = names.iter().filter_map(|name| object.get(*name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty())
}
