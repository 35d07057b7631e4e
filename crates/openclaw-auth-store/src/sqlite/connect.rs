//! How connections to an agent's file wait and are configured (auth-store.md 2.1, 2.5).

use openclaw_sqlite::{BusyWait, Checkpoint, FilesystemKind, Pragmas, wait_in_steps};
use rusqlite::Connection;

/// How another connection's lock is waited for: 30 s in steps of one millisecond, after which it is reported (D2, D33).
pub(super) const LOCK_WAIT: BusyWait = BusyWait::Handler(wait_in_steps::<30_000>);
/// After how many pages of log SQLite moves them into the file by itself.
const AUTOCHECKPOINT: u32 = 1_000;

/// Sets what the first connection has to set for the file, and each writer for itself (D2).
pub(super) fn configure(
    connection: &Connection,
    filesystem: FilesystemKind,
    wait: BusyWait,
) -> rusqlite::Result<()> {
    let pragmas = Pragmas::default()
        .with_journal_mode(filesystem.journal_mode())
        .with_wal_autocheckpoint(AUTOCHECKPOINT)
        .with_foreign_keys()
        .with_checkpoint_fullfsync();
    pragmas.apply(connection, wait)
}

/// Moves the log into the file without waiting for other connections (D4). One that is in the way leaves it to the next
/// checkpoint.
pub(super) fn checkpoint(connection: &Connection, extent: Checkpoint, wait: BusyWait) {
    if let Err(error) = openclaw_sqlite::checkpoint(connection, extent, wait) {
        tracing::debug!(%error, "the log of the auth store was not moved into its file");
    }
}
