//! One thing to do on the file, and the answer that is held back until it is committed.

use std::path::Path;

use jiff::Timestamp;
use openclaw_ids::SessionKey;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::table::{self, StoredRow};
use crate::entry::SessionEntry;
use crate::fallback_override::{Rollback, roll_back};
use crate::store::{CasOutcome, Revision, StoreError, VersionedEntry};

/// A question and, once it is known, its answer.
pub(super) struct Ask<T> {
    reply: oneshot::Sender<Result<T, StoreError>>,
    answer: Option<Result<T, StoreError>>,
}

impl<T> Ask<T> {
    pub(super) fn new() -> (Self, oneshot::Receiver<Result<T, StoreError>>) {
        let (reply, answer) = oneshot::channel();
        (Self { reply, answer: None }, answer)
    }

    /// Whoever asked may be gone; the work is done all the same.
    fn send(self, failure: Option<StoreError>) {
        let answer = failure.map(Err).or(self.answer);
        drop(self.reply.send(answer.unwrap_or(Err(StoreError::Closed))));
    }
}

pub(super) enum Job {
    CompareAndSet {
        key: SessionKey,
        expected: Revision,
        entry: Box<SessionEntry>,
        ask: Ask<CasOutcome>,
    },
    List {
        ask: Ask<Vec<(SessionKey, VersionedEntry)>>,
    },
    Load {
        key: SessionKey,
        ask: Ask<Option<VersionedEntry>>,
    },
    RollBack {
        key: SessionKey,
        rollback: Rollback,
        now: Timestamp,
    },
}

impl Job {
    pub(super) fn writes(&self) -> bool {
        match self {
            Self::CompareAndSet { .. } | Self::RollBack { .. } => true,
            Self::List { .. } | Self::Load { .. } => false,
        }
    }

    /// Does the work and keeps the answer. A damaged entry concerns this job; an error of SQLite concerns everything
    /// that shares the transaction.
    pub(super) fn perform(&mut self, connection: &Connection, path: &Path) -> rusqlite::Result<()> {
        match self {
            Self::CompareAndSet {
                key,
                expected,
                entry,
                ask,
            } => ask.answer = Some(compare_and_set(connection, path, key, *expected, entry)?),
            Self::List { ask } => ask.answer = Some(list(table::rows(connection)?, path)),
            Self::Load { key, ask } => {
                let row = table::row(connection, key)?;
                ask.answer = Some(row.map(|row| parse(&row, path)).transpose());
            }
            Self::RollBack { key, rollback, now } => undo(connection, path, key, rollback, *now)?,
        }
        Ok(())
    }

    /// Hands the answer over, or the reason why there is none.
    pub(super) fn finish(self, failure: Option<StoreError>) {
        match self {
            Self::CompareAndSet { ask, .. } => ask.send(failure),
            Self::List { ask } => ask.send(failure),
            Self::Load { ask, .. } => ask.send(failure),
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
        // A blank key cannot be asked for; only a foreign hand can have written it.
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
