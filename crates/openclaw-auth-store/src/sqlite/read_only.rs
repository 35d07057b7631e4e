//! Reads a store without opening it for writing, for commands that only report.

use std::path::Path;
use std::sync::Arc;

use openclaw_ids::AgentId;
use openclaw_sqlite::{consistent_read, open_read_only};

use super::cache::UnstoredState;
use super::contents::Contents;
use super::fault::Fault;
use super::{SqliteAuthStore, connect, folder, schema};
use crate::{AmbientProfile, AuthSnapshot, OpenError};

impl SqliteAuthStore {
    /// The stored state of `agent` in its folder; `None` when there is no file. Nothing is changed, and ambient
    /// profiles are not in it.
    ///
    /// This blocks on file I/O.
    ///
    /// # Errors
    /// An [`OpenError`] that names the file and what to do, as opening it would give.
    pub fn read_owned_snapshot(agent_dir: &Path, agent: &AgentId) -> Result<Option<AuthSnapshot>, OpenError> {
        read(agent_dir, Some(agent), Vec::new())
    }

    /// The state of a store, whichever agent owns the file and however new it is (D23), with the given ambient
    /// profiles. Nothing is created (D1), and missing files and tables count as empty.
    ///
    /// # Errors
    /// An [`OpenError`] when the file cannot be read, or a row of it makes no sense.
    pub fn read_snapshot(agent_dir: &Path, ambient: Vec<AmbientProfile>) -> Result<AuthSnapshot, OpenError> {
        if let Some(snapshot) = read(agent_dir, None, ambient.clone())? {
            return Ok(snapshot);
        }
        let mut snapshot = AuthSnapshot::default();
        UnstoredState::of(ambient).add_to(&mut snapshot);
        Ok(snapshot)
    }
}

/// The content of a file that cannot be written because of its disk; else the error.
pub(super) fn despite(
    fault: Fault,
    agent_dir: &Path,
    agent: &AgentId,
    ambient: Vec<AmbientProfile>,
) -> Result<AuthSnapshot, OpenError> {
    let is_of_the_disk = fault.is_of_the_disk();
    let error = fault.into_open_error(&agent_dir.join(folder::FILE_NAME));
    if !is_of_the_disk {
        return Err(error);
    }
    match read(agent_dir, Some(agent), ambient) {
        Ok(Some(snapshot)) => {
            tracing::warn!(%error, "the auth store is only read until it can be written");
            Ok(snapshot)
        }
        Ok(None) | Err(_) => Err(error),
    }
}

fn read(
    agent_dir: &Path,
    agent: Option<&AgentId>,
    ambient: Vec<AmbientProfile>,
) -> Result<Option<AuthSnapshot>, OpenError> {
    let path = agent_dir.join(folder::FILE_NAME);
    if !path.exists() {
        return Ok(None);
    }
    folder::check_header(&path)?;
    let unstored = Arc::new(UnstoredState::of(ambient));
    let connection = open_read_only(&path, connect::LOCK_WAIT).map_err(Fault::from);
    let contents = connection.and_then(|connection| {
        if let Some(agent) = agent {
            schema::check(&connection, &path, agent)?;
        }
        schema::add_missing_as_temporary(&connection)?;
        consistent_read(&connection, |connection| {
            Contents::read(connection, &path, &unstored)
        })
    });
    contents
        .map(|contents| Some(contents.snapshot))
        .map_err(|fault| fault.into_open_error(&path))
}
