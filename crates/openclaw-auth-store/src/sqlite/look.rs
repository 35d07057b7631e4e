//! A look at the file that leaves it as it is, for commands that only report.

use std::path::Path;

use jiff::Timestamp;
use openclaw_ids::AgentId;
use rusqlite::Connection;

use super::cache::Apart;
use super::contents::Contents;
use super::fault::Fault;
use super::{SqliteAuthStore, connect, folder, schema};
use crate::{AuthSnapshot, OpenError};

impl SqliteAuthStore {
    /// What the store of `agent` in its folder holds; `None` where there is no file. Nothing is changed, also not the
    /// tables that an older file lacks, and no profile apart from the stored ones is in it.
    ///
    /// This reads files; call it where blocking is allowed.
    ///
    /// # Errors
    /// An [`OpenError`] that names the file and what to do.
    pub fn look(
        agent_dir: &Path,
        agent: &AgentId,
        now: Timestamp,
    ) -> Result<Option<AuthSnapshot>, OpenError> {
        let path = agent_dir.join(folder::FILE_NAME);
        if !path.exists() {
            return Ok(None);
        }
        folder::check_header(&path)?;
        let looked = read(&path, agent, now).map_err(|fault| fault.into_open_error(&path))?;
        Ok(Some(looked))
    }
}

fn read(path: &Path, agent: &AgentId, now: Timestamp) -> Result<AuthSnapshot, Fault> {
    let connection: Connection = connect::writer(path, connect::wait)?;
    // Whatever is done in there is rolled back.
    let contents = connect::consistently(&connection, |connection| {
        schema::check(connection, path, agent)?;
        if !schema::is_complete(connection)? {
            schema::complete(connection, agent, now)?;
        }
        Contents::read(connection, path, &Apart::of(Vec::new()))
    })?;
    Ok(contents.snapshot)
}
