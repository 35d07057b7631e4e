#![doc = include_str!("../README.md")]

mod batch_writer;
mod connection;
mod error;
mod fair_lock;
mod file;
mod filesystem;
mod schema;
mod transaction;

pub use batch_writer::{BatchOptions, BatchWorker, BatchWriter};
pub use connection::{
    BusyHandler, BusyWait, Checkpoint, FollowingReader, JournalMode, Pragmas, checkpoint, open_query_only,
    open_read_only, open_read_write, set_journal_mode, wait_in_steps,
};
pub use error::{ErrorKind, is_busy};
pub use fair_lock::{AcquiredLock, Contention, FairLock, FairLockGuard, LockAttempt};
pub use file::{
    FileId, FileWatch, HeaderError, check_header, create_private_file, create_private_folder, read_if_exists,
    restrict_database_files, restrict_file, restrict_folder, with_suffix, write_new_private,
};
pub use filesystem::FilesystemKind;
pub use rusqlite;
pub use schema::{Ownership, Schema, SchemaError, SchemaState, quick_check};
pub use transaction::{consistent_read, data_version, execute_cached, immediate};
