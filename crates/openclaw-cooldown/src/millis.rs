//! Instants as whole Unix milliseconds, the unit of every stored time.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serializer};

/// The latest instant that can be held.
fn latest() -> i64 {
    Timestamp::MAX.as_millisecond()
}

/// The instant `ms` milliseconds after the epoch, moved to the nearest one that can be held.
pub(crate) fn saturating(ms: i64) -> Timestamp {
    let ms = ms.clamp(Timestamp::MIN.as_millisecond(), latest());
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
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
