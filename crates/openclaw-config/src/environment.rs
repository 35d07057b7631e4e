//! The process environment, read once; no other module reads variables (auth-store.md L1-L5).

mod dotenv;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

/// Names the configuration file.
pub const CONFIG_VARIABLE: &str = "OPENCLAW_CONFIG_PATH";
/// Names `failover.json5`.
pub const FAILOVER_VARIABLE: &str = "OPENCLAW_FAILOVER_CONFIG";

/// The variables, home and working directory of one process.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The home directory the operating system knows, for when no variable names one.
    os_home: Option<PathBuf>,
    working_directory: PathBuf,
}

impl Environment {
    /// Reads the environment of this process, and `.env` in the state directory for what is unset. Variables that are
    /// not text are left out.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the environment")]
    pub fn of_this_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut environment = Self {
            variables,
            os_home: std::env::home_dir(),
            working_directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        };
        environment.add_state_file();
        environment
    }

    /// An environment of these variables alone, in the working directory `directory`.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>, directory: &Path) -> Self {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            variables: variables.into_iter().map(own).collect(),
            os_home: None,
            working_directory: directory.to_owned(),
        }
    }

    /// This environment, with `variables` for names that are unset in it.
    #[must_use]
    pub fn with_missing(&self, variables: &BTreeMap<String, SecretString>) -> Self {
        let mut environment = self.clone();
        for (name, value) in variables {
            environment.add_missing(name, value.expose_secret());
        }
        environment
    }

    /// Adds the variables of `.env` in the state directory that are unset. A file that cannot be read adds nothing: the
    /// error about a missing variable names it.
    fn add_state_file(&mut self) {
        let path = self.state_dir().join(".env");
        if let Ok(text) = std::fs::read_to_string(path) {
            for (name, value) in dotenv::variables(&text) {
                self.add_missing(name, &value);
            }
        }
    }

    fn add_missing(&mut self, name: &str, value: &str) {
        if self.get(name).is_some() {
            return;
        }
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// A variable, trimmed; what is blank or says `undefined` or `null` counts as unset (L1).
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.trim();
        (!matches!(value, "" | "undefined" | "null")).then_some(value)
    }

    /// The home directory (L1, L2).
    pub fn home(&self) -> PathBuf {
        match self.get("OPENCLAW_HOME") {
            Some(home) => self.absolute(expand(home, &self.os_home())),
            None => self.os_home(),
        }
    }

    fn os_home(&self) -> PathBuf {
        let named = self
            .get("HOME")
            .or_else(|| self.get("USERPROFILE"))
            .map(PathBuf::from);
        named
            .or_else(|| self.os_home.clone())
            .unwrap_or_else(|| self.working_directory.clone())
    }

    /// The state directory: `OPENCLAW_STATE_DIR`, else `.openclaw` in the home directory, else the older
    /// `.clawdbot` when only that exists (L3-L5).
    pub fn state_dir(&self) -> PathBuf {
        if let Some(directory) = self.get("OPENCLAW_STATE_DIR") {
            return self.path(directory);
        }
        let current = self.home().join(".openclaw");
        let older = self.home().join(".clawdbot");
        if !current.exists() && older.exists() {
            older
        } else {
            current
        }
    }

    /// The configuration file: `OPENCLAW_CONFIG_PATH`, else `openclaw.json` in `state_dir`.
    pub fn config_path(&self, state_dir: &Path) -> PathBuf {
        let named = self.get(CONFIG_VARIABLE).map(|path| self.path(path));
        named.unwrap_or_else(|| state_dir.join("openclaw.json"))
    }

    /// `failover.json5`: the file that `OPENCLAW_FAILOVER_CONFIG` names, else the one beside the configuration file
    ///
    pub fn failover_config_path(&self, config_path: &Path) -> PathBuf {
        let named = self.get(FAILOVER_VARIABLE).map(|path| self.path(path));
        named.unwrap_or_else(|| config_path.with_file_name("failover.json5"))
    }

    /// The file in which the first versions of OpenClaw kept all logins: in `OPENCLAW_OAUTH_DIR`, else in `credentials` of
    /// `state_dir` (L6).
    pub fn legacy_logins_path(&self, state_dir: &Path) -> PathBuf {
        let named = self
            .get("OPENCLAW_OAUTH_DIR")
            .map(|directory| self.path(directory));
        named
            .unwrap_or_else(|| state_dir.join("credentials"))
            .join("oauth.json")
    }

    /// How long a fallback that refused its login is passed over, as written in `OPENCLAW_FALLBACK_SKIP_TTL_MS`.
    pub fn fallback_skip_ttl(&self) -> Option<&str> {
        self.get("OPENCLAW_FALLBACK_SKIP_TTL_MS")
    }

    /// Whether nothing is written to the stores but what an operator asks for (L7).
    pub fn keeps_stores_as_they_are(&self) -> bool {
        self.get("OPENCLAW_AUTH_STORE_READONLY") == Some("1")
    }

    /// A path from a setting: `~` is the home directory, and a relative path starts at the working directory (L3).
    pub fn path(&self, text: &str) -> PathBuf {
        self.absolute(expand(text, &self.home()))
    }

    fn absolute(&self, path: PathBuf) -> PathBuf {
        if path.is_absolute() {
            path
        } else {
            self.working_directory.join(path)
        }
    }
}

/// Values may be keys, so only names are shown.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// `text` with a leading `~`, `~/` or `~\` replaced by `home`.
fn expand(text: &str, home: &Path) -> PathBuf {
    match text.trim().strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => PathBuf::from(text.trim()),
    }
}

#[cfg(test)]
mod tests;
