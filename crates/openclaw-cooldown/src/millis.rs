//! Instants as whole Unix milliseconds, the unit of every stored time.
//!
//! The `serde` module of `jiff` refuses a number outside of its calendar. Such numbers are stored ("for ever" is written as
//! the largest integer), so a stored one is moved to the end of the calendar here.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serializer};

/// The instant `ms` milliseconds after the epoch, moved to the nearest whole second that can be held.
pub(crate) fn saturating(ms: i64) -> Timestamp {
    let first = Timestamp::MIN.as_second().saturating_mul(1000);
    let last = Timestamp::MAX.as_second().saturating_mul(1000);
    #[expect(clippy::expect_used, reason = "clamped to the seconds that jiff holds")]
    Timestamp::from_millisecond(ms.clamp(first, last)).expect("a clamped instant can be held")
}

/// `at` without what is smaller than a millisecond, so that an instant equals itself after a save.
pub(crate) fn floor(at: Timestamp) -> Timestamp {
    saturating(i64::try_from(at.as_nanosecond().div_euclid(1_000_000)).unwrap_or(i64::MAX))
}

/// `at + wait` in whole milliseconds, at least one millisecond later (cooldown.md 3.3); saturates.
pub(crate) fn after(at: Timestamp, wait: Duration) -> Timestamp {
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX).max(1);
    saturating(floor(at).as_millisecond().saturating_add(wait))
}

/// How long ago `past` was; zero when it lies ahead, as after a clock that went backwards.
pub(crate) fn elapsed(past: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(past)).unwrap_or(Duration::ZERO)
}

/// A number that is not negative, cut to a whole one; saturates. `None` for negative numbers.
pub(crate) fn whole(number: f64) -> Option<u64> {
    // Seconds are only a carrier here: `Duration` has the one conversion from a float without a lossy cast.
    (number >= 0.0).then(|| Duration::try_from_secs_f64(number).map_or(u64::MAX, |carrier| carrier.as_secs()))
}

pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(floor(*at).as_millisecond())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    i64::deserialize(deserializer).map(saturating)
}

/// The same for a member that may be absent.
pub(crate) mod option {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "the signature serde asks for")]
    pub(crate) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => super::serialize(at, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(super::saturating))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cooldown_3_3_instants_saturate_at_the_calendar() {
        for ms in [i64::MIN, i64::MAX] {
            let end = saturating(ms);
            assert_eq!(floor(end), end);
            assert_eq!(saturating(end.as_millisecond()), end);
        }
        assert_eq!(after(Timestamp::MAX, Duration::MAX), saturating(i64::MAX));
        assert_eq!(elapsed(Timestamp::MAX, Timestamp::MIN), Duration::ZERO);
        assert!(elapsed(Timestamp::MIN, Timestamp::MAX) > Duration::from_hours(1));
    }

    #[test]
    fn cooldown_3_3_a_wait_is_cut_to_milliseconds_and_at_least_one() {
        for (wait, ms) in [(0, 1), (999, 1), (1_000, 1), (1_999, 1), (2_000, 2)] {
            let at = after(Timestamp::UNIX_EPOCH, Duration::from_micros(wait));
            assert_eq!(at.as_millisecond(), ms, "{wait} µs");
        }
        let before = Timestamp::from_nanosecond(-1).unwrap_or_default();
        assert_eq!(floor(before).as_millisecond(), -1, "also before the epoch");
    }

    #[test]
    fn whole_numbers_are_cut_and_negative_ones_refused() {
        for (number, whole_number) in [
            (0.0, Some(0)),
            (2.7, Some(2)),
            (1e300, Some(u64::MAX)),
            (-0.1, None),
        ] {
            assert_eq!(whole(number), whole_number, "{number}");
        }
        assert_eq!(whole(f64::NAN), None);
    }
}
