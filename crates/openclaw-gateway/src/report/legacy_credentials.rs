//! Credentials that are only in files of older versions: where they are, and whether they are used.

use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_auth_store::{AuthSnapshot, LegacyFile, LegacyFolder, LegacyProfiles};
use openclaw_config::{Environment, inherited_credentials_folder};
use openclaw_ids::{AgentId, ProfileId};
use serde::Serialize;

use crate::report::AgentState;

/// A file, or the files of a folder, with credentials that no store has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LegacyCredentials {
    /// The agent whose they are.
    pub agent: AgentId,
    /// Where they are.
    pub paths: Vec<PathBuf>,
    profiles: Vec<ProfileId>,
    /// Whether a gateway uses them when it starts; the others are brought into the store by `doctor --fix`.
    pub used: bool,
    /// Whether its content cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreadable: bool,
}

impl LegacyCredentials {
    /// What there is, without what to do about it.
    pub fn what(&self) -> String {
        if self.unreadable {
            let agent = &self.agent;
            return format!(
                "no JSON object, so nothing of agent {agent} that an older version kept in it is used"
            );
        }
        let ids: Vec<&str> = self.profiles.iter().map(ProfileId::as_str).collect();
        let (agent, ids) = (&self.agent, a_few(&ids));
        let (count, unused) = match self.profiles.len() {
            1 => ("1 credential".to_owned(), "not used as it is"),
            count => (format!("{count} credentials"), "not used as they are"),
        };
        let used = if self.used {
            "used by a gateway as it starts"
        } else {
            unused
        };
        format!("{count} of agent {agent} ({ids}) from an older version, {used}")
    }

    /// The files, for people.
    pub fn place(&self) -> String {
        let paths: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        paths.join(", ")
    }
}

/// The first of some names, and how many more there are.
pub fn a_few<N: AsRef<str>>(names: &[N]) -> String {
    const FEW: usize = 8;
    let listed: Vec<&str> = names.iter().take(FEW).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(FEW) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

impl fmt::Display for LegacyCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unreadable {
            let place = self.place();
            return write!(
                f,
                "{place} is {}; repair it, then openclaw-gateway doctor --fix, or remove it",
                self.what()
            );
        }
        write!(f, "{} holds {}", self.place(), self.what())?;
        if self.used {
            Ok(())
        } else {
            let what = if self.profiles.len() == 1 { "it" } else { "them" };
            write!(f, "; bring {what} into the store: openclaw-gateway doctor --fix")
        }
    }
}

/// Where older versions kept what all agents inherit.
#[derive(Debug, Clone)]
pub struct LegacyLocations {
    folder: PathBuf,
    logins: PathBuf,
}

impl LegacyLocations {
    /// In `state_dir`, or where the environment says.
    pub fn of(environment: &Environment, state_dir: &Path) -> Self {
        Self {
            folder: inherited_credentials_folder(state_dir),
            logins: environment.legacy_logins_path(state_dir),
        }
    }
}

/// What older versions left for an agent and, beneath it, for the main agent.
pub fn of_agent(state: &AgentState<'_>, inherited: &LegacyLocations) -> Vec<LegacyCredentials> {
    let own = of_folder(state.agent, state.folder, state.own);
    let main = state
        .main
        .map(|main| of_folder(&AgentId::main(), &inherited.folder, main));
    let main = main.into_iter().flatten();
    let logins = of_logins(&inherited.logins, state.main.unwrap_or(state.own));
    own.into_iter().chain(main).chain(logins).collect()
}

/// What older versions left in the folder of an agent whose store holds `stored`.
fn of_folder(agent: &AgentId, folder: &Path, stored: &AuthSnapshot) -> Vec<LegacyCredentials> {
    // A folder that cannot be read is reported where its store is opened.
    let legacy = LegacyFolder::new(folder).read().unwrap_or_default();
    let files = [LegacyFile::Profiles, LegacyFile::State, LegacyFile::Auth].iter();
    let paths = files
        .map(|file| folder.join(file.name()))
        .filter(|path| path.exists());
    let unreadable = legacy.unreadable().iter().map(|file| LegacyCredentials {
        agent: agent.clone(),
        paths: vec![folder.join(file.name())],
        profiles: Vec::new(),
        used: false,
        unreadable: true,
    });
    let readable = paths.filter(|path| {
        let mut broken = legacy.unreadable().iter();
        !broken.any(|file| path.ends_with(file.name()))
    });
    let told = of(agent, readable.collect(), &legacy, stored, false);
    told.into_iter().chain(unreadable).collect()
}

/// The logins of the first versions, which are used while the main agent has none of its own (auth-store.md 9.1).
fn of_logins(path: &Path, main: &AuthSnapshot) -> Option<LegacyCredentials> {
    if !main.profiles.is_empty() {
        return None;
    }
    let legacy = LegacyProfiles::oauth(&std::fs::read_to_string(path).ok()?);
    of(&AgentId::main(), vec![path.to_owned()], &legacy, main, true)
}

fn of(
    agent: &AgentId,
    paths: Vec<PathBuf>,
    legacy: &LegacyProfiles,
    stored: &AuthSnapshot,
    used: bool,
) -> Option<LegacyCredentials> {
    let is_new = |id: &&ProfileId| !stored.profiles.contains_key(*id) && !stored.is_rejected(id);
    let profiles: Vec<ProfileId> = legacy.profiles().keys().filter(is_new).cloned().collect();
    (!profiles.is_empty()).then(|| LegacyCredentials {
        agent: agent.clone(),
        paths,
        profiles,
        used,
        unreadable: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_names_are_counted() {
        let names: Vec<String> = (0..10_000).map(|number| format!("k{number}")).collect();
        assert_eq!(a_few(&names[..2]), "k0, k1");
        assert_eq!(a_few(&names[..8]), "k0, k1, k2, k3, k4, k5, k6, k7");
        assert_eq!(a_few(&names), "k0, k1, k2, k3, k4, k5, k6, k7 and 9992 more");
    }
}
