//! The agent that a request is about.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use openclaw_classify::error_chain;
use openclaw_ids::{AgentId, SessionKey};
use openclaw_session::{SessionEntry, SessionStore, VersionedEntry};
use serde::Deserialize;

use super::params::Params;
use crate::agents::Agent;
use crate::http::{ApiError, AskError, RequestContext};
use crate::state::{AgentSnapshot, GatewayState};

/// An agent, by `?agent=`, else the default one.
pub(super) struct SelectedAgent {
    pub(super) id: AgentId,
    pub(super) agent: Arc<Agent>,
    pub(super) served: RequestContext,
}

#[derive(Deserialize)]
struct AgentParams {
    agent: Option<String>,
}

impl FromRequestParts<Arc<GatewayState>> for SelectedAgent {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, current: &Arc<GatewayState>) -> Result<Self, ApiError> {
        let Ok(served) = RequestContext::from_request_parts(parts, current).await;
        let Params(AgentParams { agent }) = Params::from_request_parts(parts, current).await?;
        let chain = &served.generation.config.chain;
        let id = agent
            .as_deref()
            .map_or_else(|| chain.default_agent(), AgentId::new);
        let ids = chain.agent_ids();
        if !ids.contains(&id) {
            let known: Vec<&str> = ids.iter().map(AgentId::as_str).collect();
            let unknown = AskError::UnknownAgent {
                agent: agent.unwrap_or_else(|| id.to_string()),
                known: known.join(", "),
            };
            return Err(ApiError::unknown(&unknown.to_string()));
        }
        let agent = served.process.agents.get(&id).await?;
        Ok(Self { id, agent, served })
    }
}

impl SelectedAgent {
    /// The agent as it is now, without its sessions.
    pub(super) fn look(&self) -> AgentSnapshot {
        AgentSnapshot::at(&self.id, &self.agent, Vec::new())
    }

    /// The agent as it is now.
    pub(super) async fn look_with_sessions(&self) -> Result<AgentSnapshot, ApiError> {
        let listed = self.agent.sessions.list().await;
        let sessions = listed.map_err(|error| unusable(&error))?;
        Ok(AgentSnapshot::at(&self.id, &self.agent, entries(sessions)))
    }
}

/// An agent as it is now, and why its sessions cannot be read, if they cannot: it is told without them then.
pub(super) async fn look_as_far_as_readable(id: &AgentId, agent: &Agent) -> (AgentSnapshot, Option<String>) {
    let listing = async {
        let store = agent.sessions.open().await;
        let store = store.map_err(|error| error_chain::line(&error))?;
        store.list().await.map_err(|error| error_chain::line(&error))
    };
    let listed = agent.sessions.with_time_limit(listing).await;
    match listed.map_err(|error| error.to_string()).flatten() {
        Ok(sessions) => (AgentSnapshot::at(id, agent, entries(sessions)), None),
        Err(problem) => (AgentSnapshot::at(id, agent, Vec::new()), Some(problem)),
    }
}

fn entries(stored: Vec<(SessionKey, VersionedEntry)>) -> Vec<(SessionKey, SessionEntry)> {
    stored
        .into_iter()
        .map(|(key, stored)| (key, stored.entry))
        .collect()
}

/// A store that cannot be used; the details are in the log.
pub(super) fn unusable(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::error!(error = error_chain::line(error), "state cannot be used");
    ApiError::state()
}
