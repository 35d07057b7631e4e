//! The part of the configuration that decides about models, read once into types.

mod agents;
mod providers;
mod secret;
mod setting;
mod shape;

use openclaw_ids::AgentId;
use serde::de::{DeserializeSeed, Deserializer};

pub use agents::{AgentConfig, AgentDefaults, AgentsConfig, HeartbeatConfig, ModelEntry, SubagentsConfig};
pub use providers::{AuthMode, ModelRow, ModelsConfig, ProviderConfig};
pub use secret::SecretValue;
pub use setting::{ImageModelSetting, ModelSetting, SettingForm};

use shape::{Mode, Object, Read, object};

/// The `agents` and `models` sections of the root configuration object; every other key is stepped over.
///
/// `Deserialize` is for the file a person wrote: a wrong value under a known key is an error that says what was
/// found, what is expected and how to write it. [`lenient`](Self::lenient) is for a configuration another
/// program hands over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainConfig {
    /// The `agents` section.
    pub agents: AgentsConfig,
    /// The `models` section.
    pub models: ModelsConfig,
}

impl ChainConfig {
    /// Reads a configuration in which a value of the wrong shape counts as not written (chain.md 1.1).
    pub fn lenient(root: &serde_json::Value) -> Self {
        Read(Object::new(), Mode::Lenient)
            .deserialize(root)
            .unwrap_or_default()
    }

    /// The configured agents in file order, each once; `main` when there are none.
    pub fn agent_ids(&self) -> Vec<AgentId> {
        let mut ids: Vec<AgentId> = Vec::with_capacity(self.agents.list.len().max(1));
        for agent in &self.agents.list {
            let id = agent.agent_id();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.is_empty() {
            ids.push(AgentId::main());
        }
        ids
    }

    /// The agent meant when none is named: the first with `default: true`, else the first, else `main` (L12).
    pub fn default_agent(&self) -> AgentId {
        let list = &self.agents.list;
        let chosen = list.iter().find(|agent| agent.default).or_else(|| list.first());
        chosen.map_or_else(AgentId::main, AgentConfig::agent_id)
    }

    /// The configured directory of an agent, trimmed and never blank (L11).
    pub fn agent_dir(&self, agent: &AgentId) -> Option<&str> {
        self.agent(agent)?.agent_dir.as_deref().and_then(non_blank)
    }

    /// The entry of an agent; the first one wins when an id is listed twice.
    pub fn agent(&self, agent: &AgentId) -> Option<&AgentConfig> {
        self.agents.list.iter().find(|entry| entry.agent_id() == *agent)
    }
}

/// The text without the blanks around it, when anything is left: a blank value counts as none.
pub(crate) fn non_blank(text: &str) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty()).then_some(text)
}

object!(ChainConfig, "a configuration object such as { agents: { … }, models: { … } }", self fields {
    "agents" => self.agents = fields.value_or_default(Object::new())?,
    "models" => self.models = fields.value_or_default(Object::new())?,
});

impl<'de> serde::Deserialize<'de> for ChainConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Read(Object::new(), Mode::Strict).deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests;
