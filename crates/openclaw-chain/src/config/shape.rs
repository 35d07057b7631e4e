//! How one value of a configuration file is read: what it must look like, and what is said when it does not.
//!
//! Every shape is read through `deserialize_any`, so that the wrong kind of value reaches the visitor here and
//! the format's own message (which would quote the text, perhaps a key) is never used.

use std::marker::PhantomData;
use std::time::Duration;

use indexmap::IndexMap;
use serde::de::{Deserializer, Error, Expected, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

/// What happens to a value of the wrong shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It counts as not written (chain.md 1.1, "anything else"). Only for inputs whose reader can step over a
    /// bad value, which a parsed JSON value can and a text cannot.
    Lenient,
    /// It is an error.
    Strict,
}

/// A shape a value may have.
pub(crate) trait Shape: Sized {
    /// What a value of this shape becomes.
    type Value;
    /// What is expected and how to write it, as in `a number of seconds such as 30`.
    fn describe(&self) -> &str;
    /// Reads a text.
    fn text<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let _ = text;
        Err(self.wrong("a string"))
    }
    /// Reads a whole number.
    fn whole<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Err(self.wrong_number(number))
    }
    /// Reads a number that is negative or has a fraction.
    fn other_number<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        Err(self.wrong_fraction(number))
    }
    /// Reads `true` or `false`.
    fn flag<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Err(self.wrong(if flag { "`true`" } else { "`false`" }))
    }
    /// Reads a list.
    fn list<'de, A: SeqAccess<'de>>(self, _list: A, _mode: Mode) -> Result<Self::Value, A::Error> {
        Err(self.wrong("a list"))
    }
    /// Reads an object.
    fn object<'de, A: MapAccess<'de>>(self, _object: A, _mode: Mode) -> Result<Self::Value, A::Error> {
        Err(self.wrong("an object"))
    }
    /// What stands for a value of another shape when the mode is lenient; `None` leaves the key out.
    fn unset(&self) -> Option<Self::Value> {
        None
    }
    /// The error for a number that is not expected.
    fn wrong_number<E: Error>(&self, number: impl std::fmt::Display) -> E {
        self.wrong(&format!("the number {number}"))
    }
    /// The error for a negative number or one with a fraction; a huge one is not written out.
    fn wrong_fraction<E: Error>(&self, number: f64) -> E {
        self.wrong_number(format_args!("{number:?}"))
    }
    /// The error for a value of another shape.
    fn wrong<E: Error>(&self, found: &str) -> E {
        E::invalid_type(Unexpected::Other(found), &Description(self.describe()))
    }
}

struct Description<'a>(&'a str);

impl Expected for Description<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// Binds a shape to a mode, which makes it readable by serde.
pub(crate) struct Read<S>(pub(crate) S, pub(crate) Mode);

impl<'de, S: Shape> serde::de::DeserializeSeed<'de> for Read<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, S: Shape> Visitor<'de> for Read<S> {
    type Value = S::Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.describe())
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<S::Value, E> {
        self.0.flag(flag)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<S::Value, E> {
        match u64::try_from(number) {
            Ok(number) => self.0.whole(number),
            Err(_) => Err(self.0.wrong_number(number)),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<S::Value, E> {
        self.0.whole(number)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<S::Value, E> {
        self.0.other_number(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<S::Value, E> {
        self.0.text(text)
    }

    fn visit_unit<E: Error>(self) -> Result<S::Value, E> {
        Err(self.0.wrong("`null` (remove the key instead to leave it unset)"))
    }

    fn visit_none<E: Error>(self) -> Result<S::Value, E> {
        self.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<S::Value, A::Error> {
        self.0.list(list, self.1)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<S::Value, A::Error> {
        self.0.object(object, self.1)
    }
}

/// Any text.
#[derive(Clone, Copy)]
pub(crate) struct Text(pub(crate) &'static str);

impl Shape for Text {
    type Value = String;

    fn describe(&self) -> &str {
        self.0
    }

    fn text<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// `true` or `false`.
#[derive(Clone, Copy)]
pub(crate) struct Flag(pub(crate) &'static str);

impl Shape for Flag {
    type Value = bool;

    fn describe(&self) -> &str {
        self.0
    }

    fn flag<E: Error>(self, flag: bool) -> Result<bool, E> {
        Ok(flag)
    }
}

/// A whole number above zero.
#[derive(Clone, Copy)]
pub(crate) struct Count(pub(crate) &'static str);

impl Shape for Count {
    type Value = u64;

    fn describe(&self) -> &str {
        self.0
    }

    fn whole<E: Error>(self, number: u64) -> Result<u64, E> {
        if number == 0 {
            return Err(self.wrong_number(0));
        }
        Ok(number)
    }

    fn other_number<E: Error>(self, number: f64) -> Result<u64, E> {
        // Some writers spell 200000 as 2e5 or 200000.0; a length of time keeps whole seconds exactly.
        match Duration::try_from_secs_f64(number) {
            Ok(whole) if whole.subsec_nanos() == 0 => self.whole(whole.as_secs()),
            _ => Err(self.wrong_fraction(number)),
        }
    }
}

/// A number of seconds above zero, fractions allowed.
#[derive(Clone, Copy)]
pub(crate) struct Seconds(pub(crate) &'static str);

impl Shape for Seconds {
    type Value = Duration;

    fn describe(&self) -> &str {
        self.0
    }

    fn whole<E: Error>(self, number: u64) -> Result<Duration, E> {
        if number == 0 {
            return Err(self.wrong_number(0));
        }
        Ok(Duration::from_secs(number))
    }

    fn other_number<E: Error>(self, number: f64) -> Result<Duration, E> {
        match Duration::try_from_secs_f64(number) {
            Ok(length) if !length.is_zero() => Ok(length),
            _ => Err(self.wrong_fraction(number)),
        }
    }
}

/// A list of values of one shape.
#[derive(Clone, Copy)]
pub(crate) struct List<S>(pub(crate) S, pub(crate) &'static str);

impl<S: Shape + Copy> Shape for List<S> {
    type Value = Vec<S::Value>;

    fn describe(&self) -> &str {
        self.1
    }

    fn list<'de, A: SeqAccess<'de>>(self, mut list: A, mode: Mode) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        loop {
            match list.next_element_seed(Read(self.0, mode)) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => return Ok(values),
                Err(error) if mode == Mode::Strict => return Err(error),
                Err(_) => {}
            }
        }
    }
}

/// An object whose keys are names and whose values share one shape, in the order written.
#[derive(Clone, Copy)]
pub(crate) struct MapOf<S>(pub(crate) S, pub(crate) &'static str);

impl<S: Shape + Copy> Shape for MapOf<S> {
    type Value = IndexMap<String, S::Value>;

    fn describe(&self) -> &str {
        self.1
    }

    fn object<'de, A: MapAccess<'de>>(self, object: A, mode: Mode) -> Result<Self::Value, A::Error> {
        let mut values = IndexMap::new();
        let mut fields = Fields { object, mode };
        while let Some(key) = fields.next_key()? {
            if let Some(value) = fields.value(self.0)? {
                values.insert(key, value);
            }
        }
        Ok(values)
    }
}

/// An object with known keys; every other key is stepped over.
pub(crate) struct Object<T>(PhantomData<T>);

impl<T> Object<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Clone for Object<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Object<T> {}

/// A type that is filled from an object, key by key.
pub(crate) trait FromObject: Default {
    /// What is expected and how to write it.
    const SHAPE: &'static str;

    /// Reads the value of `key` when the key is known.
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, fields: &mut Fields<A>)
    -> Result<Known, A::Error>;
}

/// Implements [`FromObject`] for a type whose known keys each fill one field.
macro_rules! object {
    ($type:ty, $shape:literal, $self:ident $fields:ident { $($key:literal => $read:expr $(,)?)* }) => {
        impl $crate::config::shape::FromObject for $type {
            const SHAPE: &'static str = $shape;

            fn field<'de, A: serde::de::MapAccess<'de>>(
                &mut $self,
                key: &str,
                $fields: &mut $crate::config::shape::Fields<A>,
            ) -> Result<$crate::config::shape::Known, A::Error> {
                match key {
                    $($key => $read,)*
                    _ => return Ok($crate::config::shape::Known::No),
                }
                Ok($crate::config::shape::Known::Yes)
            }
        }
    };
}

pub(crate) use object;

/// Whether a key belongs to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Not one of ours; its value has not been read.
    No,
    /// Its value has been read.
    Yes,
}

impl<T: FromObject> Shape for Object<T> {
    type Value = T;

    fn describe(&self) -> &str {
        T::SHAPE
    }

    /// A key with an unreadable object still counts as written (it allows a model, it names a provider).
    fn unset(&self) -> Option<T> {
        Some(T::default())
    }

    fn object<'de, A: MapAccess<'de>>(self, object: A, mode: Mode) -> Result<T, A::Error> {
        let mut filled = T::default();
        let mut fields = Fields { object, mode };
        while let Some(key) = fields.next_key()? {
            match filled.field(&key, &mut fields)? {
                Known::Yes => {}
                Known::No => fields.skip()?,
            }
        }
        Ok(filled)
    }
}

/// The values of an object being read.
pub(crate) struct Fields<A> {
    object: A,
    mode: Mode,
}

impl<'de, A: MapAccess<'de>> Fields<A> {
    fn next_key(&mut self) -> Result<Option<String>, A::Error> {
        self.object.next_key()
    }

    fn skip(&mut self) -> Result<(), A::Error> {
        self.object.next_value::<IgnoredAny>().map(|_| ())
    }

    /// The value of the current key; `None` when it has another shape and the mode is lenient.
    pub(crate) fn value<S: Shape>(&mut self, shape: S) -> Result<Option<S::Value>, A::Error> {
        let unset = shape.unset();
        match self.object.next_value_seed(Read(shape, self.mode)) {
            Ok(value) => Ok(Some(value)),
            Err(error) if self.mode == Mode::Strict => Err(error),
            Err(_) => Ok(unset),
        }
    }

    /// As [`value`](Self::value), with the shape's empty value in place of `None`.
    pub(crate) fn value_or_default<S>(&mut self, shape: S) -> Result<S::Value, A::Error>
    where
        S: Shape,
        S::Value: Default,
    {
        Ok(self.value(shape)?.unwrap_or_default())
    }
}
