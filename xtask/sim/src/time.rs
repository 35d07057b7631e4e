//! Spans and instants of a world, in milliseconds, and what the engine calls them.

use std::time::Duration;

use jiff::Timestamp;

pub(crate) const SECOND: i64 = 1_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// When every world begins: 2026-03-01T00:00:00Z.
pub(crate) const START: i64 = 1_772_323_200_000;

/// An instant in Unix milliseconds.
pub(crate) fn at(instant: i64) -> Timestamp {
    Timestamp::from_millisecond(instant).unwrap_or(Timestamp::MAX)
}

/// A span; none is negative.
pub(crate) fn span(millis: i64) -> Duration {
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
