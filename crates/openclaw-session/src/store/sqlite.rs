//! The engine that people run: one SQLite file per agent, one thread that owns its connection (S7).

mod connect;
mod job;
mod place;
mod schema;
mod table;
mod writer;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::SessionKey;

use crate::entry::SessionEntry;
use crate::fallback_override::Rollback;
use crate::store::{CasOutcome, Revision, SessionStore, StoreError, VersionedEntry};
use job::{Ask, Job};
use writer::Writer;

pub use connect::{OpenError, open_read_only};
pub use place::Place;

/// Sessions in `<state>/agents/<agent>/sessions/openclaw-sessions.sqlite`.
///
/// All reads and writes of this process pass one thread in order, so a load sees everything enqueued before it and no
/// connection ever meets an async task. Writes that wait together are committed together. Several processes may share
/// the file. When it is removed or another one is put into its place, that one is used, as at the start. Dropping the
/// store finishes what was enqueued.
#[derive(Debug)]
pub struct SqliteSessionStore {
    path: PathBuf,
    writer: Writer,
}

impl SqliteSessionStore {
    /// Opens or creates the file, its directory with mode 0700 and itself with 0600.
    ///
    /// On first use the sessions of a `sessions.json` beside it are taken over; that file is only read. Blocks for the
    /// time of a few reads.
    ///
    /// # Errors
    /// When the file cannot be created, is damaged, was written by a newer version, or `sessions.json` cannot be
    /// read. Nothing is changed then.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let connection = connect::open(path)?;
        let writer = Writer::start(connection, path)?;
        Ok(Self {
            path: path.to_owned(),
            writer,
        })
    }

    /// The sessions of a file as they are, the last active first. Makes and changes nothing, so that it works on a disk
    /// that may only be read.
    ///
    /// `None` while nobody has opened the file as a store: there is none, or an empty one, and whoever opens it takes over
    /// the `sessions.json` beside it.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or was written by a newer version.
    pub fn snapshot(path: &Path) -> Result<Option<Vec<(SessionKey, VersionedEntry)>>, OpenError> {
        match path.try_exists() {
            Ok(false) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
            // What else keeps it from being looked for is told by opening it.
            Ok(true) | Err(_) => {}
        }
        let fail = |source| connect::open_error(path, source);
        let connection = connect::open_read_only(path).map_err(fail)?;
        // The first version has no older one, so what lacks a step is empty.
        if schema::is_older(&connection, path)? {
            return Ok(None);
        }
        let rows = table::rows(&connection).map_err(fail)?;
        job::list(rows, path).map(Some).map_err(OpenError::Entry)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn ask<T>(&self, job: impl FnOnce(Ask<T>) -> Job) -> Result<T, StoreError> {
        let (ask, answer) = Ask::new();
        if !self.writer.send(job(ask)) {
            return Err(StoreError::Closed);
        }
        answer.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl SessionStore for SqliteSessionStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        self.ask(|ask| Job::Load {
            key: key.clone(),
            ask,
        })
        .await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        self.ask(|ask| Job::CompareAndSet {
            key: key.clone(),
            expected,
            entry: Box::new(entry),
            ask,
        })
        .await
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        let job = Job::RollBack {
            key: key.clone(),
            rollback,
            now,
        };
        if !self.writer.send(job) {
            tracing::warn!(session = %key, "a fallback choice was not undone: the session store is closed");
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.ask(|ask| Job::List { ask }).await
    }
}

/// What SQLite says about `path`, in our words.
fn store_error(path: &Path, source: Arc<rusqlite::Error>) -> StoreError {
    let path = path.to_owned();
    match Trouble::of(&source) {
        Trouble::Busy => StoreError::Busy { path, source },
        Trouble::Damage => StoreError::Damaged { path, source },
        Trouble::Other => StoreError::Sqlite { path, source },
    }
}

/// What kind of help an error of SQLite calls for.
enum Trouble {
    Busy,
    Damage,
    Other,
}

impl Trouble {
    fn of(error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseCorrupt, DatabaseLocked, NotADatabase};
        match error.sqlite_error_code() {
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy,
            Some(DatabaseCorrupt | NotADatabase) => Self::Damage,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests;
