//! The kinds of values a cooldown setting can have: what each accepts, and what to write instead.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use openclaw_ids::ProviderId;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::millis;

/// A number of hours above zero; fractions are allowed.
pub(super) struct Hours(pub(super) Duration);

/// A number of minutes above zero; fractions are allowed.
pub(super) struct Minutes(pub(super) Duration);

/// A whole number of rotations, zero or more.
pub(super) struct Count(pub(super) u32);

/// A whole number of milliseconds, zero or more.
pub(super) struct Milliseconds(pub(super) Duration);

/// Hours per provider, in the order written.
pub(super) struct PerProvider(pub(super) Vec<(ProviderId, Duration)>);

impl Hours {
    pub(super) fn lenient(value: &Value) -> Option<Self> {
        value.as_f64().and_then(Self::from_fraction)
    }
}

impl Minutes {
    pub(super) fn lenient(value: &Value) -> Option<Self> {
        value.as_f64().and_then(Self::from_fraction)
    }
}

impl Count {
    pub(super) fn lenient(value: &Value) -> Option<Self> {
        lenient_whole(value).and_then(Self::from_whole)
    }
}

impl Milliseconds {
    pub(super) fn lenient(value: &Value) -> Option<Self> {
        lenient_whole(value).and_then(Self::from_whole)
    }
}

impl PerProvider {
    const EXPECTED: &str = "an object of provider ids and hours above 0, such as { \"openai\": 2 }";

    /// Keeps the rows that are of use; the global value is used for the others (D12).
    pub(super) fn lenient(value: &Value) -> Self {
        let rows = value.as_object().into_iter().flatten();
        let mut kept: Vec<(ProviderId, Option<Duration>)> = Vec::new();
        for (provider, hours) in rows {
            let Ok(provider) = ProviderId::try_new(provider) else {
                continue;
            };
            // The first spelling of a provider decides, even when its value is of no use.
            if !kept.iter().any(|(known, _)| *known == provider) {
                kept.push((provider, Hours::lenient(hours).map(|Hours(wait)| wait)));
            }
        }
        let rows = kept
            .into_iter()
            .filter_map(|(provider, wait)| Some((provider, wait?)));
        Self(rows.collect())
    }
}

/// Saturates at the longest time that can be held; `None` for what is not above zero.
fn positive_seconds(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// A number cut to a whole one, negative ones to zero.
fn lenient_whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| millis::whole(value.as_f64()?.max(0.0)))
}

/// Reads a key that is present; `null` is a value, and a wrong one.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A kind of number with its own remedy.
trait Number: Sized {
    const EXPECTED: &str;
    fn from_whole(number: u64) -> Option<Self>;
    fn from_fraction(number: f64) -> Option<Self>;
}

impl Number for Hours {
    const EXPECTED: &str = "a number of hours above 0, such as 5 or 0.5; remove the key for the default";

    fn from_whole(number: u64) -> Option<Self> {
        (number > 0).then(|| Self(Duration::from_secs(number.saturating_mul(3600))))
    }

    fn from_fraction(number: f64) -> Option<Self> {
        positive_seconds(number * 3600.0).map(Self)
    }
}

impl Number for Minutes {
    const EXPECTED: &str = "a number of minutes above 0, such as 10 or 0.5; remove the key for the default";

    fn from_whole(number: u64) -> Option<Self> {
        (number > 0).then(|| Self(Duration::from_secs(number.saturating_mul(60))))
    }

    fn from_fraction(number: f64) -> Option<Self> {
        positive_seconds(number * 60.0).map(Self)
    }
}

impl Number for Count {
    const EXPECTED: &str = "a whole number of rotations, 0 or more; remove the key for the default";

    fn from_whole(number: u64) -> Option<Self> {
        Some(Self(u32::try_from(number).unwrap_or(u32::MAX)))
    }

    fn from_fraction(number: f64) -> Option<Self> {
        exact_whole(number).and_then(Self::from_whole)
    }
}

impl Number for Milliseconds {
    const EXPECTED: &str = "a whole number of milliseconds, 0 or more; remove the key for the default";

    fn from_whole(number: u64) -> Option<Self> {
        Some(Self(Duration::from_millis(number)))
    }

    fn from_fraction(number: f64) -> Option<Self> {
        exact_whole(number).and_then(Self::from_whole)
    }
}

/// `2.0` is a whole number, `2.5` and `-1.0` are not.
fn exact_whole(number: f64) -> Option<u64> {
    millis::whole(number).filter(|_| number.fract() == 0.0)
}

struct NumberVisitor<T>(PhantomData<T>);

impl<T: Number> Visitor<'_> for NumberVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        T::from_whole(number).ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        let whole = u64::try_from(number).ok().and_then(T::from_whole);
        whole.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        T::from_fraction(number).ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
    }
}

macro_rules! deserialize_number {
    ($($kind:ident),+) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(NumberVisitor(PhantomData))
            }
        }
    )+};
}

deserialize_number!(Count, Hours, Milliseconds, Minutes);

impl<'de> Deserialize<'de> for PerProvider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PerProviderVisitor)
    }
}

struct PerProviderVisitor;

impl<'de> Visitor<'de> for PerProviderVisitor {
    type Value = PerProvider;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PerProvider::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PerProvider, A::Error> {
        let mut rows = Vec::new();
        while let Some((provider, Hours(wait))) = map.next_entry::<ProviderId, Hours>()? {
            rows.push((provider, wait));
        }
        Ok(PerProvider(rows))
    }
}
