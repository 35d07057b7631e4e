//! A configured value that may be a secret and is never printed.

/// A text or a reference to a secret, as written; neither `Debug` nor an error shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(serde_json::Value);

impl SecretValue {
    /// Wraps a value.
    pub fn new(value: serde_json::Value) -> Self {
        Self(value)
    }

    /// The value as written, for the one place that resolves or sends it.
    pub fn expose(&self) -> &serde_json::Value {
        &self.0
    }

    /// The value when it was written as a plain text.
    pub fn expose_text(&self) -> Option<&str> {
        self.0.as_str()
    }
}

impl std::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[redacted]")
    }
}
