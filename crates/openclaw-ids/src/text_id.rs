//! The macro for text identifiers: newtypes over an immutable, never empty text that is cheap to clone.

use std::borrow::Cow;

/// The text in lowercase, which all comparisons without case use; borrowed when it is lowercase already.
///
/// ```
/// assert_eq!(openclaw_ids::lowercased("OpenAI"), "openai");
/// ```
pub fn lowercased(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Declares a newtype over a non-empty text that `$normalise` normalises.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $normalise:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// The identifier of `text`, normalised.
            ///
            /// # Errors
            /// [`IdError::Empty`](crate::IdError::Empty) when nothing is left after trimming.
            pub fn try_new(text: &str) -> Result<Self, crate::IdError> {
                let normalise: fn(&str) -> std::borrow::Cow<'_, str> = $normalise;
                let text = normalise(text);
                if text.is_empty() {
                    return Err(crate::IdError::Empty { kind: $kind });
                }
                Ok(Self(text.into()))
            }

            /// The normalised text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::try_new(text)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::try_new(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use text_id;
