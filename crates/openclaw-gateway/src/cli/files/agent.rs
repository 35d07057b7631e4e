//! The files of one agent, read as they are.

use std::path::{Path, PathBuf};

use openclaw_auth_store::{AuthSnapshot, OpenError, SqliteAuthStore, inherit};
use openclaw_ids::{AgentId, SessionKey};
use openclaw_session::{SessionEntry, SessionStore, SqliteSessionStore, parse_sessions_json};

use super::{Files, runtime};
use crate::cli::CommandError;
use crate::report::AgentState;

/// The session file of an agent.
pub(in crate::cli) const SESSIONS_FILE: &str = "openclaw-sessions.sqlite";

/// One agent's credentials and sessions at one moment.
pub(in crate::cli) struct ReadAgent {
    pub(in crate::cli) id: AgentId,
    pub(in crate::cli) folder: PathBuf,
    /// Its credentials and, beneath them, the main agent's.
    pub(in crate::cli) seen: AuthSnapshot,
    pub(in crate::cli) own: AuthSnapshot,
    /// The main agent's credentials, unless this is the main agent.
    pub(in crate::cli) main: Option<AuthSnapshot>,
    pub(in crate::cli) sessions: Vec<(SessionKey, SessionEntry)>,
}

/// An agent's credentials cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the credentials of agent `{agent}`")]
struct CredentialsError {
    agent: AgentId,
    #[source]
    source: OpenError,
}

/// An agent's `sessions.json` cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the sessions in {}", path.display())]
struct SessionsJsonError {
    path: PathBuf,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl ReadAgent {
    /// Reads the files of an agent; what does not exist is empty.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub(in crate::cli) fn open(files: &Files, id: &AgentId) -> Result<Self, CommandError> {
        let folder = files.credentials_folder(id);
        let main_folder = files.main_folder();
        let own = credentials(files, id, &folder)?;
        let main = if folder == main_folder {
            None
        } else {
            Some(credentials(files, &AgentId::main(), &main_folder)?)
        };
        let seen = match &main {
            Some(main) => inherit(main, &own),
            None => own.clone(),
        };
        Ok(Self {
            id: id.clone(),
            folder,
            seen,
            own,
            main,
            sessions: sessions(&files.sessions_folder(id))?,
        })
    }

    /// The agent as reports take it.
    pub(in crate::cli) fn state(&self) -> AgentState<'_> {
        AgentState {
            agent: &self.id,
            folder: &self.folder,
            seen: &self.seen,
            own: &self.own,
            main: self.main.as_ref(),
            sessions: &self.sessions,
        }
    }
}

fn credentials(files: &Files, agent: &AgentId, folder: &Path) -> Result<AuthSnapshot, CredentialsError> {
    let read = SqliteAuthStore::peek(folder, files.ambient.clone());
    let mut snapshot = read.map_err(|source| CredentialsError {
        agent: agent.clone(),
        source,
    })?;
    snapshot.resolved = files.sources.with(|places| snapshot.pointer_fingerprints(places));
    Ok(snapshot.with_current_secrets())
}

fn sessions(folder: &Path) -> Result<Vec<(SessionKey, SessionEntry)>, CommandError> {
    let file = folder.join(SESSIONS_FILE);
    if file.exists() {
        let store = SqliteSessionStore::open(&file)?;
        let listed = runtime()?.block_on(store.list())?;
        let listed = listed.into_iter();
        return Ok(listed.map(|(key, found)| (key, found.entry)).collect());
    }
    // Nobody has opened them here yet; what the other program wrote will be taken over by then.
    let path = folder.join("sessions.json");
    let failed = |source: Box<dyn std::error::Error + Send + Sync>| SessionsJsonError {
        path: path.clone(),
        source,
    };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error.into()).into()),
    };
    let imported = parse_sessions_json(&String::from_utf8_lossy(&bytes));
    let mut entries = imported.map_err(|error| failed(error.into()))?.entries;
    entries.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.updated_at));
    Ok(entries)
}
