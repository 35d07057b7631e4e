//! Classifies SQLite errors by what helps against them.

use rusqlite::ErrorCode;

/// What kind of help an SQLite error calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Another connection holds a lock that is needed.
    Busy,
    /// The file cannot be opened.
    CannotOpen,
    /// The file is damaged.
    Corrupt,
    /// The disk is full.
    Full,
    /// The file is not an SQLite database.
    NotADatabase,
    /// The file must not be written: it or its disk is read-only, or the user lacks the permission.
    ReadOnly,
    /// Any other failure.
    Other,
}

impl ErrorKind {
    /// Classifies an error by its SQLite result code.
    pub fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::CannotOpen) => Self::CannotOpen,
            Some(ErrorCode::DatabaseCorrupt) => Self::Corrupt,
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            _ => Self::Other,
        }
    }

    /// Whether the file is damaged or is not a database.
    pub fn is_damage(self) -> bool {
        matches!(self, Self::Corrupt | Self::NotADatabase)
    }
}

/// Whether another connection was in the way.
pub fn is_busy(error: &rusqlite::Error) -> bool {
    ErrorKind::of(error) == ErrorKind::Busy
}
