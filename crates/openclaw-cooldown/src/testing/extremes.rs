//! Extreme values of files and clocks: instants up to the ends of the calendar, any counts.

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::history;
use crate::{FailureEvent, ProfileUsage, millis};

/// Milliseconds near the start of the tests, near the ends of everything, and in between.
fn ms() -> impl Strategy<Value = i64> {
    prop_oneof![
        super::START - super::DAY..super::START + super::DAY,
        any::<i64>(),
        proptest::sample::select(&[i64::MIN, -1, 0, 1, i64::MAX, 8_640_000_000_000_000]),
    ]
}

pub(crate) fn instant() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        ms().prop_map(millis::saturating),
        Just(Timestamp::MIN),
        Just(Timestamp::MAX),
    ]
}

/// A failure whose hint and start may lie anywhere.
pub(crate) fn event() -> impl Strategy<Value = FailureEvent> {
    let hint = (instant(), any::<bool>()).prop_map(|(at, credible)| ResetHint {
        at,
        source: HintSource::Text,
        credible,
    });
    (
        history::event(),
        proptest::option::of(hint),
        proptest::option::of(instant()),
    )
        .prop_map(|(event, hint, started_at)| FailureEvent {
            hint,
            started_at,
            ..event
        })
}

/// A state as a file may hold it.
pub(crate) fn stored() -> impl Strategy<Value = ProfileUsage> {
    let lanes = proptest::sample::select(&[
        "auth_permanent",
        "billing",
        "blocked",
        "profile",
        "model:a",
        "model:b",
    ]);
    let reasons = proptest::sample::select(Reason::all().collect::<Vec<_>>());
    let stated = proptest::option::of(ms());
    let window = (lanes, ms(), ms(), reasons, any::<u32>(), stated, ms());
    let windows = proptest::collection::vec(window, 0..6);
    (
        windows,
        proptest::option::of(ms()),
        proptest::option::of(ms()),
        any::<u64>(),
    )
        .prop_map(|(windows, used, failed, count)| {
            let rows = windows
                .into_iter()
                .map(|(lane, opened, until, reason, steps, stated, last)| {
                    let window = json!({
                        "openedAt": opened, "until": until, "reason": reason, "steps": steps, "stated": stated,
                        "lastFailureAt": last,
                    });
                    (lane.to_owned(), window)
                });
            let state = json!({
                "lastUsed": used, "lastFailureAt": failed, "failureCounts": {"rate_limit": count},
                "windows": rows.collect::<serde_json::Map<String, Value>>(),
            });
            serde_json::from_value(state).unwrap()
        })
}

/// Every member that an entry may have, and one more.
const NAMES: [&str; 14] = [
    "lastUsed",
    "errorCount",
    "failureCounts",
    "lastFailureAt",
    "cooldownUntil",
    "cooldownReason",
    "cooldownModel",
    "disabledUntil",
    "disabledReason",
    "blockedUntil",
    "blockedReason",
    "blockedSource",
    "blockedModel",
    "ofTomorrow",
];

/// An entry of the other program in which every member may be anything.
pub(crate) fn entry() -> impl Strategy<Value = Value> {
    let odd = proptest::sample::select(vec![
        json!(null),
        json!(true),
        json!(""),
        json!("auth"),
        json!("wham"),
        json!([1]),
        json!({}),
    ]);
    let counts = prop_oneof![
        any::<f64>().prop_map(|count| json!({"auth": count, "zzz": 1})),
        any::<u64>().prop_map(|count| json!({"billing": count}))
    ];
    let value = prop_oneof![
        4 => ms().prop_map(|ms| json!(ms)),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => any::<u64>().prop_map(|number| json!(number)),
        2 => odd,
        1 => counts,
    ];
    proptest::collection::vec(value, NAMES.len()).prop_map(|values| {
        let members = NAMES.iter().map(|name| (*name).to_owned()).zip(values);
        Value::Object(members.collect())
    })
}
