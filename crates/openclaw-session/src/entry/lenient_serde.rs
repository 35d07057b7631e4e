//! Lenient serde functions for members that other programs and older versions wrote: a wrong type counts as absent.

use std::str::FromStr;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

/// A text that parses as `T`; blank, `null` and every other type are absent.
pub(crate) fn parsed<'de, D: Deserializer<'de>, T: FromStr>(from: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_str().and_then(|text| text.trim().parse().ok()))
}

/// One of the words of an enumeration; every other one is absent.
pub(crate) fn word<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    let word: Option<String> = text(from)?;
    Ok(word.and_then(|word| serde_json::from_value(Value::String(word)).ok()))
}

/// A trimmed text that is not blank.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text: Option<String> = parsed(from)?;
    Ok(text.filter(|text| !text.is_empty()))
}

/// A count; negative and fractional numbers are absent.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(from)?.as_u64())
}

/// A count whose absence is zero.
pub(crate) fn count_or_zero<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(count(from)?.unwrap_or(0))
}

/// `true` and nothing else.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(Value::deserialize(from)? == Value::Bool(true))
}

/// Any value but `null`.
pub(crate) fn value<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Ok(Some(Value::deserialize(from)?).filter(|value| !value.is_null()))
}

/// A value of our own that may be damaged; nothing then.
pub(crate) fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(serde_json::from_value(Value::deserialize(from)?).unwrap_or_default())
}

/// The elements of a list of our own that can be read.
pub(crate) fn readable_elements<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    let elements: Vec<Value> = or_default(from)?;
    let read = elements
        .into_iter()
        .filter_map(|element| serde_json::from_value(element).ok());
    Ok(read.collect())
}

/// Unix milliseconds; anything else is the epoch, older than every real activity.
pub(crate) fn instant<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let millis = Value::deserialize(from)?.as_i64();
    Ok(millis
        .and_then(|millis| Timestamp::from_millisecond(millis).ok())
        .unwrap_or(Timestamp::UNIX_EPOCH))
}

/// Unix milliseconds.
pub(crate) fn serialize_instant<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_i64(at.as_millisecond())
}

/// What JSON can keep of an instant, so that an entry equals itself after it was stored.
pub(crate) fn whole_millis(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(crate) fn is_unset(flag: &bool) -> bool {
    !*flag
}
