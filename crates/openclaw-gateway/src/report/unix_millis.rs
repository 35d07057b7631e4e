//! How instants stand in JSON: Unix milliseconds.

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// Writes an instant.
pub(super) fn millis<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(at.as_millisecond())
}

/// Writes an instant, or `null`.
#[expect(clippy::ref_option, reason = "the signature that serde asks for")]
pub(super) fn maybe_millis<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(Timestamp::as_millisecond).serialize(serializer)
}
