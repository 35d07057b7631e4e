//! The stores and runner of each agent, opened when the agent is first asked for.

mod patient;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_auth_store::{AmbientProfile, InheritingAuthStore, SqliteAuthStore, UsageStore};
use openclaw_ids::AgentId;
use openclaw_runner::{Clock, RunObserver, RunPolicy, Runner, SystemClock};
use tokio::sync::{Mutex, OnceCell};

use crate::secrets::SecretSources;
use crate::sessions::Sessions;
use patient::PatientAuthStore;

/// An agent's credentials: its own, and the main agent's beneath them (D14).
pub(crate) type AgentAuthStore = InheritingAuthStore<PatientAuthStore, PatientAuthStore>;

/// The runner of this process's agents.
pub(crate) type AgentRunner = Runner<SystemClock, AgentAuthStore, Sessions>;

/// One agent's stores and runner.
pub(crate) struct Agent {
    /// Runs its requests.
    pub(crate) runner: AgentRunner,
    /// Its credentials and their state.
    pub(crate) usage: Arc<AgentAuthStore>,
    /// Its sessions.
    pub(crate) sessions: Arc<Sessions>,
}

/// What every agent shares.
pub(crate) struct Shared {
    /// The state directory.
    pub(crate) state_dir: PathBuf,
    /// Configured directories of agents that have one of their own (L11).
    pub(crate) agent_dirs: HashMap<AgentId, PathBuf>,
    /// Credentials of this process.
    pub(crate) ambient: Vec<AmbientProfile>,
    /// Where pointers to secrets lead.
    pub(crate) sources: SecretSources,
    /// Settings of runs.
    pub(crate) policy: Arc<RunPolicy>,
    /// Is told of every decision.
    pub(crate) observer: Option<Arc<dyn RunObserver>>,
}

/// An agent's state cannot be used.
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
    shared: Arc<Shared>,
    /// What the others inherit from; opened with the first of them.
    main: Arc<OnceCell<Arc<PatientAuthStore>>>,
    opened: Mutex<HashMap<AgentId, Arc<OnceCell<Arc<Agent>>>>>,
}

impl Agents {
    /// Opens nothing yet.
    pub(crate) fn new(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            main: Arc::default(),
            opened: Mutex::new(HashMap::new()),
        }
    }

    /// The agent with all of its state, so that damage is found at once.
    pub(crate) async fn prepare(&self, agent: &AgentId) -> Result<Arc<Agent>, AgentError> {
        create(&self.shared.sessions_dir(agent))?;
        let opened = self.get(agent).await?;
        let sessions = opened.sessions.open().await;
        sessions.map_err(|source| AgentError::Sessions {
            agent: agent.clone(),
            source,
        })?;
        Ok(opened)
    }

    /// The agent, opened when this is the first time. Its sessions are opened by the first request that has one, and
    /// a request can do without them. A failure is not remembered, so that a repaired file is used by
    /// the next request.
    pub(crate) async fn get(&self, agent: &AgentId) -> Result<Arc<Agent>, AgentError> {
        let cell = Arc::clone(self.opened.lock().await.entry(agent.clone()).or_default());
        let opened = cell.get_or_try_init(|| async {
            let main = self.main.get_or_try_init(|| {
                let main = AgentId::main();
                let directory = self.shared.main_dir();
                self.blocking(main.clone(), move |shared| open_auth(shared, &main, &directory))
            });
            let main = Arc::clone(main.await?);
            let opening = agent.clone();
            self.blocking(agent.clone(), move |shared| open(shared, &opening, main))
                .await
        });
        opened.await.map(Arc::clone)
    }

    /// Opens something where that may take its time.
    async fn blocking<T: Send + 'static>(
        &self,
        agent: AgentId,
        open: impl FnOnce(&Shared) -> Result<T, AgentError> + Send + 'static,
    ) -> Result<Arc<T>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let opened = tokio::task::spawn_blocking(move || open(&shared)).await;
        opened.map_err(|_| AgentError::Stopped { agent })?.map(Arc::new)
    }
}

impl Shared {
    /// The directory of the agent that others inherit from; no setting moves it (L13).
    fn main_dir(&self) -> PathBuf {
        self.root(&AgentId::main()).join("agent")
    }

    fn root(&self, agent: &AgentId) -> PathBuf {
        self.state_dir.join("agents").join(agent.as_str())
    }

    fn sessions_dir(&self, agent: &AgentId) -> PathBuf {
        self.root(agent).join("sessions")
    }
}

fn open_auth(shared: &Shared, agent: &AgentId, directory: &Path) -> Result<PatientAuthStore, AgentError> {
    create(directory)?;
    let config = shared.policy.auth.cooldowns.clone();
    let store = SqliteAuthStore::open(
        directory,
        agent,
        shared.ambient.clone(),
        config,
        SystemClock.now(),
    );
    let store = store.map_err(|source| AgentError::Auth {
        agent: agent.clone(),
        source,
    })?;
    // A variable, file or command that gives another key since the last start is another key, and free (D9).
    let snapshot = store.snapshot();
    store.set_resolved(
        shared
            .sources
            .with(|places| snapshot.pointer_fingerprints(places)),
    );
    Ok(PatientAuthStore::new(store))
}

fn open(shared: &Shared, agent: &AgentId, main: Arc<PatientAuthStore>) -> Result<Agent, AgentError> {
    let configured = shared.agent_dirs.get(agent).cloned();
    let agent_dir = configured.unwrap_or_else(|| shared.root(agent).join("agent"));
    let usage = if agent_dir == shared.main_dir() {
        AgentAuthStore::alone(main)
    } else {
        AgentAuthStore::new(main, open_auth(shared, agent, &agent_dir)?)
    };
    let sessions = Sessions::at(&shared.sessions_dir(agent).join("openclaw-sessions.sqlite"));
    let (usage, sessions) = (Arc::new(usage), Arc::new(sessions));
    let mut runner = Runner::new(
        Arc::new(SystemClock),
        Arc::clone(&usage),
        Arc::clone(&sessions),
        Arc::clone(&shared.policy),
    );
    if let Some(observer) = &shared.observer {
        runner = runner.with_observer(Arc::clone(observer));
    }
    Ok(Agent {
        runner,
        usage,
        sessions,
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
