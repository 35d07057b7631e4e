//! Hints in response headers (classify.md C-9).

use jiff::Timestamp;

use super::time_value::{self, Unit};
use super::{Candidate, Weight};
use crate::HintSource;
use crate::failure::Header;

/// Headers that say how long to wait before any retry, with the unit of a bare number.
const RETRY: &[(&str, Unit)] = &[
    ("retry-after", Unit::Seconds),
    ("retry-after-ms", Unit::Milliseconds),
    ("x-amz-retry-after", Unit::Milliseconds),
    ("x-ms-retry-after-ms", Unit::Milliseconds),
];

/// How a header says how much of a limit is left.
#[derive(Clone, Copy)]
enum Use {
    Left,
    Percent,
    Share,
    Status,
}

/// How a header that names the end of a limit ends, and the endings of the headers beside it that say how much is left.
const RESETS: &[(&str, &[(&str, Use)])] = &[
    ("-reset-after-seconds", &[("-used-percent", Use::Percent)]),
    ("-reset-at", &[("-used-percent", Use::Percent)]),
    (
        "-reset",
        &[
            ("-status", Use::Status),
            ("-remaining", Use::Left),
            ("-utilization", Use::Share),
            ("-used-percent", Use::Percent),
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
            at: time_value::read(value, *unit, now)?,
            source: HintSource::RetryAfter,
            weight: Weight::Retry,
        });
    }
    let limit = ["ratelimit", "rate-limit", "-codex-", "-quota-"]
        .iter()
        .any(|word| name.contains(word));
    if !limit || !name.contains("reset") {
        return None;
    }
    let weight = if is_exhausted(headers, name) {
        Weight::Exhausted
    } else {
        Weight::SomeLimit
    };
    Some(Candidate {
        at: time_value::read(value, Unit::Seconds, now)?,
        source: HintSource::RateLimitHeader,
        weight,
    })
}

/// Whether a header beside this one says that the limit is used up.
fn is_exhausted(headers: &[(String, &str)], name: &str) -> bool {
    let value_of = |wanted: &str| {
        headers
            .iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| *value)
    };
    let by_suffix = RESETS
        .iter()
        .filter_map(|(suffix, besides)| Some((name.strip_suffix(suffix)?, *besides)));
    let besides = by_suffix.flat_map(|(stem, besides)| {
        besides
            .iter()
            .map(move |(end, told)| (format!("{stem}{end}"), *told))
    });
    besides
        .chain(std::iter::once_with(|| {
            (name.replacen("reset", "remaining", 1), Use::Left)
        }))
        .any(|(beside, told)| value_of(&beside).is_some_and(|value| says_exhausted(told, value)))
}

fn says_exhausted(told: Use, value: &str) -> bool {
    let whole = || {
        value
            .split('.')
            .next()
            .and_then(|whole| whole.parse::<i64>().ok())
    };
    match told {
        Use::Left => whole().is_some_and(|left| left <= 0),
        Use::Percent => whole().is_some_and(|used| used >= 100),
        Use::Share => whole().is_some_and(|used| used >= 1),
        Use::Status => ["rejected", "exceeded"]
            .iter()
            .any(|said| value.eq_ignore_ascii_case(said)),
    }
}
