//! The file of the other program: one JSON object of entries by session key (S7).

use openclaw_ids::{SessionId, SessionKey};
use serde_json::{Map, Value};

use crate::entry::SessionEntry;
use crate::store::{SessionStore, StoreError};

/// What a `sessions.json` holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedSessions {
    /// The sessions, in file order.
    pub entries: Vec<(SessionKey, SessionEntry)>,
    /// The keys whose value is no session at all.
    pub rejected: Vec<String>,
}

/// Reads the text of a `sessions.json`; an empty one holds no sessions.
///
/// Old and foreign entries are welcome: members may be missing, overrides may lack their source, and an entry without
/// `sessionId` takes its key for one until its transcript changes. What is no object, or has a blank key, is
/// reported by its key.
///
/// # Errors
/// When the text is not one JSON object.
pub fn parse_sessions_json(text: &str) -> Result<ImportedSessions, serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let mut found = ImportedSessions::default();
    if text.is_empty() {
        return Ok(found);
    }
    for (key, value) in serde_json::from_str::<Map<String, Value>>(text)? {
        match session(&key, value) {
            Some(session) => found.entries.push(session),
            None => found.rejected.push(key),
        }
    }
    Ok(found)
}

fn session(key: &str, value: Value) -> Option<(SessionKey, SessionEntry)> {
    let key = SessionKey::try_new(key).ok()?;
    let Value::Object(mut members) = value else {
        return None;
    };
    let id = members.get(SESSION_ID).and_then(Value::as_str);
    if id.and_then(|id| SessionId::try_new(id).ok()).is_none() {
        members.insert(SESSION_ID.to_owned(), Value::from(key.as_str()));
    }
    let entry = serde_json::from_value(Value::Object(members)).ok()?;
    Some((key, entry))
}

const SESSION_ID: &str = "sessionId";

/// The member that is ours alone.
const FAILOVER: &str = "failover";

/// All sessions of a store as the text of a `sessions.json`, by key, without the member that only this crate knows.
///
/// # Errors
/// When the store cannot list its sessions.
pub async fn export_sessions_json<S: SessionStore>(store: &S) -> Result<String, StoreError> {
    let mut sessions = store.list().await?;
    sessions.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut document = Map::new();
    for (key, versioned) in sessions {
        if let Ok(Value::Object(mut members)) = serde_json::to_value(&versioned.entry) {
            members.shift_remove(FAILOVER);
            document.insert(key.to_string(), Value::Object(members));
        }
    }
    Ok(format!("{:#}\n", Value::Object(document)))
}

#[cfg(test)]
mod tests;
