//! The files of one agent, read as they are.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use openclaw_auth_store::{AuthSnapshot, OpenError, SqliteAuthStore, inherit};
use openclaw_classify::error_chain;
use openclaw_config::{SESSIONS_FILE, SESSIONS_JSON};
use openclaw_gateway::report::AgentState;
use openclaw_ids::{AgentId, ProviderId, SessionKey};
use openclaw_session::{SessionEntry, SqliteSessionStore, parse_sessions_json};

use super::Files;
use crate::outcome::CommandError;

/// One agent's credentials and sessions at one moment.
pub(crate) struct ReadAgent {
    pub(crate) id: AgentId,
    pub(crate) folder: PathBuf,
    /// Its credentials and, beneath them, the main agent's.
    pub(crate) seen: AuthSnapshot,
    pub(crate) own: AuthSnapshot,
    /// The main agent's credentials, unless this is the main agent.
    pub(crate) main: Option<AuthSnapshot>,
    /// Its sessions, the last active first; none when they cannot be read.
    pub(crate) sessions: Vec<(SessionKey, SessionEntry)>,
    /// Why its sessions cannot be read.
    unread: Option<CommandError>,
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
pub(crate) enum SessionsJsonError {
    /// It makes no sense.
    #[error(
        "{} is no object of sessions; repair it, or let `openclaw-gateway doctor --fix` set it aside",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    /// The system does not let it be read.
    #[error("cannot read the sessions in {}; check its permissions", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl ReadAgent {
    /// Reads the files of an agent with its sessions; what does not exist is empty.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub(crate) fn open_with_sessions(files: &Files, id: &AgentId) -> Result<Self, CommandError> {
        let mut agent = Self::open(files, id)?;
        match agent.unread.take() {
            Some(error) => Err(error),
            None => Ok(agent),
        }
    }

    /// The same for commands that can do without the sessions.
    ///
    /// # Errors
    /// When the credentials are there and cannot be read.
    pub(crate) fn open(files: &Files, id: &AgentId) -> Result<Self, CommandError> {
        let agent = Self::open_without_sessions(files, id)?;
        let (sessions, unread) = match read_sessions(&files.sessions_folder(id)) {
            Ok(sessions) => (sessions, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Ok(Self {
            sessions,
            unread,
            ..agent
        })
    }

    /// The same for what is about credentials alone: there may be very many sessions.
    ///
    /// # Errors
    /// When the credentials are there and cannot be read.
    pub(crate) fn open_without_sessions(files: &Files, id: &AgentId) -> Result<Self, CommandError> {
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
            sessions: Vec::new(),
            unread: None,
        })
    }

    /// The agent as reports take it.
    pub(crate) fn state(&self) -> AgentState<'_> {
        AgentState {
            agent: &self.id,
            folder: &self.folder,
            seen: &self.seen,
            own: &self.own,
            main: self.main.as_ref(),
            sessions: &self.sessions,
        }
    }

    /// Why its sessions cannot be read, if they cannot.
    pub(crate) fn unread_sessions(&self) -> Option<String> {
        self.unread.as_ref().map(|error| error_chain::line(&**error))
    }
}

fn credentials(files: &Files, agent: &AgentId, folder: &Path) -> Result<AuthSnapshot, CredentialsError> {
    let read = SqliteAuthStore::read_snapshot(folder, files.ambient.clone());
    let mut snapshot = read.map_err(|source| CredentialsError {
        agent: agent.clone(),
        source,
    })?;
    snapshot.resolved = files.sources.with(|places| snapshot.pointer_fingerprints(places));
    Ok(snapshot.with_current_secrets())
}

/// The sessions in a folder, the last active first; none when there are none.
///
/// # Errors
/// When they are there and cannot be read.
pub(crate) fn read_sessions(folder: &Path) -> Result<Vec<(SessionKey, SessionEntry)>, CommandError> {
    if let Some(listed) = SqliteSessionStore::snapshot(&folder.join(SESSIONS_FILE))? {
        let entries = listed.into_iter().map(|(key, found)| (key, found.entry));
        return Ok(entries.collect());
    }
    // They were not opened here yet; what the other program wrote will be taken over by then.
    let mut entries = read_sessions_json(&folder.join(SESSIONS_JSON))?;
    entries.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.updated_at));
    Ok(entries)
}

/// What a `sessions.json` holds; nothing when there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub(crate) fn read_sessions_json(path: &Path) -> Result<Vec<(SessionKey, SessionEntry)>, SessionsJsonError> {
    let path = path.to_owned();
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => {
            return Ok(Vec::new());
        }
        Err(source) => return Err(SessionsJsonError::Unreadable { path, source }),
    };
    match parse_sessions_json(&String::from_utf8_lossy(&bytes)) {
        Ok(imported) => Ok(imported.entries),
        Err(source) => Err(SessionsJsonError::Damaged { path, source }),
    }
}

/// The providers that an agent, or the main agent beneath it, has a stored credential for.
///
/// # Errors
/// When its credentials cannot be read.
pub(crate) fn stored_providers(files: &Files, id: &AgentId) -> Result<BTreeSet<ProviderId>, CommandError> {
    let folder = files.credentials_folder(id);
    let mut stored = credentials(files, id, &folder)?.profiles;
    if folder != files.main_folder() {
        stored.extend(credentials(files, &AgentId::main(), &files.main_folder())?.profiles);
    }
    let stored = stored.values();
    Ok(stored.map(|credential| credential.provider().clone()).collect())
}
