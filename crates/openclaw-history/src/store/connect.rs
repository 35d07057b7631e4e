//! Creates the file with its modes, sets the pragmas and brings the schema up to date.

use std::io;
use std::path::Path;
use std::time::Duration;

use openclaw_sqlite::{
    BusyWait, SchemaError, SchemaState, create_private_file, create_private_folder, open_read_only,
    open_read_write,
};
use rusqlite::Connection;

use super::error::HistoryError;
use super::schema::SCHEMA;

/// How long a write waits for another process. No request waits for this thread, so it may be long.
const WRITE_WAIT: BusyWait = BusyWait::Timeout(Duration::from_secs(5));
/// How long a read waits for another process.
const READ_WAIT: BusyWait = BusyWait::Timeout(Duration::from_secs(10));
/// What stays of the write-ahead log after it was taken over, in bytes.
const WAL_LIMIT: u32 = 4 << 20;

/// Opens the file for writing, and creates it when it is missing.
pub(crate) fn open(path: &Path) -> Result<Connection, HistoryError> {
    create(path).map_err(|source| HistoryError::Create {
        path: path.to_owned(),
        source,
    })?;
    let fail = |source| HistoryError::of(path, source);
    let mut connection = open_read_write(path, WRITE_WAIT).map_err(fail)?;
    // Another journal is a change, too: nothing is written before the file is known to be ours.
    let state = state(&connection, path)?;
    if state == SchemaState::Empty {
        // Only a file without tables can be taught to give room back.
        connection
            .pragma_update(None, "auto_vacuum", "INCREMENTAL")
            .map_err(fail)?;
    }
    for (name, value) in [("journal_mode", "WAL"), ("synchronous", "NORMAL")] {
        connection.pragma_update(None, name, value).map_err(fail)?;
    }
    connection
        .pragma_update(None, "journal_size_limit", WAL_LIMIT)
        .map_err(fail)?;
    if state != SchemaState::Current {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

/// Opens the file for reading; `None` when there is none, or nothing in it yet.
pub(crate) fn open_to_read(path: &Path) -> Result<Option<Connection>, HistoryError> {
    // What keeps it from being looked for is told by opening it.
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let connection = open_read_only(path, READ_WAIT).map_err(|source| HistoryError::of(path, source))?;
    match state(&connection, path)? {
        SchemaState::Current => Ok(Some(connection)),
        // The first version has no older one, and an empty file has no entries.
        SchemaState::Empty | SchemaState::Older(_) => Ok(None),
    }
}

/// How much of the schema the file has; refuses a file of another program and one of a newer version.
fn state(connection: &Connection, path: &Path) -> Result<SchemaState, HistoryError> {
    SCHEMA
        .state(connection)
        .map_err(|error| HistoryError::of_schema(path, error))
}

/// Brings the file to the newest schema, in one transaction.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), HistoryError> {
    let migrated = SCHEMA.migrate::<SchemaError>(connection, |_, _| Ok(()));
    migrated.map_err(|error| HistoryError::of_schema(path, error))
}

/// Creates what is missing, readable for this user alone; SQLite gives its side files the mode of the main one.
fn create(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        create_private_folder(parent)?;
    }
    create_private_file(path)
}
