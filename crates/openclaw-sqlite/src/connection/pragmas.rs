//! Journal mode, pragmas of a writing connection, and checkpoints.

use rusqlite::Connection;

use super::BusyWait;
use crate::error::is_busy;

/// What SQLite keeps beside the file while it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JournalMode {
    /// A rollback journal that is deleted after each transaction; works on network volumes.
    Delete,
    /// A write-ahead log: readers and one writer do not block each other. Needs memory that all its users share.
    #[default]
    Wal,
}

impl JournalMode {
    /// The value of the pragma.
    fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Wal => "wal",
        }
    }
}

/// The pragmas of a writing connection. `synchronous` is always `NORMAL`: a commit survives the death of the process, a
/// power cut may cost the last moments, not the file.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Pragmas {
    /// The journal of the file.
    pub journal_mode: JournalMode,
    /// Whether checkpoints wait until the disk has everything, on systems where that needs asking (macOS).
    pub checkpoint_fullfsync: bool,
    /// Whether foreign keys are enforced.
    pub foreign_keys: bool,
    /// What stays of the write-ahead log after a checkpoint, in bytes; SQLite's default when not set.
    pub journal_size_limit: Option<u32>,
    /// After how many pages of log a commit moves them into the file; SQLite's default when not set.
    pub wal_autocheckpoint: Option<u32>,
}

impl Pragmas {
    /// Sets the pragmas. The first of them writes to the file, so the file has to be known as one's own before.
    ///
    /// # Errors
    /// What SQLite says; busy when another connection keeps the journal from being switched.
    pub fn apply(&self, connection: &Connection, wait: BusyWait) -> rusqlite::Result<()> {
        set_journal_mode(connection, self.journal_mode, wait)?;
        if let Some(pages) = self.wal_autocheckpoint {
            connection.pragma_update(None, "wal_autocheckpoint", pages)?;
        }
        if let Some(bytes) = self.journal_size_limit {
            connection.pragma_update(None, "journal_size_limit", bytes)?;
        }
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        if self.foreign_keys {
            connection.pragma_update(None, "foreign_keys", true)?;
        }
        if self.checkpoint_fullfsync && cfg!(target_os = "macos") {
            connection.pragma_update(None, "checkpoint_fullfsync", true)?;
        }
        Ok(())
    }

    /// Sets the journal mode.
    #[must_use]
    pub fn with_journal_mode(mut self, mode: JournalMode) -> Self {
        self.journal_mode = mode;
        self
    }

    /// Lets checkpoints wait until the disk has everything, on systems where that needs asking (macOS).
    #[must_use]
    pub fn with_checkpoint_fullfsync(mut self) -> Self {
        self.checkpoint_fullfsync = true;
        self
    }

    /// Enforces foreign keys.
    #[must_use]
    pub fn with_foreign_keys(mut self) -> Self {
        self.foreign_keys = true;
        self
    }

    /// Limits what stays of the write-ahead log after a checkpoint, in bytes.
    #[must_use]
    pub fn with_journal_size_limit(mut self, bytes: u32) -> Self {
        self.journal_size_limit = Some(bytes);
        self
    }

    /// Sets after how many pages of log a commit moves them into the file.
    #[must_use]
    pub fn with_wal_autocheckpoint(mut self, pages: u32) -> Self {
        self.wal_autocheckpoint = Some(pages);
        self
    }
}

/// Switches the file to a journal mode unless it has it. SQLite does not wait for other connections here, so this does.
///
/// # Errors
/// What SQLite says; busy when another connection keeps the mode from being switched.
pub fn set_journal_mode(connection: &Connection, mode: JournalMode, wait: BusyWait) -> rusqlite::Result<()> {
    let current: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if current == mode.as_str() {
        return Ok(());
    }
    let mut waits = 0;
    let reached: String = loop {
        let switched =
            connection.pragma_update_and_check(None, "journal_mode", mode.as_str(), |row| row.get(0));
        match switched {
            Err(error) if is_busy(&error) && wait.again(waits) => waits += 1,
            result => break result?,
        }
    };
    if reached == mode.as_str() {
        return Ok(());
    }
    let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
    Err(rusqlite::Error::SqliteFailure(
        busy,
        Some(format!("the journal stays `{reached}`")),
    ))
}

/// How much a checkpoint does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// Moves what no reader needs any more into the file.
    Passive,
    /// Moves everything and empties the log.
    Truncate,
}

/// Moves the content of the write-ahead log into the file without waiting for other connections, and lets the connection
/// wait as `wait` says afterwards.
///
/// # Errors
/// What SQLite says. The log stays valid; a later checkpoint moves it.
pub fn checkpoint(connection: &Connection, extent: Checkpoint, wait: BusyWait) -> rusqlite::Result<()> {
    let sql = match extent {
        Checkpoint::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Checkpoint::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    BusyWait::None.apply(connection)?;
    connection.query_row(sql, [], |_| Ok(()))?;
    wait.apply(connection)
}
