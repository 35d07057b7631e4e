//! Finds the line and column of a key, for faults that show only after the file was read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// Line and column, from 1, of the value at `keys` in the JSON5 object `text`. Names are compared as configuration keys
/// are: trimmed and without case.
pub(crate) fn position_of(text: &str, keys: &[&str]) -> Option<(usize, usize)> {
    let mut deserializer = json5::Deserializer::from_str(text);
    let error = ValueSeed(keys).deserialize(&mut deserializer).err()?;
    let at = error.position()?;
    error
        .to_string()
        .contains(VALUE_FOUND)
        .then_some((at.line + 1, at.column + 1))
}

/// The error that stops the parser at the sought value; its position is the result.
const VALUE_FOUND: &str = "the value that is sought";

/// Walks down the remaining keys and ignores everything else.
struct ValueSeed<'k>(&'k [&'k str]);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object on the way")
    }

    fn visit_str<E: Error>(self, _text: &str) -> Result<(), E> {
        self.leaf()
    }

    fn visit_u64<E: Error>(self, _number: u64) -> Result<(), E> {
        self.leaf()
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.0.split_first() else {
            return self.leaf();
        };
        while let Some(key) = map.next_key::<String>()? {
            if key.trim().eq_ignore_ascii_case(first.trim()) {
                map.next_value_seed(ValueSeed(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl ValueSeed<'_> {
    fn leaf<E: Error>(&self) -> Result<(), E> {
        if self.0.is_empty() {
            Err(E::custom(VALUE_FOUND))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_keys() {
        let text = "{ models: { x: 1,\n  providers: { a: {}, ' Relay ': { baseUrl: 'u',\n headers: { h: {} } } } } }";
        for (keys, place) in [
            (&["models", "providers", "relay", "baseUrl"] as &[_], Some(2)),
            (&["models", "providers", "relay", "headers", "H"], Some(3)),
            (&["models", "providers", "other", "baseUrl"], None),
            (&["models", "x", "y"], None),
            (&["none"], None),
        ] {
            assert_eq!(position_of(text, keys).map(|(line, _)| line), place, "{keys:?}");
        }
        assert_eq!(position_of("{ a: 'b' }", &["a"]), Some((1, 6)));
        assert_eq!(position_of("{", &["a"]), None);
    }
}
