//! The SQLite engine: one file per agent, one thread that owns its connection (S7).

mod command;
mod connect;
mod schema;
mod table;
mod worker;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_sqlite::{BatchWriter, ErrorKind, SchemaState, open_read_only, rusqlite};

use crate::entry::SessionEntry;
use crate::fallback_override::Rollback;
use crate::store::{CasOutcome, Revision, SessionStore, StoreError, VersionedEntry};
use command::{PendingReply, StoreCommand};

pub use connect::OpenError;

/// Sessions in `<state>/agents/<agent>/sessions/openclaw-sessions.sqlite`.
///
/// All reads and writes of this process pass one thread in order, so a load sees everything enqueued before it and no
/// connection ever meets an async task. Writes that wait together are committed together. Several processes may share
/// the file. When it is removed or another one is put into its place, that one is used, as at the start. Dropping the
/// store finishes what was enqueued.
#[derive(Debug)]
pub struct SqliteSessionStore {
    path: PathBuf,
    writer: BatchWriter<StoreCommand>,
}

impl SqliteSessionStore {
    /// Opens or creates the file, its directory with mode 0700 and itself with 0600.
    ///
    /// On first use the sessions of a `sessions.json` beside it are imported; that file is only read. Blocks for the
    /// time of a few reads.
    ///
    /// # Errors
    /// When the file cannot be created, is damaged, was written by a newer version, or `sessions.json` cannot be
    /// read. Nothing is changed then.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let connection = connect::open(path)?;
        let writer = worker::start(connection, path)?;
        Ok(Self {
            path: path.to_owned(),
            writer,
        })
    }

    /// The sessions of a file as they are, the last active first. Makes and changes nothing, so that it works on a disk
    /// that may only be read.
    ///
    /// `None` while the file was never opened as a store: there is none, or an empty one, and the first process that
    /// opens it imports the `sessions.json` beside it.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or was written by a newer version.
    pub fn snapshot(path: &Path) -> Result<Option<Vec<(SessionKey, VersionedEntry)>>, OpenError> {
        match path.try_exists() {
            Ok(false) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            // Any other failure is reported by opening it.
            Ok(true) | Err(_) => {}
        }
        let fail = |source| connect::open_error(path, source);
        let connection = open_read_only(path, connect::LOCK_WAIT).map_err(fail)?;
        // The first version has no older one, so what lacks a step is empty.
        if schema::state(&connection, path)? != SchemaState::Current {
            return Ok(None);
        }
        let rows = table::rows(&connection).map_err(fail)?;
        command::list(rows, path).map(Some).map_err(OpenError::Entry)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    async fn send<T>(&self, command: impl FnOnce(PendingReply<T>) -> StoreCommand) -> Result<T, StoreError> {
        let (reply, result) = PendingReply::new();
        if self.writer.send(command(reply)).is_err() {
            return Err(StoreError::Closed);
        }
        result.await.unwrap_or(Err(StoreError::Closed))
    }
}

impl SessionStore for SqliteSessionStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        self.send(|reply| StoreCommand::Load {
            key: key.clone(),
            reply,
        })
        .await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        self.send(|reply| StoreCommand::CompareAndSet {
            key: key.clone(),
            expected,
            entry: Box::new(entry),
            reply,
        })
        .await
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        let command = StoreCommand::RollBack {
            key: key.clone(),
            rollback,
            now,
        };
        if self.writer.send(command).is_err() {
            tracing::warn!(session = %key, "a fallback choice was not undone: the session store is closed");
        }
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.send(|reply| StoreCommand::List { reply }).await
    }
}

/// The error of SQLite as an error of this store.
fn store_error(path: &Path, source: Arc<rusqlite::Error>) -> StoreError {
    let path = path.to_owned();
    match ErrorKind::of(&source) {
        ErrorKind::Busy => StoreError::Busy { path, source },
        kind if kind.is_damage() => StoreError::Damaged { path, source },
        _ => StoreError::Sqlite { path, source },
    }
}

#[cfg(test)]
mod tests;
