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
    /// The permissions that it should have.
    required: u32,
    holds: &'static str,
}

impl ExposedFile {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is a folder, whose files may be closed by themselves.
    pub fn is_folder(&self) -> bool {
        self.required == PRIVATE_FOLDER
    }

    /// The fault and its remedy, without the path.
    pub fn finding(&self) -> String {
        let path = self.path.display().to_string().replace('\'', r"'\''");
        format!(
            "holds {} and has mode {:04o}, so others on this machine may read it; run `chmod {:o} '{path}'`",
            self.holds, self.mode, self.required
        )
    }
}

impl fmt::Display for ExposedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.finding())
    }
}

/// The permission bits that let other users read or change a file.
const OTHERS: u32 = 0o066;
/// The permission bits that let other users enter a folder.
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

/// Files of this installation that other users may read and should not, folders before their files. A configuration
/// counts when it holds a secret itself and not only where one is kept; behind a folder that others cannot enter,
/// nothing counts. `history_file` is the file of run records. Reads the configuration files once more.
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
    let mut audit = |path: PathBuf, required: u32, holds: &'static str| {
        let Some(mode) = mode(&path).filter(|mode| mode & OTHERS != 0) else {
            return;
        };
        if is_reachable(&path) && !found.iter().any(|known: &ExposedFile| known.path == path) {
            found.push(ExposedFile {
                path,
                mode,
                required,
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

/// Whether a configuration file holds a secret itself. A file that cannot be read is reported when it is loaded.
fn holds_secret(path: &Path) -> bool {
    let text = file::read(path).ok().flatten();
    let root = text.and_then(|text| file::parse_root(path, &text).ok());
    root.is_some_and(|root| literals::holds_one(&root))
}

/// Whether other users can enter every folder above `path`.
fn is_reachable(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.ancestors()
        .skip(1)
        .all(|folder| mode(folder).is_none_or(|mode| mode & THROUGH != 0))
}

/// The permission bits of a file; none when there is no such file.
#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777)
}

/// On other systems permissions are access lists, which this audit does not read.
#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests;
