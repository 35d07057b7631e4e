//! Resolves pointers to secrets: environment variables, configured files and commands (auth-store.md 4.4).

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

/// The alias of a pointer that names no source.
const UNNAMED: &str = "default";
/// How long the output of a command is used before the command is run again.
const FRESH: Duration = Duration::from_mins(5);

/// The configured sources of secrets. Cheap to clone; clones share the cached outputs of commands.
#[derive(Clone)]
pub struct SecretSources(Arc<Sources>);

struct Sources {
    config: SecretsConfig,
    environment: Environment,
    runs_commands: bool,
    /// The outputs of commands, by alias and id.
    printed: Mutex<HashMap<(String, String), CachedOutput>>,
    /// The runs of commands, by alias and id.
    runs: Mutex<HashMap<(String, String), Run>>,
}

struct CachedOutput {
    text: SecretString,
    at: Instant,
}

/// Locked while a command runs; afterwards it holds the failure, if any.
type Run = Arc<Mutex<Option<FailedRun>>>;

/// A run of a command that printed no secret.
struct FailedRun {
    at: Instant,
    kind: io::ErrorKind,
    why: String,
}

impl SecretSources {
    /// The sources of a configuration.
    pub fn new(config: &SecretsConfig, environment: &Environment) -> Self {
        Self(Arc::new(Sources::new(config, environment)))
    }

    /// Lets `work` follow pointers. Reading files and running commands blocks: where `is_quick` is false, call it on a
    /// thread that may block.
    pub fn with<T>(&self, work: impl FnOnce(SecretLookup<'_>) -> T) -> T {
        let sources = &*self.0;
        work(SecretLookup {
            env: &|name| sources.environment.get(name).map(str::to_owned),
            file: &|alias| sources.file(alias),
            exec: &|alias, id| sources.printed(alias, id),
        })
    }

    /// The secret that one pointer names.
    ///
    /// # Errors
    /// When there is no such secret.
    pub(crate) fn follow(&self, pointer: &SecretRef) -> Result<String, SecretError> {
        let secret = self.with(|places| resolve_pointer(pointer, places))?;
        Ok(secret.expose_secret().to_owned())
    }

    /// The sources of a configuration of which commands are not run, to check a configuration.
    pub fn without_commands(config: &SecretsConfig, environment: &Environment) -> Self {
        Self(Arc::new(Sources {
            runs_commands: false,
            ..Sources::new(config, environment)
        }))
    }

    /// Whether commands are run.
    pub(crate) fn runs_commands(&self) -> bool {
        self.0.runs_commands
    }

    /// Whether a pointer can be followed without blocking.
    pub(crate) fn is_quick(&self, pointer: &SecretRef) -> bool {
        match pointer.source {
            SecretSource::Env => true,
            SecretSource::Exec => self.0.cached(&pointer.provider, &pointer.id).is_some(),
            SecretSource::File => false,
        }
    }

    /// Drops the cached output of a command, because a provider refused the secret.
    pub(crate) fn forget(&self, pointer: &SecretRef) {
        let key = (pointer.provider.clone(), pointer.id.clone());
        locked(&self.0.printed).remove(&key);
    }

    /// Whether the source of a pointer is configured, without reading it.
    pub(crate) fn is_configured(&self, pointer: &SecretRef) -> bool {
        match (pointer.source, self.0.provider(pointer.source, &pointer.provider)) {
            (SecretSource::Env, _)
            | (SecretSource::Exec, Some(SecretProvider::Exec(_)))
            | (SecretSource::File, Some(SecretProvider::File(_))) => true,
            (SecretSource::Exec | SecretSource::File, _) => false,
        }
    }
}

/// The name of this kind of source in messages.
pub(crate) fn kind(source: SecretSource) -> &'static str {
    match source {
        SecretSource::Env => "variable",
        SecretSource::Exec => "command",
        SecretSource::File => "file",
    }
}

/// Shows the aliases alone; their settings may hold secrets.
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

    /// The source with an alias, or the default one of its kind.
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
        if let Some(text) = self.cached(alias, id) {
            return Some(Ok(text));
        }
        if !self.runs_commands {
            return Some(Err(io::Error::other("commands are not run here")));
        }
        Some(self.run_once(config, alias, id, Instant::now()))
    }

    /// Runs a command for a caller that has waited since `asked`. Callers that need the same secret meanwhile wait for this
    /// run and share its result.
    fn run_once(&self, config: &CommandConfig, alias: &str, id: &str, asked: Instant) -> io::Result<String> {
        let key = (alias.to_owned(), id.to_owned());
        let run = Arc::clone(locked(&self.runs).entry(key.clone()).or_default());
        let mut failed = locked(&run);
        if let Some(text) = self.cached(alias, id) {
            return Ok(text);
        }
        if let Some(failed) = failed.as_ref().filter(|failed| failed.at > asked) {
            return Err(io::Error::new(failed.kind, failed.why.clone()));
        }
        let outcome = command::run_for_secret(config, alias, id, &self.environment);
        *failed = outcome.as_ref().err().map(|error| FailedRun {
            at: Instant::now(),
            kind: error.kind(),
            why: error.to_string(),
        });
        if let Ok(text) = &outcome {
            let printed = CachedOutput {
                text: SecretString::from(text.as_str()),
                at: Instant::now(),
            };
            locked(&self.printed).insert(key, printed);
        }
        outcome
    }

    fn cached(&self, alias: &str, id: &str) -> Option<String> {
        let printed = locked(&self.printed);
        let known = printed.get(&(alias.to_owned(), id.to_owned()))?;
        (known.at.elapsed() < FRESH).then(|| known.text.expose_secret().to_owned())
    }
}

/// The value of a lock, also after a panic: values are replaced as a whole, so none is half written.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
