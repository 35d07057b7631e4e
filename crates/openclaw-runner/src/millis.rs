//! Times as whole milliseconds, which is how JSON holds them.

use std::time::Duration;

/// Whole milliseconds; saturates.
pub(crate) fn whole(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// An instant, since 1970.
pub(crate) mod instant {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(at.as_millisecond())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let millis = i64::deserialize(deserializer)?;
        Timestamp::from_millisecond(millis).map_err(serde::de::Error::custom)
    }
}

/// An instant that may not be known, since 1970.
pub(crate) mod optional_instant {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ref_option, reason = "serde hands the member over by reference")]
    pub(crate) fn serialize<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => serializer.serialize_some(&at.as_millisecond()),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let at = Option::<i64>::deserialize(deserializer)?;
        at.map(Timestamp::from_millisecond)
            .transpose()
            .map_err(serde::de::Error::custom)
    }
}
