//! Reset hints in response headers (classify.md C-9).

use jiff::Timestamp;

use super::time_value::{self, Unit};
use super::{Candidate, Weight};
use crate::facts::UsageField;
use crate::{Header, HintSource};

/// Headers that state the wait before any retry, with the unit of a bare number.
const RETRY: &[(&str, Unit)] = &[
    ("retry-after", Unit::Seconds),
    ("retry-after-ms", Unit::Milliseconds),
    ("x-amz-retry-after", Unit::Milliseconds),
    ("x-ms-retry-after-ms", Unit::Milliseconds),
];

/// Suffixes of headers that state the end of a limit, each with the suffixes of the headers beside it that say how
/// much of the limit is used.
const RESETS: &[(&str, &[(&str, UsageField)])] = &[
    ("-reset-after-seconds", &[("-used-percent", UsageField::Percent)]),
    ("-reset-at", &[("-used-percent", UsageField::Percent)]),
    (
        "-reset",
        &[
            ("-status", UsageField::Status),
            ("-remaining", UsageField::Remaining),
            ("-utilization", UsageField::Fraction),
            ("-used-percent", UsageField::Percent),
        ],
    ),
];

/// All hints in `headers`.
pub(super) fn read(headers: &[Header], now: Timestamp) -> Vec<Candidate> {
    if headers.is_empty() {
        return Vec::new();
    }
    let named: Vec<(String, &str)> = headers
        .iter()
        .map(|header| (header.name.trim().to_ascii_lowercase(), header.value.trim()))
        .collect();
    named
        .iter()
        .filter_map(|(name, value)| candidate(&named, name, value, now))
        .collect()
}

fn candidate(headers: &[(String, &str)], name: &str, value: &str, now: Timestamp) -> Option<Candidate> {
    if let Some((_, unit)) = RETRY.iter().find(|(retry, _)| *retry == name) {
        return Some(Candidate {
            at: time_value::parse(value, *unit, now)?,
            source: HintSource::RetryAfter,
            weight: Weight::Retry,
            of_a_window: false,
        });
    }
    let limit = ["ratelimit", "rate-limit", "-codex-", "-quota-"]
        .iter()
        .any(|word| name.contains(word));
    if !limit || !name.contains("reset") {
        return None;
    }
    let weight = match room(headers, name) {
        Room::None => Weight::Exhausted,
        Room::Unknown => Weight::SomeLimit,
        Room::Some => return None,
    };
    Some(Candidate {
        at: time_value::parse(value, Unit::Seconds, now)?,
        source: HintSource::RateLimitHeader,
        weight,
        of_a_window: true,
    })
}

/// How much of a limit is left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// It is used up, so its end may date a failure.
    None,
    /// It is not used up, so its end says nothing about any failure.
    Some,
    /// Nothing says how much is used.
    Unknown,
}

/// What the headers beside `name` say about its limit; one that says that it is used up outranks the others.
fn room(headers: &[(String, &str)], name: &str) -> Room {
    let value_of = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| *value)
    };
    let by_suffix = RESETS
        .iter()
        .filter_map(|(suffix, companions)| Some((name.strip_suffix(suffix)?, *companions)));
    let companions = by_suffix.flat_map(|(stem, companions)| {
        companions
            .iter()
            .map(move |(end, usage)| (format!("{stem}{end}"), *usage))
    });
    let said = companions
        .chain(std::iter::once_with(|| {
            (name.replacen("reset", "remaining", 1), UsageField::Remaining)
        }))
        .filter_map(|(companion, usage)| says_exhausted(usage, value_of(&companion)?));
    said.fold(Room::Unknown, |room, exhausted| match (room, exhausted) {
        (Room::None, _) | (_, true) => Room::None,
        (Room::Some | Room::Unknown, false) => Room::Some,
    })
}

/// Whether a value says that its limit is used up, if it says either.
fn says_exhausted(usage: UsageField, value: &str) -> Option<bool> {
    let whole = || {
        let whole = value.split('.').next()?;
        whole.trim_end_matches('%').parse::<i64>().ok()
    };
    let is_one_of = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    match usage {
        UsageField::Remaining => whole().map(|left| left <= 0),
        UsageField::Percent => whole().map(|used| used >= 100),
        UsageField::Fraction => whole().map(|used| used >= 1),
        UsageField::Status if is_one_of(&["rejected", "exceeded", "exhausted", "blocked"]) => Some(true),
        UsageField::Status => is_one_of(&["allowed", "allowed_warning", "ok", "active"]).then_some(false),
    }
}
