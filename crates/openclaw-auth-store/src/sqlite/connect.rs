//! How a connection is made: pragmas, waiting, transactions (auth-store.md 2.1, 2.5).

use std::path::Path;
use std::time::Duration;

use r2d2::Pool;
use r2d2_sqlite::SqliteConnectionManager;
use rusqlite::{Connection, OpenFlags};

use super::fault::is_busy;

/// How long one wait for a lock lasts. SQLite's own waits grow to a tenth of a second, and whoever waits that long
/// loses against a busy writer every time; short equal waits give everybody the same chance.
const WAIT: Duration = Duration::from_millis(1);
/// How many waits make the 30 s after which a lock is reported (D2, D33).
const WAITS: i32 = 30_000;
/// How often a commit is tried while others are in the way (D31).
const COMMITS: u32 = 8;
/// Connections that read: one watches the file, one serves whoever asks for a fresh look.
const READERS: u32 = 2;

/// Opens the file for writing; it must exist.
pub(super) fn writer(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags())?;
    connection.busy_handler(Some(wait))?;
    Ok(connection)
}

/// Sets what the first connection has to set for the file, and each writer for itself (D2).
pub(super) fn configure(connection: &Connection) -> rusqlite::Result<()> {
    use_wal(connection)?;
    connection.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    if cfg!(target_os = "macos") {
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    }
    Ok(())
}

/// Connections that cannot write.
pub(super) fn readers(path: &Path) -> Result<Pool<SqliteConnectionManager>, r2d2::Error> {
    let manager = SqliteConnectionManager::file(path)
        .with_flags(flags())
        .with_init(|connection| {
            connection.busy_handler(Some(wait))?;
            connection.pragma_update(None, "query_only", true)
        });
    Pool::builder().max_size(READERS).min_idle(Some(0)).build(manager)
}

/// Runs `body` in one immediate transaction, rolled back when it fails (D30, D31).
pub(super) fn immediately<T, E: From<rusqlite::Error>>(
    connection: &Connection,
    body: impl FnOnce(&Connection) -> Result<T, E>,
) -> Result<T, E> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
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

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    let mut result = connection.execute_batch("COMMIT");
    for _ in 1..COMMITS {
        match &result {
            Err(error) if is_busy(error) => result = connection.execute_batch("COMMIT"),
            Ok(()) | Err(_) => break,
        }
    }
    result
}

/// Switches to the write-ahead log unless the file has it; SQLite does not wait for others here, so we do.
fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    let mut waits = 0;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if is_busy(&error) && wait(waits) => waits += 1,
            result => return result,
        }
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn wait(waits: i32) -> bool {
    if waits >= WAITS {
        return false;
    }
    std::thread::park_timeout(WAIT);
    true
}
