//! The table, its versions, and the import that belongs to the first of them (S7).

use std::io::ErrorKind;
use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::connect::{OpenError, open_error};
use super::table;
use crate::store::sessions_json::{ImportedSessions, parse_sessions_json};

/// One step per version, applied in order; a file remembers how many it has seen.
const STEPS: &[&str] = &["
    CREATE TABLE sessions (
        session_key TEXT PRIMARY KEY NOT NULL,
        revision INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        entry_json TEXT NOT NULL
    ) STRICT;
"];

/// The file of the other program, beside ours.
const IMPORT_FILE: &str = "sessions.json";

/// How many steps the file has seen; refuses one that is not for sessions, or for newer ones. Writes nothing.
///
/// Version and tables have to be of one moment: between two looks another process may have made a new file ours.
fn seen(view: &Transaction<'_>, path: &Path) -> Result<u32, OpenError> {
    let fail = |source| open_error(path, source);
    let known = known();
    match version(view).map_err(fail)? {
        0 if objects(view, "%").map_err(fail)? > 0 => Err(foreign(path)),
        0 => Ok(0),
        found if found > known => Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known,
        }),
        found => is_ours(view, path).map(|()| found),
    }
}

fn known() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// Whether the file lacks steps; refuses what [`migrate`] refuses, before anything is written.
pub(super) fn is_older(connection: &Connection, path: &Path) -> Result<bool, OpenError> {
    let view = connection
        .unchecked_transaction()
        .map_err(|source| open_error(path, source))?;
    Ok(seen(&view, path)? < known())
}

/// Brings the file to the newest schema; a new file takes over the sessions beside it in the same transaction, so that
/// an import either happened or will be tried again.
///
/// `imported` are those sessions, if they were read before there was a file.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    imported: Option<ImportedSessions>,
) -> Result<(), OpenError> {
    let fail = |source| open_error(path, source);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(fail)?;
    // Another process may have been faster.
    let found = seen(&transaction, path)?;
    if found == known() {
        return Ok(());
    }
    for step in STEPS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step).map_err(fail)?;
    }
    if found == 0 {
        let imported = match imported {
            Some(imported) => imported,
            None => read_import(path)?,
        };
        for (key, entry) in &imported.entries {
            table::insert(&transaction, key, entry).map_err(fail)?;
        }
        for key in &imported.rejected {
            tracing::warn!(session = %key, "not imported from sessions.json: it is not a session entry, or another one has its key");
        }
    }
    transaction
        .pragma_update(None, "user_version", known())
        .map_err(fail)?;
    transaction.commit().map_err(fail)
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    let number: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // Versions count from nought; a file with another number is newer than anything known here.
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

/// How many tables, indices and the like there are with names like this. Asks the file, not what the connection
/// remembers of it, for another process may have been busy since.
fn objects(connection: &Connection, like: &str) -> rusqlite::Result<u32> {
    let count = "SELECT count(*) FROM sqlite_schema WHERE name LIKE ?1";
    connection.query_row(count, [like], |row| row.get(0))
}

/// Other programs number their schemas, too.
fn is_ours(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    match objects(connection, "sessions").map_err(|source| open_error(path, source))? {
        0 => Err(foreign(path)),
        _ => Ok(()),
    }
}

fn foreign(path: &Path) -> OpenError {
    OpenError::Foreign {
        path: path.to_owned(),
    }
}

/// What lies beside the file and would be taken over.
pub(super) fn read_import(beside: &Path) -> Result<ImportedSessions, OpenError> {
    let path = beside.with_file_name(IMPORT_FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(ImportedSessions::default()),
        Err(source) => {
            return Err(OpenError::ImportRead { path, source });
        }
    };
    // The other program reads broken characters as replacements, too, and works with them.
    parse_sessions_json(&String::from_utf8_lossy(&bytes))
        .map_err(|source| OpenError::ImportParse { path, source })
}
