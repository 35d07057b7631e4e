//! The JSON of the two rows that are shared with OpenClaw (auth-store.md 3).
//!
//! Documents stay as they were read, and an edit touches only its own members, so that unknown members survive (D13).

mod state;
mod store;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

pub(crate) use state::StateDocument;
pub(crate) use store::{Profiles, StoreDocument, warn_rejected};

/// The version that is always written.
const VERSION: u64 = 1;

/// Reads a row's text as an object.
///
/// # Errors
/// What is wrong with it, without its content.
pub(crate) fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            Err("not a JSON object".to_owned())
        }
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

/// `version` first, then what is there.
fn versioned(members: &Map<String, Value>) -> String {
    let whole = VersionedDocument(members);
    #[expect(clippy::expect_used, reason = "the keys are texts and the values are JSON")]
    serde_json::to_string(&whole).expect("a document is JSON")
}

struct VersionedDocument<'m>(&'m Map<String, Value>);

impl Serialize for VersionedDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut whole = serializer.serialize_map(None)?;
        whole.serialize_entry("version", &VERSION)?;
        for (name, value) in self.0.iter().filter(|(name, _)| *name != "version") {
            whole.serialize_entry(name, value)?;
        }
        whole.end()
    }
}

#[cfg(test)]
mod tests;
