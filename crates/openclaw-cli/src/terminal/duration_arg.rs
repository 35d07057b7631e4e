//! Durations as arguments, such as `2h 30m`; a day has 24 hours.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};

/// The longest span that is taken.
const LONGEST: SignedDuration = SignedDuration::from_hours(24 * 3_660);

/// Reads a span that is above 0.
///
/// # Errors
/// What to write instead, when it is none.
pub(crate) fn span(text: &str) -> Result<SignedDuration, String> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    let duration = duration.ok_or("write a time such as 90s, 2h 30m or 1d")?;
    if duration > LONGEST {
        return Err("it is longer than ten years; write a shorter time, such as 30d".to_owned());
    }
    if duration.is_positive() {
        Ok(duration)
    } else {
        Err("it must be longer than nothing; write a time such as 90s, 2h 30m or 1d".to_owned())
    }
}

/// The instant so long before `now`; the beginning of time when there is none.
pub(crate) fn before(now: Timestamp, span: SignedDuration) -> Timestamp {
    now.checked_sub(span).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_as_people_write_them() {
        for (text, expected) in [
            ("90s", Ok(90)),
            ("2h 30m", Ok(9_000)),
            ("1d", Ok(86_400)),
            ("0s", Err("it must be longer")),
            ("-1h", Err("it must be longer")),
            ("zz", Err("write a time such as")),
            ("", Err("write a time such as")),
            ("106751d", Err("it is longer than ten years")),
            ("99999999999999h", Err("write a time such as")),
        ] {
            match (span(text), expected) {
                (Ok(read), Ok(seconds)) => assert_eq!(read.as_secs(), seconds, "{text}"),
                (Err(message), Err(start)) => assert!(message.starts_with(start), "{text}: {message}"),
                (read, _) => panic!("{text}: {read:?}"),
            }
        }
    }
}
