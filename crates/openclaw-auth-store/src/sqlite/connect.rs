//! How a connection is made: pragmas, waiting, transactions (auth-store.md 2.1, 2.5).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fault::is_busy;
use super::volume::Volume;

/// Waits once more, or gives up; told how often it has waited.
pub(super) type Wait = fn(i32) -> bool;

/// How long one wait for a lock lasts. SQLite's own waits grow to a tenth of a second, and whoever waits that long
/// loses against a busy writer every time; short equal waits give everybody the same chance.
const WAIT: Duration = Duration::from_millis(1);
/// How many waits make the 30 s after which a lock is reported (D2, D33).
const WAITS: i32 = 30_000;
/// How often a commit is tried while others are in the way (D31).
const COMMITS: u32 = 8;

/// Opens the file for writing; it must exist.
pub(super) fn writer(path: &Path, wait: Wait) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags())?;
    connection.busy_handler(Some(wait))?;
    Ok(connection)
}

/// Opens a file to look at it alone. Where no log can be made beside it, as on a disk that may only be read, it is taken
/// as one that nobody writes.
pub(super) fn onlooker(path: &Path, wait: Wait) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait))?;
    let looked = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    match looked.err().and_then(|error| error.sqlite_error_code()) {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            Connection::open_with_flags(format!("{}?immutable=1", uri(path)), flags)
        }
        // What else is wrong is told by whoever reads.
        _ => Ok(connection),
    }
}

/// A path as SQLite reads it in a name with options.
fn uri(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    let written = |byte: u8| {
        if plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    let written: Vec<String> = text.bytes().map(written).collect();
    format!("file:{}", written.concat())
}

/// Sets what the first connection has to set for the file, and each writer for itself (D2).
pub(super) fn configure(connection: &Connection, volume: Volume, wait: Wait) -> rusqlite::Result<()> {
    use_journal(connection, volume.journal(), wait)?;
    connection.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if cfg!(target_os = "macos") {
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    }
    Ok(())
}

/// A connection that cannot write, to a file that others may write.
pub(super) fn reader(path: &Path, wait: Wait) -> rusqlite::Result<Connection> {
    let connection = writer(path, wait)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Runs `body` in one immediate transaction, rolled back when it fails (D30, D31).
pub(super) fn immediately<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    body: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    run(connection, "BEGIN IMMEDIATE")?;
    let result = body(connection).and_then(|value| {
        commit(connection)?;
        Ok(value)
    });
    if result.is_err() && !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Runs `body` on one consistent view of the file.
pub(super) fn consistently<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    body: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    connection.execute_batch("BEGIN")?;
    let result = body(connection);
    // Some failures have ended the transaction already, and theirs is the error to tell.
    if !connection.is_autocommit() {
        connection.execute_batch("ROLLBACK")?;
    }
    result
}

/// Runs a statement that is run again and again.
pub(super) fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Changes whenever another connection has committed.
pub(super) fn data_version(connection: &Connection) -> rusqlite::Result<i64> {
    let mut statement = connection.prepare_cached("PRAGMA data_version")?;
    statement.query_row([], |row| row.get(0))
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    let mut result = run(connection, "COMMIT");
    for _ in 1..COMMITS {
        match &result {
            Err(error) if is_busy(error) => result = run(connection, "COMMIT"),
            Ok(()) | Err(_) => break,
        }
    }
    result
}

/// Switches to a journal unless the file has it; SQLite does not wait for others here, so we do.
fn use_journal(connection: &Connection, journal: &str, wait: Wait) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode == journal {
        return Ok(());
    }
    let mut waits = 0;
    let found: String = loop {
        let switch = connection.pragma_update_and_check(None, "journal_mode", journal, |row| row.get(0));
        match switch {
            Err(error) if is_busy(&error) && wait(waits) => waits += 1,
            result => break result?,
        }
    };
    if found == journal {
        Ok(())
    } else {
        let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
        Err(rusqlite::Error::SqliteFailure(
            busy,
            Some(format!("the journal stays `{found}`")),
        ))
    }
}

/// Moves what the log holds into the file, without waiting for anybody (D4); whoever is in the way does it later.
pub(super) fn checkpoint(connection: &Connection, how: Checkpoint, wait: Wait) {
    let sql = match how {
        Checkpoint::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Checkpoint::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    let done = connection
        .busy_handler(None)
        .and_then(|()| connection.query_row(sql, [], |_| Ok(())))
        .and_then(|()| connection.busy_handler(Some(wait)));
    if let Err(error) = done {
        tracing::debug!(%error, "the log of the auth store was not moved into its file");
    }
}

/// How much a checkpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checkpoint {
    Passive,
    Truncate,
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Waits for somebody else's lock once more; false after 30 s.
pub(super) fn wait(waits: i32) -> bool {
    if waits >= WAITS {
        return false;
    }
    std::thread::park_timeout(WAIT);
    true
}
