//! Where the pointers of secrets lead: the environment, configured files, and configured commands (auth-store.md 4.4).

mod command;
mod configured;
mod dangling_pointer;
mod file;
mod permissions;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_auth_store::{SecretError, SecretLookup, SecretRef, SecretSource, resolve_pointer};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

pub(super) use configured::lasting_pointer;
pub(crate) use configured::{UnusableSecret, secret_text, unusable};
pub(crate) use dangling_pointer::{DanglingPointer, pointer};

use openclaw_config::{CommandConfig, Environment, SecretProvider, SecretsConfig};

/// The alias of a pointer that names no place.
const UNNAMED: &str = "default";
/// How long what a command printed is used before it is asked again.
const FRESH: Duration = Duration::from_mins(5);

/// The configured places. Cheap to clone; clones remember together what commands printed.
#[derive(Clone)]
pub struct SecretSources(Arc<Sources>);

struct Sources {
    config: SecretsConfig,
    environment: Environment,
    runs_commands: bool,
    /// What commands printed, by alias and id.
    printed: Mutex<HashMap<(String, String), Printed>>,
    /// The runs of commands, by the same.
    runs: Mutex<HashMap<(String, String), Run>>,
}

struct Printed {
    text: SecretString,
    at: Instant,
}

/// Locked while a command runs; afterwards it says what was wrong.
type Run = Arc<Mutex<Option<Failed>>>;

/// A run of a command that brought no secret.
struct Failed {
    at: Instant,
    kind: io::ErrorKind,
    why: String,
}

impl SecretSources {
    /// The places that a configuration names.
    pub fn new(config: &SecretsConfig, environment: &Environment) -> Self {
        Self(Arc::new(Sources::new(config, environment)))
    }

    /// Lets `work` follow pointers. Reading files and running commands takes its time: where [`is_quick`] says no, call
    /// it where blocking is allowed.
    ///
    /// [`is_quick`]: Self::is_quick
    pub fn with<T>(&self, work: impl FnOnce(SecretLookup<'_>) -> T) -> T {
        let sources = &*self.0;
        work(SecretLookup {
            env: &|name| sources.environment.get(name).map(str::to_owned),
            file: &|alias| sources.file(alias),
            exec: &|alias, id| sources.printed(alias, id),
        })
    }

    /// What one pointer leads to.
    ///
    /// # Errors
    /// When it leads nowhere.
    pub(crate) fn follow(&self, pointer: &SecretRef) -> Result<String, SecretError> {
        let secret = self.with(|places| resolve_pointer(pointer, places))?;
        Ok(secret.expose_secret().to_owned())
    }

    /// These places, but for commands, which are left alone: for looking at a configuration.
    pub fn at_rest(config: &SecretsConfig, environment: &Environment) -> Self {
        Self(Arc::new(Sources {
            runs_commands: false,
            ..Sources::new(config, environment)
        }))
    }

    /// Whether commands are run.
    pub(crate) fn runs_commands(&self) -> bool {
        self.0.runs_commands
    }

    /// Whether following a pointer is done at once.
    pub(crate) fn is_quick(&self, pointer: &SecretRef) -> bool {
        match pointer.source {
            SecretSource::Env => true,
            SecretSource::Exec => self.0.remembered(&pointer.provider, &pointer.id).is_some(),
            SecretSource::File => false,
        }
    }

    /// Forgets what commands printed, because it was refused.
    pub(crate) fn forget(&self, pointer: &SecretRef) {
        let key = (pointer.provider.clone(), pointer.id.clone());
        whole(&self.0.printed).remove(&key);
    }

    /// Whether a place is configured for a pointer, without looking there.
    pub(crate) fn knows(&self, pointer: &SecretRef) -> bool {
        match (pointer.source, self.0.provider(pointer.source, &pointer.provider)) {
            (SecretSource::Env, _)
            | (SecretSource::Exec, Some(SecretProvider::Exec(_)))
            | (SecretSource::File, Some(SecretProvider::File(_))) => true,
            (SecretSource::Exec | SecretSource::File, _) => false,
        }
    }
}

/// What people call a place of this kind.
pub(crate) fn kind(source: SecretSource) -> &'static str {
    match source {
        SecretSource::Env => "variable",
        SecretSource::Exec => "command",
        SecretSource::File => "file",
    }
}

/// Aliases alone; what stands behind them may hold secrets.
impl fmt::Debug for SecretSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.config.providers.keys()).finish()
    }
}

impl Sources {
    fn new(config: &SecretsConfig, environment: &Environment) -> Self {
        Self {
            config: config.clone(),
            environment: environment.clone(),
            runs_commands: true,
            printed: Mutex::default(),
            runs: Mutex::default(),
        }
    }

    /// The place under an alias, or the default one of its kind.
    fn provider(&self, source: SecretSource, alias: &str) -> Option<&SecretProvider> {
        let providers = &self.config.providers;
        let default = match source {
            SecretSource::Env => None,
            SecretSource::Exec => self.config.defaults.exec.as_deref(),
            SecretSource::File => self.config.defaults.file.as_deref(),
        };
        match providers.get(alias) {
            None if alias == UNNAMED => providers.get(default?),
            found => found,
        }
    }

    fn file(&self, alias: &str) -> Option<(PathBuf, io::Result<String>)> {
        let Some(SecretProvider::File(config)) = self.provider(SecretSource::File, alias) else {
            return None;
        };
        let path = self.environment.path(&config.path);
        let text = file::read(&path, config);
        Some((path, text))
    }

    fn printed(&self, alias: &str, id: &str) -> Option<io::Result<String>> {
        let Some(SecretProvider::Exec(config)) = self.provider(SecretSource::Exec, alias) else {
            return None;
        };
        if let Some(text) = self.remembered(alias, id) {
            return Some(Ok(text));
        }
        if !self.runs_commands {
            return Some(Err(io::Error::other("commands are not run here")));
        }
        Some(self.run_once(config, alias, id, Instant::now()))
    }

    /// Runs a command for somebody who has waited since `asked`. Whoever asks for the same secret meanwhile waits for this
    /// run, and shares what comes of it.
    fn run_once(&self, config: &CommandConfig, alias: &str, id: &str, asked: Instant) -> io::Result<String> {
        let key = (alias.to_owned(), id.to_owned());
        let run = Arc::clone(whole(&self.runs).entry(key.clone()).or_default());
        let mut failed = whole(&run);
        if let Some(text) = self.remembered(alias, id) {
            return Ok(text);
        }
        if let Some(failed) = failed.as_ref().filter(|failed| failed.at > asked) {
            return Err(io::Error::new(failed.kind, failed.why.clone()));
        }
        let outcome = command::ask(config, alias, id, &self.environment);
        *failed = outcome.as_ref().err().map(|error| Failed {
            at: Instant::now(),
            kind: error.kind(),
            why: error.to_string(),
        });
        if let Ok(text) = &outcome {
            let printed = Printed {
                text: SecretString::from(text.as_str()),
                at: Instant::now(),
            };
            whole(&self.printed).insert(key, printed);
        }
        outcome
    }

    fn remembered(&self, alias: &str, id: &str) -> Option<String> {
        let printed = whole(&self.printed);
        let known = printed.get(&(alias.to_owned(), id.to_owned()))?;
        (known.at.elapsed() < FRESH).then(|| known.text.expose_secret().to_owned())
    }
}

/// What a lock guards. Its values are replaced as wholes, so a panic elsewhere leaves nothing half done.
fn whole<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
