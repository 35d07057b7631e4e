//! Secret texts, references to secrets, and how secrets and ids are masked.

pub(crate) mod mask;
pub(crate) mod reference;

use std::fmt;
use std::sync::{Arc, OnceLock};

use secrecy::{ExposeSecret, SecretString};

pub use mask::{log_id, mask_key};
pub use reference::{SecretRef, SecretSource};

/// A key, token or other text that must never be printed.
///
/// Wraps [`SecretString`], which wipes its memory on drop, and adds equality; `Debug` prints `[redacted]`. Clones
/// share one text, which is wiped when the last of them is dropped, and its fingerprint once that was computed.
#[derive(Clone)]
pub struct Secret(Arc<Shared>);

struct Shared {
    text: SecretString,
    fingerprint: OnceLock<Option<String>>,
}

impl Secret {
    /// Takes a text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self::from(SecretString::from(text.into()))
    }

    /// The text itself; only for a row being written, a fingerprint or a call being signed.
    pub fn expose(&self) -> &str {
        self.0.text.expose_secret()
    }

    /// Whether it is empty or blank.
    pub fn is_blank(&self) -> bool {
        self.expose().trim().is_empty()
    }

    /// Cleans a pasted text (auth-store.md C2): line breaks, control characters, characters above U+00FF and
    /// surrounding blanks are removed, blanks inside stay. `None` when nothing is left.
    ///
    /// ```
    /// # use openclaw_auth_store::Secret;
    /// assert_eq!(Secret::pasted(" sk-a\nb ").unwrap().expose(), "sk-ab");
    /// assert!(Secret::pasted("\u{2028}").is_none());
    /// ```
    pub fn pasted(text: &str) -> Option<Self> {
        let kept: String = text.chars().filter(|c| is_kept(*c)).collect();
        let kept = kept.trim();
        (!kept.is_empty()).then(|| Self::new(kept))
    }

    /// The wrapped secret, for interfaces that speak `secrecy`.
    pub fn into_inner(self) -> SecretString {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.text.clone(), |shared| shared.text)
    }

    /// The fingerprint, computed by `find` at the first call on any clone.
    pub(crate) fn known_by(&self, find: impl FnOnce(&Self) -> Option<String>) -> Option<&str> {
        self.0.fingerprint.get_or_init(|| find(self)).as_deref()
    }
}

fn is_kept(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{ff}')
}

impl From<SecretString> for Secret {
    fn from(secret: SecretString) -> Self {
        Self(Arc::new(Shared {
            text: secret,
            fingerprint: OnceLock::new(),
        }))
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.expose() == other.expose()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c2_what_is_kept_of_a_pasted_text() {
        for (text, kept) in [
            ("sk-1", Some("sk-1")),
            ("  sk 1\r\n", Some("sk 1")),
            ("sk\u{2028}-\u{2029}1", Some("sk-1")),
            ("sk\u{7f}-\u{80}\u{9f}1\u{0}", Some("sk-1")),
            ("s\u{e9}k\u{100}\u{1f511}", Some("s\u{e9}k")),
            ("\u{a0}k\u{a0}", Some("k")),
            (" \n\u{1f511}", None),
            ("", None),
        ] {
            assert_eq!(
                Secret::pasted(text).as_ref().map(Secret::expose),
                kept,
                "{text:?}"
            );
        }
    }

    #[test]
    fn clones_are_identified_once() {
        let secret = Secret::new("sk-1");
        let clone = secret.clone();
        assert_eq!(clone.known_by(|_| Some("first".to_owned())), Some("first"));
        assert_eq!(secret.known_by(|_| Some("second".to_owned())), Some("first"));
        assert_eq!(Secret::new("sk-1").known_by(|_| None), None);
        // Neither clone takes the text of the other away.
        assert_eq!(Secret::from(clone.into_inner()), secret);
        assert_eq!(secret.expose(), "sk-1");
    }

    #[test]
    fn debug_shows_nothing_of_it() {
        assert_eq!(format!("{:?}", Secret::new("sk-live-1")), "[redacted]");
    }
}
