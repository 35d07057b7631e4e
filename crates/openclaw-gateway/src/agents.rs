//! The stores and runner of each agent, opened by the first request to the agent.

mod circuit_breaker;
mod circuit_breaker_store;
mod debounce;
mod legacy_logins;
mod run_settings;
mod sessions;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_auth_store::{AmbientProfile, InheritingAuthStore, SqliteAuthStore, UsageStore};
use openclaw_classify::error_chain;
use openclaw_ids::AgentId;
use openclaw_runner::{Clock, RunPolicy, Runner, SystemClock};
use openclaw_session::OpenError;
use tokio::sync::{Mutex, OnceCell, RwLock};

use crate::providers::SecretSources;
use crate::telemetry::Telemetry;
use circuit_breaker_store::CircuitBreakerStore;
use debounce::Debounce;

pub(crate) use legacy_logins::{LegacyLogins, has_unstored_legacy};
pub use run_settings::run_settings;
pub(crate) use sessions::Sessions;

/// An agent's credentials: its own, and the main agent's beneath them (D14).
pub(crate) type AgentAuthStore = InheritingAuthStore<CircuitBreakerStore, CircuitBreakerStore>;

/// The runner of this process's agents.
pub(crate) type AgentRunner = Runner<SystemClock, AgentAuthStore, Sessions>;

/// One agent's stores and runner.
pub(crate) struct Agent {
    /// Runs its requests, each under the policy with which it began.
    runner: AgentRunner,
    /// Its credentials and their state.
    pub(crate) usage: Arc<AgentAuthStore>,
    /// Its sessions.
    pub(crate) sessions: Arc<Sessions>,
    /// Limits how often the pointers of its profiles are followed again.
    debounce: Debounce,
}

impl Agent {
    /// A runner under `policy` that shares the stores and the observations of earlier requests.
    pub(crate) fn runner(&self, policy: &Arc<RunPolicy>) -> AgentRunner {
        self.runner.clone().with_policy(Arc::clone(policy))
    }

    /// Follows the pointers of its profiles again, in the background: a file may hold another key by now, and a profile
    /// that is in cooldown is not resolved by requests.
    fn refresh_pointers(&self, sources: &SecretSources) {
        for store in [Some(self.usage.agent()), self.usage.main()]
            .into_iter()
            .flatten()
        {
            let (sources, store) = (sources.clone(), Arc::clone(store));
            tokio::task::spawn_blocking(move || follow_pointers(&sources, &store));
        }
    }
}

/// The part of the configuration that concerns agents; a reload replaces it.
pub(crate) struct AgentSettings {
    /// Configured directories of agents that have one of their own (L11).
    pub(crate) agent_dirs: HashMap<AgentId, PathBuf>,
    /// Credentials of this process.
    pub(crate) ambient: Vec<AmbientProfile>,
    /// Settings of runs.
    pub(crate) policy: Arc<RunPolicy>,
    /// Resolves pointers to secrets.
    pub(crate) sources: SecretSources,
}

/// What every agent shares for as long as the process runs.
pub(crate) struct AgentContext {
    /// The state directory.
    pub(crate) state_dir: PathBuf,
    /// The logins of the first versions of OpenClaw.
    pub(crate) legacy: LegacyLogins,
    /// Observes runs.
    pub(crate) telemetry: Arc<Telemetry>,
}

/// The state of an agent cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Its credentials.
    #[error("cannot use the credentials of agent `{agent}`")]
    Auth {
        /// The agent.
        agent: AgentId,
        /// Why.
        #[source]
        source: openclaw_auth_store::OpenError,
    },
    /// A directory cannot be made.
    #[error("cannot create {}; check that its parent is writable, or choose another with --state-dir", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Its sessions.
    #[error("cannot use the sessions of agent `{agent}`")]
    Sessions {
        /// The agent.
        agent: AgentId,
        /// Why.
        #[source]
        source: openclaw_session::OpenError,
    },
    /// Opening was interrupted, because the process is ending.
    #[error("agent `{agent}` was not opened because the process is ending")]
    Stopped {
        /// The agent.
        agent: AgentId,
    },
}

/// All agents, each opened once.
pub(crate) struct Agents {
    shared: Arc<AgentContext>,
    /// Locked for reading while an agent is opened, so that no agent is opened under settings that were replaced.
    settings: RwLock<Arc<AgentSettings>>,
    /// The store that other agents inherit from; opened with the first agent.
    main: OnceCell<Arc<CircuitBreakerStore>>,
    opened: Mutex<HashMap<AgentId, Arc<OnceCell<Arc<Agent>>>>>,
}

impl Agents {
    /// A set of agents of which none is open.
    pub(crate) fn new(shared: AgentContext, settings: AgentSettings) -> Self {
        Self {
            shared: Arc::new(shared),
            settings: RwLock::new(Arc::new(settings)),
            main: OnceCell::new(),
            opened: Mutex::new(HashMap::new()),
        }
    }

    /// The agent with all of its state, so that damage is found at once. A full or read-only disk is a warning and no
    /// error: the state on it can be used. `directory` is the configured directory of the agent, perhaps by settings that
    /// are not applied yet; then the agent is opened there for this check alone, and again by the next request.
    pub(crate) async fn prepare(
        &self,
        agent: &AgentId,
        directory: Option<PathBuf>,
    ) -> Result<Arc<Agent>, AgentError> {
        create(&self.shared.sessions_dir(agent))?;
        let settings = Arc::clone(&*self.settings.read().await);
        let opened = if settings.agent_dirs.get(agent) == directory.as_ref() {
            self.get(agent).await?
        } else {
            self.open_at(&settings, agent, directory).await?
        };
        match opened.sessions.open().await {
            Ok(_) => {}
            // A disk without room, or that may only be read: answers need no session.
            Err(error @ (OpenError::Create { .. } | OpenError::Sqlite { .. })) => tracing::warn!(
                error = error_chain::line(&error),
                "answering without sessions until their file can be used"
            ),
            Err(source) => {
                return Err(AgentError::Sessions {
                    agent: agent.clone(),
                    source,
                });
            }
        }
        Ok(opened)
    }

    /// The agent, opened when this is the first time. Its sessions are opened by the first request that has one, and a
    /// request can do without them. A failure is not remembered, so that a repaired file is used by the next request.
    pub(crate) async fn get(&self, agent: &AgentId) -> Result<Arc<Agent>, AgentError> {
        if let Some(opened) = self.already_open(agent).await {
            // A reload that holds the lock follows the pointers as well.
            if opened.debounce.is_due()
                && let Ok(settings) = self.settings.try_read()
            {
                opened.refresh_pointers(&settings.sources);
            }
            return Ok(opened);
        }
        // Boxed, because this path is taken once for each agent.
        Box::pin(self.open(agent)).await
    }

    async fn open(&self, agent: &AgentId) -> Result<Arc<Agent>, AgentError> {
        let settings = self.settings.read().await;
        // Fetched under the lock: a reload may have removed the cell of a moved agent.
        let cell = self.cell(agent).await;
        let directory = settings.agent_dirs.get(agent).cloned();
        let opened = cell.get_or_try_init(|| self.open_at(&settings, agent, directory));
        opened.await.map(Arc::clone)
    }

    async fn open_at(
        &self,
        settings: &Arc<AgentSettings>,
        agent: &AgentId,
        directory: Option<PathBuf>,
    ) -> Result<Arc<Agent>, AgentError> {
        let main = self.main.get_or_try_init(|| async {
            let main = AgentId::main();
            let (shared, settings) = (Arc::clone(&self.shared), Arc::clone(settings));
            let opened = blocking(main.clone(), move || {
                open_auth(&settings, &main, &shared.main_dir())
            });
            let opened = opened.await?;
            self.shared.legacy.bring_into(&opened).await;
            Ok::<_, AgentError>(opened)
        });
        let main = Arc::clone(main.await?);
        let (shared, settings) = (Arc::clone(&self.shared), Arc::clone(settings));
        let opening = agent.clone();
        blocking(agent.clone(), move || {
            open(&shared, &settings, &opening, directory, main)
        })
        .await
    }

    async fn already_open(&self, agent: &AgentId) -> Option<Arc<Agent>> {
        self.opened.lock().await.get(agent)?.get().cloned()
    }

    async fn cell(&self, agent: &AgentId) -> Arc<OnceCell<Arc<Agent>>> {
        Arc::clone(self.opened.lock().await.entry(agent.clone()).or_default())
    }

    /// Uses other settings from now on, also for open agents: their state stays, and a credential with another secret
    /// starts clean (D9). An agent that moved to another directory is opened there by its next request; requests in
    /// flight finish where they began.
    pub(crate) async fn apply(&self, settings: AgentSettings) {
        let sources = settings.sources.clone();
        // Commands may take seconds, and requests must not wait for them.
        for store in self.replace(settings).await {
            let sources = sources.clone();
            // Only the end of the process interrupts it.
            let _ = tokio::task::spawn_blocking(move || follow_pointers(&sources, &store)).await;
        }
    }

    /// Replaces the settings, and returns the stores that are open.
    async fn replace(&self, settings: AgentSettings) -> Vec<Arc<CircuitBreakerStore>> {
        let mut current = self.settings.write().await;
        let moved = |agent: &AgentId| settings.agent_dirs.get(agent) != current.agent_dirs.get(agent);
        let mut opened = self.opened.lock().await;
        opened.retain(|agent, cell| cell.get().is_some() && !moved(agent));
        let agents = opened.values().filter_map(|cell| cell.get());
        let own = agents.filter_map(|agent| agent.usage.main().map(|_| agent.usage.agent()));
        let stores: Vec<_> = own.chain(self.main.get()).cloned().collect();
        for store in &stores {
            store.set_ambient(settings.ambient.clone());
            store.set_cooldowns(settings.policy.auth.cooldowns.clone());
        }
        if let Some(main) = self.main.get() {
            self.shared.legacy.bring_into(main).await;
        }
        *current = Arc::new(settings);
        stores
    }
}

/// Opens a store on a thread that may block.
async fn blocking<T: Send + 'static>(
    agent: AgentId,
    open: impl FnOnce() -> Result<T, AgentError> + Send + 'static,
) -> Result<Arc<T>, AgentError> {
    let opened = tokio::task::spawn_blocking(open).await;
    opened.map_err(|_| AgentError::Stopped { agent })?.map(Arc::new)
}

impl AgentContext {
    /// The directory of the agent that others inherit from; no setting moves it (L13).
    fn main_dir(&self) -> PathBuf {
        openclaw_config::inherited_credentials_folder(&self.state_dir)
    }

    fn sessions_dir(&self, agent: &AgentId) -> PathBuf {
        openclaw_config::sessions_folder(&self.state_dir, agent)
    }
}

/// Resolves the pointers of all profiles. A pointer that yields another key than before is another credential, which
/// is not in cooldown (D9).
fn follow_pointers(sources: &SecretSources, store: &SqliteAuthStore) {
    let snapshot = store.snapshot();
    let found = sources.with(|places| snapshot.pointer_fingerprints(places));
    if found != snapshot.resolved {
        store.set_resolved(found);
    }
}

fn open_auth(
    settings: &AgentSettings,
    agent: &AgentId,
    directory: &Path,
) -> Result<CircuitBreakerStore, AgentError> {
    create(directory)?;
    let config = settings.policy.auth.cooldowns.clone();
    let store = SqliteAuthStore::open(
        directory,
        agent,
        settings.ambient.clone(),
        config,
        SystemClock.now(),
    );
    let store = store.map_err(|source| AgentError::Auth {
        agent: agent.clone(),
        source,
    })?;
    follow_pointers(&settings.sources, &store);
    Ok(CircuitBreakerStore::new(store))
}

fn open(
    shared: &AgentContext,
    settings: &AgentSettings,
    agent: &AgentId,
    directory: Option<PathBuf>,
    main: Arc<CircuitBreakerStore>,
) -> Result<Agent, AgentError> {
    let agent_dir =
        directory.unwrap_or_else(|| openclaw_config::default_credentials_folder(&shared.state_dir, agent));
    let usage = if agent_dir == shared.main_dir() {
        AgentAuthStore::alone(main)
    } else {
        AgentAuthStore::new(main, open_auth(settings, agent, &agent_dir)?)
    };
    let sessions = Sessions::at(&shared.sessions_dir(agent).join(openclaw_config::SESSIONS_FILE));
    let (usage, sessions) = (Arc::new(usage), Arc::new(sessions));
    let runner = Runner::new(
        Arc::new(SystemClock),
        Arc::clone(&usage),
        Arc::clone(&sessions),
        Arc::clone(&settings.policy),
    );
    let runner = shared.telemetry.watch(agent, &usage, runner);
    Ok(Agent {
        runner,
        usage,
        sessions,
        debounce: Debounce::default(),
    })
}

/// Creates a directory that only this user may enter (L20).
fn create(path: &Path) -> Result<(), AgentError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| AgentError::Directory {
        path: path.to_owned(),
        source,
    })
}
