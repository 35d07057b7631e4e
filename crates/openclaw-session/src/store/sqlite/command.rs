//! The commands on the file, and their results, which are kept back until they are committed.

use std::path::Path;

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use openclaw_sqlite::rusqlite::{self, Connection};
use tokio::sync::oneshot;

use super::table::{self, StoredRow};
use crate::entry::SessionEntry;
use crate::fallback_override::{Rollback, roll_back};
use crate::store::{CasOutcome, Revision, StoreError, VersionedEntry};

/// Where the result of a command is sent, and the result once it is known.
#[derive(Debug)]
pub(super) struct PendingReply<T> {
    sender: oneshot::Sender<Result<T, StoreError>>,
    result: Option<Result<T, StoreError>>,
}

impl<T> PendingReply<T> {
    pub(super) fn new() -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (sender, receiver) = oneshot::channel();
        (Self { sender, result: None }, receiver)
    }

    /// The caller may have stopped waiting; the command is performed all the same.
    fn send(self, failure: Option<StoreError>) {
        let result = failure.map(Err).or(self.result);
        drop(self.sender.send(result.unwrap_or(Err(StoreError::Closed))));
    }
}

/// A read or write of the file.
#[derive(Debug)]
pub(super) enum StoreCommand {
    CompareAndSet {
        key: SessionKey,
        expected: Revision,
        entry: Box<SessionEntry>,
        reply: PendingReply<CasOutcome>,
    },
    List {
        reply: PendingReply<Vec<(SessionKey, VersionedEntry)>>,
    },
    Load {
        key: SessionKey,
        reply: PendingReply<Option<VersionedEntry>>,
    },
    RollBack {
        key: SessionKey,
        rollback: Rollback,
        now: Timestamp,
    },
}

impl StoreCommand {
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::CompareAndSet { .. } | Self::RollBack { .. } => true,
            Self::List { .. } | Self::Load { .. } => false,
        }
    }

    /// Performs the command and keeps its result. A damaged entry concerns this command; an error of SQLite concerns
    /// all that share the transaction.
    pub(super) fn perform(&mut self, connection: &Connection, path: &Path) -> rusqlite::Result<()> {
        match self {
            Self::CompareAndSet {
                key,
                expected,
                entry,
                reply,
            } => reply.result = Some(compare_and_set(connection, path, key, *expected, entry)?),
            Self::List { reply } => reply.result = Some(list(table::rows(connection)?, path)),
            Self::Load { key, reply } => {
                let row = table::row(connection, key)?;
                reply.result = Some(row.map(|row| parse(&row, path)).transpose());
            }
            Self::RollBack { key, rollback, now } => undo(connection, path, key, rollback, *now)?,
        }
        Ok(())
    }

    /// Sends the result, or the failure of the transaction.
    pub(super) fn finish(self, failure: Option<StoreError>) {
        match self {
            Self::CompareAndSet { reply, .. } => reply.send(failure),
            Self::List { reply } => reply.send(failure),
            Self::Load { reply, .. } => reply.send(failure),
            Self::RollBack { key, .. } => {
                if let Some(error) = failure {
                    warn(&key, &error);
                }
            }
        }
    }
}

fn compare_and_set(
    connection: &Connection,
    path: &Path,
    key: &SessionKey,
    expected: Revision,
    entry: &SessionEntry,
) -> rusqlite::Result<Result<CasOutcome, StoreError>> {
    let found = table::row(connection, key)?;
    if found.as_ref().map_or(Revision::NONE, StoredRow::revision) != expected {
        let there = found.map(|row| parse(&row, path)).transpose();
        return Ok(there.map(CasOutcome::Conflict));
    }
    let revision = expected.next();
    table::put(connection, key, revision, entry)?;
    Ok(Ok(CasOutcome::Stored(revision)))
}

fn undo(
    connection: &Connection,
    path: &Path,
    key: &SessionKey,
    rollback: &Rollback,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let Some(row) = table::row(connection, key)? else {
        return Ok(());
    };
    match parse(&row, path) {
        Err(error) => warn(key, &error),
        Ok(found) => {
            if let Some(next) = roll_back(&found.entry, rollback, now) {
                table::put(connection, key, found.revision.next(), &next)?;
            }
        }
    }
    Ok(())
}

pub(super) fn list(
    rows: Vec<StoredRow>,
    path: &Path,
) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
    let parsed = rows.into_iter().filter_map(|row| {
        // A blank key cannot be loaded; only another program can have written it.
        let key = SessionKey::try_new(row.key()).ok()?;
        Some(parse(&row, path).map(|versioned| (key, versioned)))
    });
    parsed.collect()
}

fn parse(row: &StoredRow, path: &Path) -> Result<VersionedEntry, StoreError> {
    row.parse().map_err(|source| StoreError::Entry {
        key: row.key().to_owned(),
        path: path.to_owned(),
        source,
    })
}

fn warn(key: &SessionKey, error: &StoreError) {
    tracing::warn!(session = %key, %error, "a fallback choice was not undone");
}
