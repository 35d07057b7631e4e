//! The memory engine, the reference for all others: a map behind a lock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use openclaw_ids::SessionKey;

use crate::entry::SessionEntry;
use crate::fallback_override::{Rollback, roll_back};
use crate::store::{CasOutcome, Revision, SessionStore, StoreError, VersionedEntry};

/// Sessions that live as long as the process, for tests and for callers without a disk.
#[derive(Debug, Default)]
pub struct MemorySessionStore {
    entries: Mutex<HashMap<SessionKey, VersionedEntry>>,
}

impl MemorySessionStore {
    fn entries(&self) -> MutexGuard<'_, HashMap<SessionKey, VersionedEntry>> {
        // Every critical section is one map operation, so a panic elsewhere leaves nothing half done.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionStore for MemorySessionStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        Ok(self.entries().get(key).cloned())
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        let mut entries = self.entries();
        let found = entries.get(key);
        if found.map_or(Revision::NONE, |found| found.revision) != expected {
            return Ok(CasOutcome::Conflict(found.cloned()));
        }
        let revision = expected.next();
        entries.insert(key.clone(), VersionedEntry { entry, revision });
        Ok(CasOutcome::Stored(revision))
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        if let Some(found) = self.entries().get_mut(key)
            && let Some(entry) = roll_back(&found.entry, &rollback, now)
        {
            let revision = found.revision.next();
            *found = VersionedEntry { entry, revision };
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        let mut all: Vec<_> = self
            .entries()
            .iter()
            .map(|(key, versioned)| (key.clone(), versioned.clone()))
            .collect();
        all.sort_by(|(key, one), (other_key, other)| {
            let activity = other.entry.updated_at.cmp(&one.entry.updated_at);
            activity.then_with(|| key.cmp(other_key))
        });
        Ok(all)
    }
}
