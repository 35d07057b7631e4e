//! The same files, opened to be changed: through the stores that a running gateway uses, so that both see every change.

use std::path::Path;
use std::sync::Arc;

use openclaw_auth_store::{InheritingAuthStore, OpenError, SqliteAuthStore, UsageStore};
use openclaw_config::{CREDENTIALS_FILE, SESSIONS_FILE};
use openclaw_gateway::report::disk;
use openclaw_ids::AgentId;
use openclaw_session::SqliteSessionStore;

use super::Files;
use crate::outcome::CommandError;
use crate::terminal::screen;

/// An agent's credentials, waited for as long as it takes: what a command did must be in the file when it ends.
pub(crate) type WrittenAuthStore = InheritingAuthStore<SqliteAuthStore, SqliteAuthStore>;

/// An agent's credentials cannot be changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the credentials of agent `{agent}`")]
struct StoreError {
    agent: AgentId,
    #[source]
    source: OpenError,
}

/// Nothing can be changed.
#[derive(Debug, thiserror::Error)]
#[error("nothing was changed, because {0}")]
struct NotWritable(disk::DiskProblem);

/// Refuses a file that takes no changes: a store keeps them in memory then, for a gateway that goes on, and a command
/// would lose them as it ends.
fn writable(file: &Path) -> Result<(), NotWritable> {
    disk::problem_of(file).map_or(Ok(()), |trouble| Err(NotWritable(trouble)))
}

impl Files {
    /// The store of an agent and, beneath it, the main agent's; made where there is none.
    ///
    /// # Errors
    /// When one of the files cannot be used; it is as it was then.
    pub(crate) fn store(&self, agent: &AgentId) -> Result<WrittenAuthStore, CommandError> {
        let own = self.own_store(agent)?;
        if self.credentials_folder(agent) == self.main_folder() {
            return Ok(WrittenAuthStore::alone(own));
        }
        let main = self.open_store(&AgentId::main(), &self.main_folder())?;
        Ok(WrittenAuthStore::new(Arc::new(main), own))
    }

    /// The store of an agent alone.
    ///
    /// # Errors
    /// As [`store`](Self::store).
    pub(crate) fn own_store(&self, agent: &AgentId) -> Result<SqliteAuthStore, CommandError> {
        self.open_store(agent, &self.credentials_folder(agent))
    }

    fn open_store(&self, agent: &AgentId, folder: &Path) -> Result<SqliteAuthStore, CommandError> {
        writable(&folder.join(CREDENTIALS_FILE))?;
        let cooldowns = self.config.auth.cooldowns.clone();
        let opened = SqliteAuthStore::open(folder, agent, self.ambient.clone(), cooldowns, screen::now());
        let store = opened.map_err(|source| StoreError {
            agent: agent.clone(),
            source,
        })?;
        let snapshot = store.snapshot();
        let fingerprints = self.sources.with(|places| snapshot.pointer_fingerprints(places));
        store.set_resolved(fingerprints);
        Ok(store)
    }

    /// The sessions of an agent; made where there are none.
    ///
    /// # Errors
    /// When the file cannot be used; it is as it was then.
    pub(crate) fn session_store(&self, agent: &AgentId) -> Result<SqliteSessionStore, CommandError> {
        let file = self.sessions_folder(agent).join(SESSIONS_FILE);
        writable(&file)?;
        Ok(SqliteSessionStore::open(&file)?)
    }
}
