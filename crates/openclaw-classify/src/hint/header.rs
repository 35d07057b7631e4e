//! Hints in response headers (classify.md C-9).

use jiff::Timestamp;

use super::moment::{self, Unit};
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

/// How a header that names the end of a limit ends, and the endings of the headers beside it that say how much is left.
const RESETS: &[(&str, &[&str])] = &[
    ("-reset-after-seconds", &["-used-percent"]),
    ("-reset-at", &["-used-percent"]),
    (
        "-reset",
        &["-status", "-remaining", "-utilization", "-used-percent"],
    ),
];

/// All hints in `headers`.
pub(super) fn read(headers: &[Header], now: Timestamp) -> Vec<Candidate> {
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
            at: moment::read(value, *unit, now)?,
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
        at: moment::read(value, Unit::Seconds, now)?,
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
    let suffixed = by_suffix
        .flat_map(|(stem, besides)| besides.iter().map(move |beside| format!("{stem}{beside}")))
        .any(|beside| value_of(&beside).is_some_and(|value| says_exhausted(&beside, value)));
    suffixed
        || value_of(&name.replacen("reset", "remaining", 1))
            .is_some_and(|value| says_exhausted("-remaining", value))
}

fn says_exhausted(name: &str, value: &str) -> bool {
    if name.ends_with("-status") {
        return value.eq_ignore_ascii_case("rejected") || value.eq_ignore_ascii_case("exceeded");
    }
    let whole = value
        .split('.')
        .next()
        .and_then(|whole| whole.parse::<i64>().ok());
    match whole {
        Some(whole) if name.ends_with("-remaining") => whole <= 0,
        Some(whole) if name.ends_with("-utilization") => whole >= 1,
        Some(whole) if name.ends_with("-used-percent") => whole >= 100,
        Some(_) | None => false,
    }
}
