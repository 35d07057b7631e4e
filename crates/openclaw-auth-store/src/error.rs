//! Errors of opening and of writing a store; every message says what to do.

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_ids::{AgentId, ProfileId, ProviderId};

use crate::log_id;

/// The cause below an error of an engine.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a change did not happen.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another program held the write lock for too long.
    #[error("`{path}` has been locked by another program for 30 s; close that program or try again", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The store was closed, or its writer is gone.
    #[error("the auth store is closed; open it again")]
    Closed,
    /// The file is damaged.
    #[error("`{path}` is damaged; stop writing to it, keep a copy, and restore a backup", path = path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        #[source]
        source: Cause,
    },
    /// An engine of the caller's own failed; see [`StoreError::engine`].
    #[error("the engine of the auth store failed; see its cause, and try again")]
    Engine {
        /// What the engine said.
        #[source]
        source: Cause,
    },
    /// The disk is full.
    #[error("`{path}` has no room on its disk; free some space and try again", path = path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file was removed.
    #[error("`{path}` is gone; put it back, or store a credential anew, which makes it again", path = path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The credential is of a kind that is never stored.
    #[error("profile {id} needs no credential and is not stored; remove it from the call", id = log_id(Some(profile)))]
    NotStorable {
        /// The profile.
        profile: ProfileId,
    },
    /// The file may not be written.
    #[error("`{path}` is read-only; give this user the right to write it and its folder", path = path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
    },
    /// The engine failed otherwise.
    #[error("`{path}` could not be written; check its disk for space and its folder for permissions", path = path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        #[source]
        source: Cause,
    },
    /// The profile is in no store of this agent, so its state would be lost (BL-73).
    #[error("profile {id} does not exist in the store of this agent; add it, or check its id", id = log_id(Some(profile)))]
    UnknownProfile {
        /// The profile.
        profile: ProfileId,
    },
    /// A row is damaged; it is left as it is (D13).
    #[error(transparent)]
    Unreadable(#[from] UnreadableRow),
}

impl StoreError {
    /// The failure of an engine of the caller's own, which need not keep its data in a file. The error must not contain a
    /// secret.
    pub fn engine(source: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Engine {
            source: Arc::new(source),
        }
    }
}

/// A row that cannot be read and is therefore never overwritten (D13).
#[derive(Debug, Clone, thiserror::Error)]
#[error("row `{key}` of table `{table}` in `{path}` is damaged ({problem}); set it aside with an SQLite tool, or restore a backup", path = path.display())]
pub struct UnreadableRow {
    /// The file.
    pub path: PathBuf,
    /// The table.
    pub table: &'static str,
    /// The row's key.
    pub key: String,
    /// What is wrong with it, without its content.
    pub problem: String,
}

/// A store that could not be opened; nothing in its file was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another program held the file for too long.
    #[error("`{path}` has been locked by another program for 30 s; close that program or try again", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("`{path}` is damaged; keep a copy of it, and restore a backup or recover it with `sqlite3 … .recover`", path = path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        #[source]
        source: Cause,
    },
    /// The file belongs to another agent (D21).
    #[error("`{path}` belongs to agent `{found}`, not to `{wanted}`; use that agent's own folder", path = path.display())]
    ForeignAgent {
        /// The file.
        path: PathBuf,
        /// The owner as the file names it; empty when it names none.
        found: String,
        /// The agent that was to be opened.
        wanted: AgentId,
    },
    /// The file is another program's database.
    #[error("`{path}` is a database of another program; move it away or use another folder", path = path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// The file is no agent's store (D21).
    #[error("`{path}` is a database for `{role}`, not an agent's; use another folder", path = path.display())]
    ForeignRole {
        /// The file.
        path: PathBuf,
        /// The role that the file names.
        role: String,
    },
    /// The disk is full.
    #[error("`{path}` has no room on its disk; free some space and try again", path = path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// A folder or file could not be created or read.
    #[error("`{path}` cannot be used; check that it is a folder you may write to", path = path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Cause,
    },
    /// A newer version of OpenClaw or of this program made the file (D6).
    #[error("`{path}` has schema version {found}, and this program knows up to {supported}; use a newer program", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest known version.
        supported: i64,
    },
    /// The file is not a database.
    #[error("`{path}` is not an SQLite database; move it away or use another folder", path = path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The path is a file and no folder.
    #[error("`{path}` is a file; give the folder that holds it, or move it away", path = path.display())]
    NotAFolder {
        /// The path as given.
        path: PathBuf,
    },
    /// The file may not be written.
    #[error("`{path}` is read-only; give this user the right to write it and its folder", path = path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
    },
    /// The engine failed otherwise.
    #[error("`{path}` could not be opened; check its disk for space and its folder for permissions", path = path.display())]
    Storage {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        #[source]
        source: Cause,
    },
    /// A row is damaged.
    #[error(transparent)]
    Unreadable(#[from] UnreadableRow),
    /// The file is on a volume that keeps no locks (D3).
    #[error("`{path}` is on an SSHFS volume, where two programs cannot share a database; use a folder of this machine", path = path.display())]
    UnsafeVolume {
        /// The file.
        path: PathBuf,
    },
}

/// An id that does not belong into an order; shown to the operator that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// The profile is another provider's.
    #[error("profile `{profile}` is for provider `{found}`, not `{wanted}`; order it there")]
    OtherProvider {
        /// The profile.
        profile: ProfileId,
        /// Its provider.
        found: ProviderId,
        /// The provider of the order.
        wanted: ProviderId,
    },
    /// There is no such profile.
    #[error("there is no profile `{profile}`; add it or correct its id")]
    Unknown {
        /// The id as written.
        profile: ProfileId,
    },
}
