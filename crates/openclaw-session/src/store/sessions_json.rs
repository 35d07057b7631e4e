//! Import and export of `sessions.json`, the other program's file: one JSON object of entries by session key (S7).

mod surrogates;

use std::collections::HashMap;
use std::fmt::Formatter;

use openclaw_ids::{SessionId, SessionKey};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::entry::SessionEntry;
use crate::store::{SessionStore, StoreError};
use surrogates::mend_surrogates;

/// What a `sessions.json` holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedSessions {
    /// The sessions, in file order, each key once.
    pub entries: Vec<(SessionKey, SessionEntry)>,
    /// The keys whose value is no session at all, or whose key is another one's but for blanks around it.
    pub rejected: Vec<String>,
}

/// Reads the text of a `sessions.json`; an empty one holds no sessions.
///
/// Old and foreign entries are welcome: members may be missing, overrides may lack their source, and an entry without
/// `sessionId` takes its key for one until its transcript changes. What is no object, or has a blank key, is
/// reported by its key. Of a key that occurs twice the last value counts, and half of a character that was cut
/// in two reads as `\u{fffd}`, both as in the other program.
///
/// # Errors
/// When the text is not one JSON object.
pub fn parse_sessions_json(text: &str) -> Result<ImportedSessions, serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(ImportedSessions::default());
    }
    let read = serde_json::from_str(text).or_else(|_| serde_json::from_str(&mend_surrogates(text)));
    read.map(|Document(found)| found)
}

/// The sessions of one object, read one by one so that a large file is never in memory as JSON values.
struct Document(ImportedSessions);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Collector::default()).map(Self)
    }
}

/// What was read so far, and at which place each key is, with its literal text.
#[derive(Default)]
struct Collector {
    found: ImportedSessions,
    places: HashMap<SessionKey, (usize, String)>,
}

impl<'de> Visitor<'de> for Collector {
    type Value = ImportedSessions;

    fn expecting(&self, text: &mut Formatter<'_>) -> std::fmt::Result {
        text.write_str("an object of sessions by their keys")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<ImportedSessions, A::Error> {
        while let Some((literal, value)) = map.next_entry::<String, Value>()? {
            match session(&literal, value) {
                Some(session) => self.add(literal, session),
                None => self.found.rejected.push(literal),
            }
        }
        Ok(self.found)
    }
}

impl Collector {
    /// Of two keys that differ in the blanks around them, the one without any names the session.
    fn add(&mut self, literal: String, session: (SessionKey, SessionEntry)) {
        let Some((place, taken_by)) = self.places.get_mut(&session.0) else {
            let place = self.found.entries.len();
            self.places.insert(session.0.clone(), (place, literal));
            self.found.entries.push(session);
            return;
        };
        if *taken_by != literal && literal != session.0.as_str() {
            self.found.rejected.push(literal);
            return;
        }
        if *taken_by != literal {
            self.found.rejected.push(std::mem::replace(taken_by, literal));
        }
        self.found.entries[*place] = session;
    }
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

/// All sessions of a store as the text of a `sessions.json`; see [`format_sessions_json`].
///
/// # Errors
/// When the store cannot list its sessions.
pub async fn export_sessions_json<S: SessionStore>(store: &S) -> Result<String, StoreError> {
    let sessions = store.list().await?.into_iter();
    Ok(format_sessions_json(
        sessions.map(|(key, versioned)| (key, versioned.entry)).collect(),
    ))
}

/// These sessions as the text of a `sessions.json`, by key, without the member that only this crate knows (S7).
pub fn format_sessions_json(mut sessions: Vec<(SessionKey, SessionEntry)>) -> String {
    sessions.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut document = Map::new();
    for (key, entry) in sessions {
        if let Ok(Value::Object(mut members)) = serde_json::to_value(&entry) {
            members.shift_remove(FAILOVER);
            document.insert(key.to_string(), Value::Object(members));
        }
    }
    format!("{:#}\n", Value::Object(document))
}

#[cfg(test)]
mod tests;
