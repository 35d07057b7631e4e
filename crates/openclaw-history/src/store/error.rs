//! The errors of the history file.

use std::io;
use std::path::{Path, PathBuf};

use openclaw_sqlite::{ErrorKind, SchemaError};

/// The history cannot be used. The file was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Another process keeps the file to itself.
    #[error("another process has been writing to {path} for too long; wait for it or stop it, then try again", path = .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The file cannot be created.
    #[error("cannot create {path}; make its directory writable for this user or choose another state directory", path = .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is no database, or is broken.
    #[error("{path} is damaged and was left as it is; move it aside to start a new history", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// An entry is not what this version writes.
    #[error("entry {id} of {path} cannot be read; move the file aside to start a new history", path = .path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The entry's number.
        id: i64,
        /// Where the JSON breaks.
        source: serde_json::Error,
    },
    /// The file is the database of another program.
    #[error("{path} is a database of something else and was left as it is; move it away to keep a history here", path = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A newer version wrote the file.
    #[error("{path} has schema {found}, this version knows {known}; update, or move the file aside to start again", path = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: u32,
        /// The newest schema that is known here.
        known: u32,
    },
    /// SQLite failed for another reason.
    #[error("cannot use {path}; check that its directory is writable and the disk is not full", path = .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// The thread that writes could not be started.
    #[error("cannot start the thread of the history; raise the limit of threads")]
    Thread(#[source] io::Error),
}

impl HistoryError {
    /// Why the file at `path` cannot be used with the schema, in our words.
    pub(crate) fn of_schema(path: &Path, error: SchemaError) -> Self {
        match error {
            SchemaError::Newer { found, known } => Self::Newer {
                path: path.to_owned(),
                found,
                known,
            },
            SchemaError::Sqlite(source) => Self::of(path, source),
            // `Foreign`, and any reason that is added later.
            _ => Self::Foreign {
                path: path.to_owned(),
            },
        }
    }

    /// What SQLite says about `path`, in our words.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match ErrorKind::of(&source) {
            ErrorKind::Busy => Self::Busy { path, source },
            kind if kind.is_damage() => Self::Damaged { path, source },
            _ => Self::Sqlite { path, source },
        }
    }
}
