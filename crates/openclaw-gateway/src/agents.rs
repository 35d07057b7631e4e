//! The stores and runner of each agent, opened when the agent is first asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_auth_store::{AmbientProfile, SqliteAuthStore};
use openclaw_ids::AgentId;
use openclaw_runner::{Clock, RunObserver, RunPolicy, Runner, SystemClock};
use tokio::sync::{Mutex, OnceCell};

use crate::sessions::Sessions;

/// The runner of this process's agents.
pub(crate) type AgentRunner = Runner<SystemClock, SqliteAuthStore, Sessions>;

/// One agent's stores and runner.
pub(crate) struct Agent {
    /// Runs its requests.
    pub(crate) runner: AgentRunner,
    /// Its credentials and their state.
    pub(crate) usage: Arc<SqliteAuthStore>,
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
    opened: Mutex<HashMap<AgentId, Arc<OnceCell<Arc<Agent>>>>>,
}

impl Agents {
    /// Opens nothing yet.
    pub(crate) fn new(shared: Shared) -> Self {
        Self {
            shared: Arc::new(shared),
            opened: Mutex::new(HashMap::new()),
        }
    }

    /// The agent with all of its state, so that damage is found at once.
    pub(crate) async fn prepare(&self, agent: &AgentId) -> Result<Arc<Agent>, AgentError> {
        create(&sessions_dir(&self.shared, agent))?;
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
            let (shared, agent) = (Arc::clone(&self.shared), agent.clone());
            let stopped = AgentError::Stopped { agent: agent.clone() };
            tokio::task::spawn_blocking(move || open(&shared, &agent))
                .await
                .map_err(|_| stopped)?
                .map(Arc::new)
        });
        opened.await.map(Arc::clone)
    }
}

fn open(shared: &Shared, agent: &AgentId) -> Result<Agent, AgentError> {
    let clock = SystemClock;
    let agent_dir = shared
        .agent_dirs
        .get(agent)
        .cloned()
        .unwrap_or_else(|| root(shared, agent).join("agent"));
    let usage = SqliteAuthStore::open(
        &agent_dir,
        agent,
        shared.ambient.clone(),
        shared.policy.auth.cooldowns.clone(),
        clock.now(),
    )
    .map_err(|source| AgentError::Auth {
        agent: agent.clone(),
        source,
    })?;
    let sessions = Sessions::at(&sessions_dir(shared, agent).join("openclaw-sessions.sqlite"));
    let (usage, sessions) = (Arc::new(usage), Arc::new(sessions));
    let mut runner = Runner::new(
        Arc::new(clock),
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

fn root(shared: &Shared, agent: &AgentId) -> PathBuf {
    shared.state_dir.join("agents").join(agent.as_str())
}

fn sessions_dir(shared: &Shared, agent: &AgentId) -> PathBuf {
    root(shared, agent).join("sessions")
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
