//! More sessions in one file.

use std::hint::black_box;
use std::path::Path;

use openclaw_ids::SessionKey;
use openclaw_session::{SessionEntry, SessionStore, SqliteSessionStore};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::Work;
use crate::Failure;

/// A step that visits all of any number of sessions, far from the last one.
const STRIDE: usize = 7_919;

/// One session is read, another one each time.
pub(super) fn read(count: usize) -> Result<Work, Failure> {
    let mut sessions = Sessions::new(count)?;
    Ok(Box::new(move || {
        let key = sessions.next();
        black_box(sessions.runtime.block_on(sessions.store.load(&key)).is_ok());
    }))
}

/// One session is read and changed, another one each time.
pub(super) fn change(count: usize) -> Result<Work, Failure> {
    let mut sessions = Sessions::new(count)?;
    Ok(Box::new(move || {
        let key = sessions.next();
        let store = &sessions.store;
        let changed = openclaw_session::update(store, &key, |entry| {
            let changed = entry.cloned().map(|mut entry: SessionEntry| {
                entry.touch(entry.updated_at + jiff::SignedDuration::from_millis(1));
                entry
            });
            (changed, ())
        });
        black_box(sessions.runtime.block_on(changed).is_ok());
    }))
}

struct Sessions {
    runtime: Runtime,
    store: SqliteSessionStore,
    keys: Vec<SessionKey>,
    at: usize,
    _folder: TempDir,
}

impl Sessions {
    /// They come from a `sessions.json`, which is faster than writing them one by one.
    fn new(count: usize) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let keys = (0..count).map(|number| format!("agent:main:telegram:direct:{number}").parse());
        let keys = keys.collect::<Result<Vec<SessionKey>, _>>()?;
        Self::write(&keys, &folder.path().join("sessions.json"))?;
        let store = SqliteSessionStore::open(&folder.path().join("openclaw-sessions.sqlite"))?;
        Ok(Self {
            runtime: crate::runtime()?,
            store,
            keys,
            at: 0,
            _folder: folder,
        })
    }

    fn write(keys: &[SessionKey], path: &Path) -> Result<(), Failure> {
        let all: serde_json::Map<_, _> = keys
            .iter()
            .enumerate()
            .map(|(number, key)| {
                let entry = serde_json::json!({
                    "sessionId": format!("3f1c2a60-0000-4000-8000-{number:012}"),
                    "updatedAt": 1_760_000_000_000_u64,
                    "providerOverride": "anthropic",
                    "modelOverride": "claude-sonnet-5",
                    "modelOverrideSource": "auto",
                    "chatType": "direct",
                    "inputTokens": 12_000,
                });
                (key.to_string(), entry)
            })
            .collect();
        Ok(std::fs::write(path, serde_json::Value::Object(all).to_string())?)
    }

    fn next(&mut self) -> SessionKey {
        self.at = (self.at + STRIDE) % self.keys.len();
        self.keys[self.at].clone()
    }
}
