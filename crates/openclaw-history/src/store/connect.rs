//! Creates the file with its modes, sets the pragmas and brings the schema up to date.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;
use std::time::Duration;

use openclaw_sqlite::{BusyWait, open_read_only};
use rusqlite::{Connection, OpenFlags};

use super::error::HistoryError;
use super::schema::{self, SchemaState};

/// How long a write waits for another process. No request waits for this thread, so it may be long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
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
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
    // Another journal is a change, too: nothing is written before the file is known to be ours.
    let seen = schema::look(&connection, path)?;
    if seen == SchemaState::Empty {
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
    if seen != SchemaState::Current {
        schema::migrate(&mut connection, path)?;
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
    match schema::look(&connection, path)? {
        SchemaState::Current => Ok(Some(connection)),
        // The first version has no older one, and an empty file has no entries.
        SchemaState::Empty | SchemaState::Older(_) => Ok(None),
    }
}

/// Creates what is missing, readable for this user alone; SQLite gives its side files the mode of the main one.
fn create(path: &Path) -> io::Result<()> {
    let mut directory = DirBuilder::new();
    directory.recursive(true);
    let mut file = OpenOptions::new();
    file.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent() {
        directory.create(parent)?;
    }
    file.open(path).map(drop)
}
