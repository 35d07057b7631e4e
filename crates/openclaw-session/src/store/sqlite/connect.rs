//! Opens the file: creates it, checks that it holds sessions, sets the pragmas and brings the schema up to date.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use openclaw_sqlite::rusqlite::{self, Connection};
use openclaw_sqlite::{
    BusyWait, ErrorKind, SchemaState, create_private_file, create_private_folder, open_read_write,
};

use super::schema;
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
    /// The file is another program's database.
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

/// How long a connection waits for another process.
pub(super) const LOCK_WAIT: BusyWait = BusyWait::Timeout(Duration::from_secs(10));

pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    let has_folder = path.parent().is_some_and(Path::is_dir);
    // Read before the file exists: a file that lacks a failed import would count as one that had it.
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
    let mut connection = open_read_write(path, LOCK_WAIT).map_err(fail)?;
    // A session survives the death of the process in any case; a power cut may cost the last moments, not the file.
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(fail)?;
    // Another journal is a change, too: nothing is written before the file is known to be one of this crate.
    let state = schema::state(&connection, path)?;
    // A file system that has no write-ahead log keeps the journal that it has, and the sessions work there as well.
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(fail)?;
    if state != SchemaState::Current {
        schema::migrate(&mut connection, path, imported)?;
    }
    Ok(connection)
}

pub(super) fn open_error(path: &Path, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match ErrorKind::of(&source) {
        ErrorKind::Busy => OpenError::Busy { path, source },
        kind if kind.is_damage() => OpenError::Damaged { path, source },
        _ => OpenError::Sqlite { path, source },
    }
}

/// Creates what is missing, readable for this user alone; SQLite gives its side files the mode of the main one.
fn create(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        create_private_folder(parent)?;
    }
    create_private_file(path)
}
