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
        at: time_value::parse(value, Unit::Seconds, now)?,
        source: HintSource::RateLimitHeader,
        weight,
    })
}

/// Whether a header beside `name` says that its limit is used up.
fn is_exhausted(headers: &[(String, &str)], name: &str) -> bool {
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
    companions
        .chain(std::iter::once_with(|| {
            (name.replacen("reset", "remaining", 1), UsageField::Remaining)
        }))
        .any(|(companion, usage)| value_of(&companion).is_some_and(|value| says_exhausted(usage, value)))
}

fn says_exhausted(usage: UsageField, value: &str) -> bool {
    let whole = || {
        value
            .split('.')
            .next()
            .and_then(|whole| whole.parse::<i64>().ok())
    };
    match usage {
        UsageField::Remaining => whole().is_some_and(|left| left <= 0),
        UsageField::Percent => whole().is_some_and(|used| used >= 100),
        UsageField::Fraction => whole().is_some_and(|used| used >= 1),
        UsageField::Status => ["rejected", "exceeded"]
            .iter()
            .any(|said| value.eq_ignore_ascii_case(said)),
    }
}
