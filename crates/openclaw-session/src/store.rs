//! The session store: the trait of its engines, the engines of this crate, and the read-fold-write loop over any engine.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod memory;
mod sessions_json;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::future::Future;
use std::path::PathBuf;
#[cfg(feature = "sqlite")]
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::SessionKey;

use crate::entry::SessionEntry;
use crate::fallback_override::Rollback;

pub use memory::MemorySessionStore;
pub use sessions_json::{ImportedSessions, export_sessions_json, format_sessions_json, parse_sessions_json};
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, SqliteSessionStore};

/// How often an entry was written; the expectation of a compare-and-set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(i64);

impl Revision {
    /// The entry must not exist yet.
    pub const NONE: Self = Self(0);

    /// The revision after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The revision with this number, as an engine reads it back.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// The number for an engine to store beside the entry; 0 is [`NONE`](Self::NONE).
    pub const fn number(self) -> i64 {
        self.0
    }
}

/// An entry and the revision it was read at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionedEntry {
    /// The entry.
    pub entry: SessionEntry,
    /// Its revision.
    pub revision: Revision,
}

/// What became of a compare-and-set.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once per write and matched at once"
)]
pub enum CasOutcome {
    /// The entry is stored at this revision.
    Stored(Revision),
    /// Another writer was faster; this is stored now.
    Conflict(Option<VersionedEntry>),
}

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process keeps the file to itself.
    #[cfg(feature = "sqlite")]
    #[error(
        "another process has been writing to {path} for too long; wait for it or stop it, then try again"
    )]
    Busy {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<openclaw_sqlite::rusqlite::Error>,
    },
    /// The engine's thread is gone.
    #[error("the session store is closed; open it again")]
    Closed,
    /// Other writers were faster, again and again.
    #[error(
        "session `{key}` changed {tries} times while it was updated; try again, and look for a client that loops"
    )]
    Contended {
        /// The session.
        key: SessionKey,
        /// How often the update was tried.
        tries: u32,
    },
    /// The file is not, or no longer, a database.
    #[cfg(feature = "sqlite")]
    #[error(
        "{path} is damaged and was left as it is; restore a copy, or move it aside to start with the sessions of \
         sessions.json"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<openclaw_sqlite::rusqlite::Error>,
    },
    /// An engine outside of this crate failed; see [`engine`](Self::engine).
    #[error("the engine of the session store failed; see its cause, and try again")]
    Engine(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// One entry cannot be read; it stays as it is.
    #[error(
        "the entry of session `{key}` in {path} is damaged and was left as it is; \
         repair its JSON or delete its row in the table `sessions`"
    )]
    Entry {
        /// The session.
        key: String,
        /// The file.
        path: PathBuf,
        /// What is wrong with the JSON.
        source: serde_json::Error,
    },
    /// SQLite failed for another reason.
    #[cfg(feature = "sqlite")]
    #[error("cannot use {path}; check that its directory is writable and the disk is not full")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Arc<openclaw_sqlite::rusqlite::Error>,
    },
}

impl StoreError {
    /// The failure of an engine outside of this crate.
    pub fn engine(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Engine(source.into())
    }
}

/// Where session entries are stored.
///
/// Every change is a compare-and-set on the whole entry, which [`update`] wraps in a loop. Nothing here decides:
/// folds are the pure functions of this crate.
pub trait SessionStore: Send + Sync {
    /// The entry of a session; sees every change that was enqueued before (S1).
    ///
    /// # Errors
    /// When the engine cannot read, or the stored entry is damaged.
    fn load(
        &self,
        key: &SessionKey,
    ) -> impl Future<Output = Result<Option<VersionedEntry>, StoreError>> + Send;

    /// Stores `entry` when the session is still at `expected`; [`Revision::NONE`] means that it must not exist.
    ///
    /// # Errors
    /// When the engine cannot write; a lost race is no error but [`CasOutcome::Conflict`].
    fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> impl Future<Output = Result<CasOutcome, StoreError>> + Send;

    /// Undoes a fallback choice without waiting, for a run that is being dropped; ordered before any later read of
    /// this store (S1). A failure is logged and never reported (S-4.4).
    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp);

    /// All entries, the last active first.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    fn list(&self) -> impl Future<Output = Result<Vec<(SessionKey, VersionedEntry)>, StoreError>> + Send;
}

/// More lost races than this in a row are a fault elsewhere, not contention.
const MAX_TRIES: u32 = 256;

/// Reads, folds and writes one entry, again until no other writer was faster.
///
/// The fold sees the entry, or `None` when the session does not exist, and returns what to store (`None` stores
/// nothing) with a value for the caller. It may run several times; only its last value is returned.
///
/// # Errors
/// When the engine fails, or after very many lost races.
pub async fn update<S, T, F>(store: &S, key: &SessionKey, mut fold: F) -> Result<T, StoreError>
where
    S: SessionStore,
    F: FnMut(Option<&SessionEntry>) -> (Option<SessionEntry>, T),
{
    let mut current = store.load(key).await?;
    for _ in 0..MAX_TRIES {
        let (next, value) = fold(current.as_ref().map(|versioned| &versioned.entry));
        let Some(next) = next else {
            return Ok(value);
        };
        let expected = current.map_or(Revision::NONE, |versioned| versioned.revision);
        match store.compare_and_set(key, expected, next).await? {
            CasOutcome::Stored(_) => return Ok(value),
            CasOutcome::Conflict(found) => current = found,
        }
    }
    Err(StoreError::Contended {
        key: key.clone(),
        tries: MAX_TRIES,
    })
}

#[cfg(test)]
mod tests;
