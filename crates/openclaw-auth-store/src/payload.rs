//! The JSON of the two rows that both programs share (auth-store.md 3).
//!
//! The documents stay as they were read; an edit touches only what it is about, so that everything that nothing here
//! knows survives (D13).

mod state;
mod store;
#[cfg(test)]
mod tests;

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
    let mut whole = Map::from_iter([("version".to_owned(), Value::from(VERSION))]);
    let rest = members.iter().filter(|(name, _)| *name != "version");
    whole.extend(rest.map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(whole).to_string()
}
