//! The state of one agent at one moment, for reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_auth_store::{AuthSnapshot, UsageStore};
use openclaw_ids::{AgentId, SessionKey};
use openclaw_session::SessionEntry;

use super::generation::Generation;
use crate::agents::Agent;
use crate::report::{AgentState, Installation};

/// The state of one agent at one moment.
pub(crate) struct AgentSnapshot {
    agent: AgentId,
    folder: PathBuf,
    seen: Arc<AuthSnapshot>,
    own: Arc<AuthSnapshot>,
    main: Option<Arc<AuthSnapshot>>,
    sessions: Vec<(SessionKey, SessionEntry)>,
}

impl AgentSnapshot {
    /// Looks at an agent's credentials; its `sessions` were read by the caller, who needs them or not.
    pub(crate) fn at(id: &AgentId, agent: &Agent, sessions: Vec<(SessionKey, SessionEntry)>) -> Self {
        let own = agent.usage.agent();
        Self {
            agent: id.clone(),
            folder: own.path().parent().unwrap_or(Path::new("")).to_owned(),
            seen: agent.usage.snapshot(),
            own: own.snapshot(),
            main: agent.usage.main().map(|main| main.snapshot()),
            sessions,
        }
    }

    /// What reports are made of.
    pub(crate) fn state(&self) -> AgentState<'_> {
        AgentState {
            agent: &self.agent,
            folder: &self.folder,
            seen: &self.seen,
            own: &self.own,
            main: self.main.as_deref(),
            sessions: &self.sessions,
        }
    }
}

impl Generation {
    /// What reports say of every agent alike.
    pub(crate) fn installation(&self) -> Installation<'_> {
        Installation {
            config: &self.config,
            resolver: &self.resolver,
            endpoints: &self.endpoints,
            aliases: &self.policy.aliases,
            sources: &self.credentials.sources,
        }
    }
}
