//! The error for a text that is no identifier.

/// Why a text is not an identifier of the requested kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// Nothing is left after trimming.
    #[error("{kind} is empty; give a name")]
    Empty {
        /// The requested kind, for example `provider`.
        kind: &'static str,
    },
    /// The text is not of the form `provider/model`.
    #[error("`{text}` is not a model reference; write it as `provider/model`")]
    NotAReference {
        /// The text as given, trimmed.
        text: String,
    },
}
