//! The paths of the files of agents: below the state directory, but for credentials that a setting keeps elsewhere.

use std::path::{Path, PathBuf};

use openclaw_chain::ChainConfig;
use openclaw_ids::AgentId;

use crate::environment::Environment;

/// The file of an agent's credentials, in their folder.
pub const CREDENTIALS_FILE: &str = "openclaw-agent.sqlite";
/// The file of an agent's sessions, in their folder.
pub const SESSIONS_FILE: &str = "openclaw-sessions.sqlite";
/// The sessions of OpenClaw, in the same folder.
pub const SESSIONS_JSON: &str = "sessions.json";

/// The folder that holds one folder per agent.
pub fn agents_folder(state_dir: &Path) -> PathBuf {
    state_dir.join("agents")
}

/// The folder of an agent's credentials (L11).
pub fn credentials_folder(
    config: &ChainConfig,
    environment: &Environment,
    state_dir: &Path,
    agent: &AgentId,
) -> PathBuf {
    let configured = config.agent_dir(agent);
    configured.map_or_else(
        || default_credentials_folder(state_dir, agent),
        |written| environment.path(written),
    )
}

/// The folder of an agent's credentials where no setting names another one.
pub fn default_credentials_folder(state_dir: &Path, agent: &AgentId) -> PathBuf {
    agents_folder(state_dir).join(agent.as_str()).join("agent")
}

/// The folder of the credentials that all agents inherit; no setting moves it (L13).
pub fn inherited_credentials_folder(state_dir: &Path) -> PathBuf {
    default_credentials_folder(state_dir, &AgentId::main())
}

/// The folder of an agent's sessions.
pub fn sessions_folder(state_dir: &Path, agent: &AgentId) -> PathBuf {
    agents_folder(state_dir).join(agent.as_str()).join("sessions")
}
