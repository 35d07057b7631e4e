//! The schema of the history file, its versions, and the mark that the file is ours.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::error::HistoryError;

/// One step per version, applied in order; a file remembers how many it has seen.
const STEPS: &[&str] = &["
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        run_id TEXT,
        agent TEXT,
        session_key TEXT,
        profile TEXT,
        once TEXT UNIQUE,
        record_json TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entries_of_run ON entries (run_id) WHERE run_id IS NOT NULL;
    CREATE INDEX entries_of_session ON entries (session_key) WHERE session_key IS NOT NULL;
    CREATE INDEX entries_of_windows ON entries (profile) WHERE kind = 'window';
"];

/// The owner that the file names in its header: `ocfh`.
const OWNER: i32 = 0x6f63_6668;

/// How much of the schema a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaState {
    /// Nothing at all; no other program uses it.
    Empty,
    /// An older version.
    Older(u32),
    /// All of it.
    Current,
}

/// Looks whose file it is; writes nothing.
///
/// Owner, version and tables have to be of one moment: between two looks another process may have made a new file ours.
///
/// # Errors
/// When the file is not ours, is newer, or cannot be read.
pub(crate) fn look(connection: &Connection, path: &Path) -> Result<SchemaState, HistoryError> {
    let fail = |source| HistoryError::of(path, source);
    let view = connection.unchecked_transaction().map_err(fail)?;
    seen(&view, path)
}

fn seen(view: &Transaction<'_>, path: &Path) -> Result<SchemaState, HistoryError> {
    let fail = |source| HistoryError::of(path, source);
    let number = |name| view.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let (owner, version) = (
        number("application_id").map_err(fail)?,
        number("user_version").map_err(fail)?,
    );
    let objects: u32 = view
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fail)?;
    if (owner, version, objects) == (0, 0, 0) {
        return Ok(SchemaState::Empty);
    }
    if owner != OWNER {
        return Err(HistoryError::Foreign {
            path: path.to_owned(),
        });
    }
    // Versions count from nought; a file with another number is newer than anything known here.
    let (found, known) = (u32::try_from(version).unwrap_or(u32::MAX), known());
    match found {
        found if found > known => Err(HistoryError::Newer {
            path: path.to_owned(),
            found,
            known,
        }),
        found if found == known => Ok(SchemaState::Current),
        found => Ok(SchemaState::Older(found)),
    }
}

fn known() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// Brings a file to the newest schema, in one transaction.
///
/// # Errors
/// As [`look`], and when it cannot be written.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let fail = |source| HistoryError::of(path, source);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fail)?;
    // Another process may have been faster.
    let done = match seen(&transaction, path)? {
        SchemaState::Current => return Ok(()),
        SchemaState::Empty => 0,
        SchemaState::Older(done) => done,
    };
    for step in STEPS.iter().skip(usize::try_from(done).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step).map_err(fail)?;
    }
    transaction
        .pragma_update(None, "application_id", OWNER)
        .map_err(fail)?;
    transaction
        .pragma_update(None, "user_version", known())
        .map_err(fail)?;
    transaction.commit().map_err(fail)
}
