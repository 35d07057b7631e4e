//! A look at the file that leaves it as it is, for commands that only report.

use std::path::Path;
use std::sync::Arc;

use openclaw_ids::AgentId;
use openclaw_sqlite::{consistent_read, open_read_only};

use super::cache::Apart;
use super::contents::Contents;
use super::fault::Fault;
use super::{SqliteAuthStore, connect, folder, schema};
use crate::{AmbientProfile, AuthSnapshot, OpenError};

impl SqliteAuthStore {
    /// What the store of `agent` in its folder holds; `None` where there is no file. Nothing is changed, also not the
    /// tables that an older file lacks, and no profile apart from the stored ones is in it.
    ///
    /// This reads files; call it where blocking is allowed.
    ///
    /// # Errors
    /// An [`OpenError`] that names the file and what to do, as opening it would give.
    pub fn read_owned_snapshot(agent_dir: &Path, agent: &AgentId) -> Result<Option<AuthSnapshot>, OpenError> {
        read(agent_dir, Some(agent), Vec::new())
    }

    /// What the store of an agent says, whoever owns the file and however new it is (D23), with the profiles that are
    /// not stored beside it. Nothing is made where there is nothing (D1), and missing tables count as empty.
    ///
    /// # Errors
    /// An [`OpenError`] when the file cannot be read, or a row of it makes no sense.
    pub fn read_snapshot(agent_dir: &Path, ambient: Vec<AmbientProfile>) -> Result<AuthSnapshot, OpenError> {
        if let Some(snapshot) = read(agent_dir, None, ambient.clone())? {
            return Ok(snapshot);
        }
        let mut snapshot = AuthSnapshot::default();
        Apart::of(ambient).add_to(&mut snapshot);
        Ok(snapshot)
    }
}

/// What the file says although it cannot be written because of its disk; else why it cannot be used.
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
    let apart = Arc::new(Apart::of(ambient));
    let connection = open_read_only(&path, connect::LOCK_WAIT).map_err(Fault::from);
    let contents = connection.and_then(|connection| {
        if let Some(agent) = agent {
            schema::check(&connection, &path, agent)?;
        }
        schema::pretend(&connection)?;
        consistent_read(&connection, |connection| {
            Contents::read(connection, &path, &apart)
        })
    });
    contents
        .map(|contents| Some(contents.snapshot))
        .map_err(|fault| fault.into_open_error(&path))
}
