//! Credentials that are in files of older versions alone: where, and what becomes of them.

use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_auth_store::{AuthSnapshot, Legacy, LegacyFile, LegacyFolder};
use openclaw_ids::{AgentId, ProfileId};
use serde::Serialize;

use super::files::{Files, ReadAgent};

/// A file, or the files of a folder, with credentials that no store has.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Older {
    /// The agent whose they are.
    agent: AgentId,
    paths: Vec<PathBuf>,
    profiles: Vec<ProfileId>,
    /// Whether a gateway uses them when it starts; the others are brought into the store by `doctor --fix`.
    used: bool,
}

impl fmt::Display for Older {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        let ids: Vec<&str> = self.profiles.iter().map(ProfileId::as_str).collect();
        let (paths, ids, agent) = (paths.join(", "), ids.join(", "), &self.agent);
        let what = format!(" ({ids})");
        let count = match self.profiles.len() {
            1 => "1 credential".to_owned(),
            count => format!("{count} credentials"),
        };
        if self.used {
            write!(
                f,
                "{paths} holds {count} of agent {agent}{what} from an older version, used by a gateway as it starts"
            )
        } else {
            write!(
                f,
                "{paths} holds {count} of agent {agent}{what} from an older version, not used as it is; bring it into the \
                 store: openclaw-gateway doctor --fix"
            )
        }
    }
}

/// What older versions left for an agent and, beneath it, for the main agent.
pub(super) fn of_agent(files: &Files, agent: &ReadAgent) -> Vec<Older> {
    let own = of_folder(&agent.id, &agent.folder, &agent.own);
    let main_folder = files.main_folder();
    let main = agent.main.as_ref();
    let inherited = main.and_then(|main| of_folder(&AgentId::main(), &main_folder, main));
    let logins = of_shared_logins(files, main.unwrap_or(&agent.own));
    own.into_iter().chain(inherited).chain(logins).collect()
}

/// What older versions left for any agent, each once.
pub(super) fn of_all(files: &Files) -> Vec<Older> {
    let mut found: Vec<Older> = Vec::new();
    for id in files.agents() {
        // What cannot be read is told by whoever opens it.
        let Ok(agent) = ReadAgent::open(files, &id) else {
            continue;
        };
        for older in of_agent(files, &agent) {
            if !found.iter().any(|known| known.paths == older.paths) {
                found.push(older);
            }
        }
    }
    found
}

fn of_folder(agent: &AgentId, folder: &Path, stored: &AuthSnapshot) -> Option<Older> {
    let legacy = LegacyFolder::new(folder).read().ok()?;
    let files = [LegacyFile::Profiles, LegacyFile::State, LegacyFile::Auth].iter();
    let paths = files
        .map(|file| folder.join(file.name()))
        .filter(|path| path.exists());
    of(agent, paths.collect(), &legacy, stored, false)
}

/// The logins of the first versions, which are used while the main agent has none of its own (auth-store.md 9.1).
fn of_shared_logins(files: &Files, main: &AuthSnapshot) -> Option<Older> {
    if !main.profiles.is_empty() {
        return None;
    }
    let path = files.environment.legacy_logins_path(&files.state_dir);
    let legacy = Legacy::oauth(&std::fs::read_to_string(&path).ok()?);
    of(&AgentId::main(), vec![path], &legacy, main, true)
}

fn of(
    agent: &AgentId,
    paths: Vec<PathBuf>,
    legacy: &Legacy,
    stored: &AuthSnapshot,
    used: bool,
) -> Option<Older> {
    let is_new = |id: &&ProfileId| !stored.profiles.contains_key(*id) && !stored.is_rejected(id);
    let profiles: Vec<ProfileId> = legacy.profiles().keys().filter(is_new).cloned().collect();
    (!profiles.is_empty()).then(|| Older {
        agent: agent.clone(),
        paths,
        profiles,
        used,
    })
}
