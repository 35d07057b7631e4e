//! Maps SQLite's errors to those of the store.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::{OpenError, StoreError, UnreadableRow};

/// A failure of the engine, from which an `OpenError` or a `StoreError` is made.
#[derive(Debug)]
pub(super) enum Fault {
    /// SQLite refused.
    Engine(rusqlite::Error),
    /// The file was removed.
    Gone,
    /// The file belongs to another agent or program, or is newer.
    Refused(OpenError),
    /// A row holds something else than it should.
    Row(UnreadableRow),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        Self::Refused(error)
    }
}

impl From<UnreadableRow> for Fault {
    fn from(row: UnreadableRow) -> Self {
        Self::Row(row)
    }
}

impl Fault {
    /// Whether the disk is full or read-only, while the content of the file may be sound.
    pub(super) fn is_of_the_disk(&self) -> bool {
        let Self::Engine(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::CannotOpen | ErrorCode::DiskFull | ErrorCode::ReadOnly)
        )
    }

    pub(super) fn into_open_error(self, path: &Path) -> OpenError {
        let path = path.to_owned();
        let error = match self {
            Self::Row(row) => return row.into(),
            Self::Refused(error) => return error,
            Self::Gone => {
                return OpenError::Io {
                    path,
                    source: Arc::new(io::Error::from(io::ErrorKind::NotFound)),
                };
            }
            Self::Engine(error) => error,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Busy { path },
            Some(ErrorCode::DatabaseCorrupt) => OpenError::Corrupt {
                path,
                source: Arc::new(error),
            },
            Some(ErrorCode::DiskFull) => OpenError::Full { path },
            Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => OpenError::NotWritable { path },
            _ => OpenError::Storage {
                path,
                source: Arc::new(error),
            },
        }
    }

    pub(super) fn into_store_error(self, path: &Path) -> StoreError {
        let path = path.to_owned();
        match self {
            Self::Row(row) => row.into(),
            Self::Gone => StoreError::Gone { path },
            Self::Refused(error) => StoreError::Storage {
                path,
                source: Arc::new(error),
            },
            Self::Engine(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
                    path,
                    source: Arc::new(error),
                },
                Some(ErrorCode::DiskFull) => StoreError::Full { path },
                Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::NotWritable { path },
                _ => StoreError::Storage {
                    path,
                    source: Arc::new(error),
                },
            },
        }
    }
}
