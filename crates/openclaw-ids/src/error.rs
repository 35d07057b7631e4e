//! Why a text is not an identifier.

/// A text that cannot be the identifier it was given as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Nothing is left after trimming.
    #[error("{kind} is empty; give a name")]
    Empty {
        /// What the text was meant to be, for example `provider`.
        kind: &'static str,
    },
    /// The text has no `provider/model` form.
    #[error("`{text}` is not a model reference; write it as `provider/model`")]
    NotAReference {
        /// The text as given, trimmed.
        text: String,
    },
}
