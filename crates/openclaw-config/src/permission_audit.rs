//! Finds files with secrets that other users of this machine may read, and says which command closes them.

mod literals;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use openclaw_ids::AgentId;

use crate::config::Config;
use crate::environment::Environment;
use crate::file;
use crate::paths::{CREDENTIALS_FILE, SESSIONS_FILE, SESSIONS_JSON, credentials_folder, sessions_folder};

/// A file or folder that others may read or change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposedFile {
    path: PathBuf,
    /// Its permissions.
    mode: u32,
    /// Those it should have.
    wanted: u32,
    holds: &'static str,
}

impl ExposedFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a folder, whose files may be closed by themselves.
    pub fn is_folder(&self) -> bool {
        self.wanted == PRIVATE_FOLDER
    }

    /// What is wrong with it and what mends that, without its path.
    pub fn finding(&self) -> String {
        let path = self.path.display().to_string().replace('\'', r"'\''");
        format!(
            "holds {} and has mode {:04o}, so others on this machine may read it; run `chmod {:o} '{path}'`",
            self.holds, self.mode, self.wanted
        )
    }
}

impl fmt::Display for ExposedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.finding())
    }
}

/// What of these permissions lets others read or change.
const OTHERS: u32 = 0o066;
/// What of a folder's permissions lets others through.
const THROUGH: u32 = 0o011;
const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_FOLDER: u32 = 0o700;

/// Files of an agent's folder that hold credentials.
const CREDENTIALS: &[&str] = &[
    "auth-profiles.json",
    "auth.json",
    CREDENTIALS_FILE,
    "openclaw-agent.sqlite-wal",
];
/// Files of an agent's sessions.
const SESSIONS: &[&str] = &[SESSIONS_FILE, "openclaw-sessions.sqlite-wal", SESSIONS_JSON];

/// Everything of this installation that others may read and should not, folders before what is in them. A configuration
/// counts when it holds a secret itself and not only where one is kept; behind a folder that others cannot enter,
/// nothing counts. `history_file` is where decisions are kept. Reads the configuration files once more.
pub fn permission_audit(
    config: &Config,
    environment: &Environment,
    state_dir: &Path,
    history_file: &Path,
) -> Vec<ExposedFile> {
    let failover = environment.failover_config_path(&config.path);
    let agents: BTreeSet<AgentId> = config
        .chain
        .agent_ids()
        .into_iter()
        .chain([AgentId::main()])
        .collect();
    let mut found = Vec::new();
    let mut audit = |path: PathBuf, wanted: u32, holds: &'static str| {
        let Some(mode) = mode(&path).filter(|mode| mode & OTHERS != 0) else {
            return;
        };
        if is_reachable(&path) && !found.iter().any(|known: &ExposedFile| known.path == path) {
            found.push(ExposedFile {
                path,
                mode,
                wanted,
                holds,
            });
        }
    };
    audit(
        state_dir.to_owned(),
        PRIVATE_FOLDER,
        "credentials and conversations",
    );
    for path in [&config.path, &failover] {
        if holds_secret(path) {
            audit(path.clone(), PRIVATE_FILE, "secrets");
        }
    }
    let logins = environment.legacy_logins_path(state_dir);
    audit(logins, PRIVATE_FILE, "logins");
    for agent in &agents {
        let folder = credentials_folder(&config.chain, environment, state_dir, agent);
        for name in CREDENTIALS {
            audit(folder.join(name), PRIVATE_FILE, "credentials");
        }
        let folder = sessions_folder(state_dir, agent);
        for name in SESSIONS {
            audit(folder.join(name), PRIVATE_FILE, "names of conversations");
        }
    }
    audit(history_file.to_owned(), PRIVATE_FILE, "names of conversations");
    found
}

/// Whether a configuration file holds a secret itself. One that cannot be read is told elsewhere.
fn holds_secret(path: &Path) -> bool {
    let text = file::read(path).ok().flatten();
    let root = text.and_then(|text| file::parse_root(path, &text).ok());
    root.is_some_and(|root| literals::holds_one(&root))
}

/// Whether others can get as far as `path`: through every folder above it.
fn is_reachable(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.ancestors()
        .skip(1)
        .all(|folder| mode(folder).is_none_or(|mode| mode & THROUGH != 0))
}

/// The permissions of what is there.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777)
}

/// Elsewhere permissions are access lists, which are not read here.
#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests;
