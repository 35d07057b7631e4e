//! Creates the file with its modes, sets the pragmas and brings the schema up to date.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Trouble, schema};
use crate::store::StoreError;

/// Why a session file could not be opened. Nothing was changed in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process keeps the file to itself.
    #[error(
        "another process has been writing to {path} for too long; wait for it or stop it, then try again"
    )]
    Busy {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The directory or the file cannot be created.
    #[error(
        "cannot create {path}; make its directory writable for this user or choose another state directory"
    )]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no session database, or is broken.
    #[error(
        "{path} is damaged and was left as it is; restore a copy, or move it aside to start again with the sessions of \
         sessions.json"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A session in it makes no sense.
    #[error(transparent)]
    Entry(StoreError),
    /// The file is somebody else's database.
    #[error(
        "{path} is a database of something else and was left as it is; choose another file for the sessions"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The sessions of the other program are not JSON.
    #[error(
        "cannot import {path}: it is damaged and was left as it is; repair it, or move it aside to start without it"
    )]
    ImportParse {
        /// The file.
        path: PathBuf,
        /// Where the JSON breaks.
        source: serde_json::Error,
    },
    /// The sessions of the other program cannot be read.
    #[error(
        "cannot import {path}: it is not readable; fix its permissions, or move it aside to start without it"
    )]
    ImportRead {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A newer version wrote the file.
    #[error(
        "{path} has schema {found}, this version knows {known}; update, or move the file aside to start again"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: u32,
        /// The newest schema that is known here.
        known: u32,
    },
    /// SQLite failed for another reason.
    #[error("cannot open {path}; check that its directory is writable and the disk is not full")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The thread that owns the connection could not be started.
    #[error("cannot start the thread of the session store; raise the limit of threads")]
    Thread(#[source] io::Error),
}

/// How long a write waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let has_folder = path.parent().is_some_and(Path::is_dir);
    // Before there is a file: one without what could not be taken over would look as if it had been.
    let imported = if has_folder && !path.exists() {
        Some(schema::read_import(path)?)
    } else {
        None
    };
    create(path).map_err(|source| OpenError::Create {
        path: path.to_owned(),
        source,
    })?;
    let fail = |source| open_error(path, source);
    let mut connection = connect(path).map_err(fail)?;
    // Another journal is a change, too: nothing is written before the file is known to be ours.
    let is_older = schema::is_older(&connection, path)?;
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fail)?;
    if is_older {
        schema::migrate(&mut connection, path, imported)?;
    }
    Ok(connection)
}

pub(super) fn open_error(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match Trouble::of(&source) {
        Trouble::Busy => OpenError::Busy { path, source },
        Trouble::Damage => OpenError::Damaged { path, source },
        Trouble::Other => OpenError::Sqlite { path, source },
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

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // A session survives the death of the process in any case; a power cut may cost the last moments, not the file.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}

/// Opens a file to look at it alone. Where no log can be made beside it, as on a disk that may only be read, it is taken
/// as one that nobody writes. Waits a while for other processes.
///
/// # Errors
/// When there is no such file, or it cannot be opened; what is wrong inside of it is found by reading.
pub fn open_read_only(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
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
