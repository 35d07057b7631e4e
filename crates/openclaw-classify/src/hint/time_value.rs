//! Parsing one stated time: a number, a duration or a date (classify.md C-9).

use jiff::civil;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Timestamp};

/// The unit of a bare number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Since 1970, in seconds, or in milliseconds when the number is too large for seconds.
    Epoch,
    Milliseconds,
    Seconds,
}

/// Bare numbers from here on are instants, not durations: seconds since 1970.
const EPOCH_SECONDS: i64 = 1_000_000_000;
/// Bare numbers from here on are milliseconds since 1970.
const EPOCH_MILLISECONDS: i64 = 1_000_000_000_000;

/// Unit names and their lengths in milliseconds; the longer name first where one is a prefix of another.
#[rustfmt::skip]
pub(super) const UNITS: &[(&str, i64)] = &[
    ("milliseconds", 1), ("millisecond", 1), ("millis", 1), ("msecs", 1), ("ms", 1),
    ("seconds", 1_000), ("second", 1_000), ("secs", 1_000), ("sec", 1_000), ("s", 1_000),
    ("minutes", 60_000), ("minute", 60_000), ("mins", 60_000), ("min", 60_000),
    ("months", 2_592_000_000), ("month", 2_592_000_000), ("m", 60_000),
    ("hours", 3_600_000), ("hour", 3_600_000), ("hrs", 3_600_000), ("hr", 3_600_000), ("h", 3_600_000),
    ("days", 86_400_000), ("day", 86_400_000), ("d", 86_400_000),
    ("weeks", 604_800_000), ("week", 604_800_000), ("w", 604_800_000),
];

/// The instant that `text` states; `None` when it is no time or cannot be represented.
pub(super) fn parse(text: &str, unit: Unit, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim().trim_matches('"');
    if let Some(number) = thousandths(text) {
        let seconds = number / 1_000;
        return match unit {
            _ if seconds >= EPOCH_MILLISECONDS => Timestamp::from_millisecond(seconds).ok(),
            Unit::Epoch => Timestamp::from_millisecond(number).ok(),
            Unit::Seconds if seconds >= EPOCH_SECONDS => Timestamp::from_millisecond(number).ok(),
            Unit::Seconds => after(now, number),
            Unit::Milliseconds => after(now, seconds),
        };
    }
    duration(text)
        .and_then(|millis| after(now, millis))
        .or_else(|| text.parse::<Timestamp>().ok())
        .or_else(|| {
            let dates = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
            dates.parse_timestamp(text).ok()
        })
        .or_else(|| {
            text.parse::<civil::DateTime>()
                .ok()
                .and_then(|date| at(date, "UTC"))
        })
}

/// The instant `millis` milliseconds after `now`.
pub(super) fn after(now: Timestamp, millis: i64) -> Option<Timestamp> {
    now.checked_add(SignedDuration::from_millis(millis)).ok()
}

/// The instant of a date and time of day in a zone of the tz database; unknown zones count as UTC.
pub(super) fn at(date: civil::DateTime, zone: &str) -> Option<Timestamp> {
    date.to_zoned_datetime(time_zone(zone))
        .ok()
        .map(|zoned| zoned.timestamp())
}

/// A zone of the bundled tz database; the machine's own files are not read.
pub(super) fn time_zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap_or(TimeZone::UTC)
}

/// A duration such as `6m0s`, `9m38.016s`, `2 days 17 hours` or `250ms`, in milliseconds, rounded up.
pub(super) fn duration(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let amount = thousandths(&rest[..digits])?;
        rest = rest[digits..].trim_start();
        let (name, millis) = UNITS.iter().find(|(name, _)| starts_with_unit(rest, name))?;
        total = total.checked_add(ceil_thousandth(amount.checked_mul(*millis)?))?;
        rest = rest[name.len()..].trim_start_matches([' ', ',', '\t', '\n']);
        rest = rest.strip_prefix("and ").unwrap_or(rest).trim_start();
    }
    Some(total)
}

fn starts_with_unit(text: &str, name: &str) -> bool {
    text.get(..name.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(name))
        && !text[name.len()..].starts_with(|c: char| c.is_alphabetic())
}

fn ceil_thousandth(thousandths: i64) -> i64 {
    thousandths.saturating_add(999) / 1_000
}

/// A decimal number times 1000, rounded up; `None` when it is no number or too large.
fn thousandths(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !numeric(whole) || !numeric(fraction) {
        return None;
    }
    let kept = fraction.len().min(3);
    let millis: i64 = format!("{:0<3}", &fraction[..kept]).parse().ok()?;
    let more = i64::from(fraction[kept..].bytes().any(|byte| byte != b'0'));
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(1_000)?
        .checked_add(millis + more)?
        .checked_mul(sign)
}
