//! Instants as text relative to now: `3h 5m ago`, or the time left until one.

use jiff::Timestamp;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long it is until `end`, such as `4m 12s`; `now` when it has come.
pub fn left(end: Timestamp, now: Timestamp) -> String {
    let millis = end.as_millisecond().saturating_sub(now.as_millisecond());
    if millis <= 0 {
        return "now".to_owned();
    }
    // A second that has begun is one that is still to come.
    span(millis.saturating_add(SECOND - 1))
}

/// How long ago `at` was, such as `3h 5m ago`; `just now` within a second.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let millis = now.as_millisecond().saturating_sub(at.as_millisecond());
    if millis < SECOND {
        return "just now".to_owned();
    }
    format!("{} ago", span(millis))
}

/// The two largest units.
fn span(millis: i64) -> String {
    let units = [(DAY, "d"), (HOUR, "h"), (MINUTE, "m"), (SECOND, "s")];
    let first = units.iter().position(|(length, _)| millis >= *length);
    let Some(first) = first else {
        return "0s".to_owned();
    };
    let (length, name) = units[first];
    let whole = format!("{}{name}", millis / length);
    match units.get(first + 1) {
        Some((part, short)) if millis % length >= *part => {
            format!("{whole} {}{short}", millis % length / part)
        }
        Some(_) | None => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units_at_most() {
        let at = |millis: i64| Timestamp::from_millisecond(millis).unwrap();
        for (millis, expected) in [
            (-5, "now"),
            (0, "now"),
            (1, "1s"),
            (1_000, "1s"),
            (1_001, "2s"),
            (59_001, "1m"),
            (4 * MINUTE + 12 * SECOND, "4m 12s"),
            (HOUR, "1h"),
            (HOUR + 59 * SECOND, "1h"),
            (5 * HOUR + 3 * MINUTE, "5h 3m"),
            (2 * DAY + 5 * HOUR + MINUTE, "2d 5h"),
        ] {
            assert_eq!(left(at(millis), at(0)), expected, "{millis}");
        }
        for (millis, expected) in [(999, "just now"), (1_999, "1s ago"), (3 * HOUR, "3h ago")] {
            assert_eq!(ago(at(0), at(millis)), expected, "{millis}");
        }
    }
}
