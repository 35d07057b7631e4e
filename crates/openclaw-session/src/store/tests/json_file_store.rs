//! The engine that the README shows.
#![expect(unreachable_pub, reason = "the users of this crate make their engines public")]
// What follows stands in the README, word for word.
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, Revision, Rollback, SessionEntry, SessionStore, StoreError, VersionedEntry, roll_back,
};

/// All sessions in one JSON file that one process uses; each change replaces the file.
pub struct JsonFileStore {
    /// Held while the file is read or written.
    path: Mutex<PathBuf>,
}

/// Each entry with the number of its revision.
type Sessions = BTreeMap<SessionKey, (i64, SessionEntry)>;

impl JsonFileStore {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = Mutex::new(path.into());
        Self { path }
    }

    fn lock(&self) -> MutexGuard<'_, PathBuf> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(path: &PathBuf) -> Result<Sessions, StoreError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(StoreError::engine),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Sessions::new()),
        Err(error) => Err(StoreError::engine(error)),
    }
}

fn write(path: &PathBuf, sessions: &Sessions) -> Result<(), StoreError> {
    let replace = || -> io::Result<()> {
        let unfinished = path.with_extension("unfinished");
        fs::write(&unfinished, serde_json::to_vec(sessions)?)?;
        fs::rename(&unfinished, path)
    };
    replace().map_err(StoreError::engine)
}

fn versioned((number, entry): &(i64, SessionEntry)) -> VersionedEntry {
    let (entry, revision) = (entry.clone(), Revision::from_number(*number));
    VersionedEntry { entry, revision }
}

impl SessionStore for JsonFileStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        Ok(read(&self.lock())?.get(key).map(versioned))
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        let path = self.lock();
        let mut sessions = read(&path)?;
        let current = sessions.get(key).map(versioned);
        if current.as_ref().map_or(Revision::NONE, |current| current.revision) != expected {
            return Ok(CasOutcome::Conflict(current));
        }
        let revision = expected.next();
        sessions.insert(key.clone(), (revision.number(), entry));
        write(&path, &sessions)?;
        Ok(CasOutcome::Stored(revision))
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        let path = self.lock();
        let Ok(mut sessions) = read(&path) else { return };
        let Some((number, entry)) = sessions.get_mut(key) else { return };
        if let Some(restored) = roll_back(entry, &rollback, now) {
            (*number, *entry) = (*number + 1, restored);
            // A failure may be logged; there is no caller to report it to.
            drop(write(&path, &sessions));
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        let sessions = read(&self.lock())?;
        let mut all: Vec<_> = sessions.iter().map(|(key, stored)| (key.clone(), versioned(stored))).collect();
        // The last active first; the sort keeps the order of the keys among equals.
        all.sort_by_key(|(_, stored)| std::cmp::Reverse(stored.entry.updated_at));
        Ok(all)
    }
}
