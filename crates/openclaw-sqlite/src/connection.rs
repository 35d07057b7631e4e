//! How a connection is opened: flags, waiting for locks, pragmas, checkpoints.

mod busy;
mod following;
mod pragmas;

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags};

pub use busy::{BusyHandler, BusyWait, wait_in_steps};
pub use following::FollowingReader;
pub use pragmas::{Checkpoint, JournalMode, Pragmas, checkpoint, set_journal_mode};

/// Opens an existing file for reading and writing.
///
/// # Errors
/// When there is no such file, or it cannot be opened. Damage inside of it is found by reading.
pub fn open_read_write(path: &Path, wait: BusyWait) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    wait.apply(&connection)?;
    Ok(connection)
}

/// Opens an existing file that other connections write, over a connection that refuses to write (`query_only`).
///
/// # Errors
/// As [`open_read_write`].
pub fn open_query_only(path: &Path, wait: BusyWait) -> rusqlite::Result<Connection> {
    let connection = open_read_write(path, wait)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens an existing file without changing anything, be it the files beside it. Where no write-ahead log can be made
/// beside the file, as on a read-only disk, it is opened as one that no process writes (`immutable`).
///
/// # Errors
/// When there is no such file, or it cannot be opened. Damage inside of it is found by reading.
pub fn open_read_only(path: &Path, wait: BusyWait) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags)?;
    wait.apply(&connection)?;
    let probe = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    match probe.err().and_then(|error| error.sqlite_error_code()) {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            Connection::open_with_flags(format!("{}?immutable=1", file_uri(path)), flags)
        }
        // Any other failure is reported by the first read.
        _ => Ok(connection),
    }
}

/// The path as a `file:` URI, which SQLite takes options with.
fn file_uri(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    let encoded = |byte: u8| {
        if is_plain(byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    let encoded: Vec<String> = text.bytes().map(encoded).collect();
    format!("file:{}", encoded.concat())
}

#[cfg(test)]
mod tests;
