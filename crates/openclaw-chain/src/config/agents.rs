//! `agents`: the defaults, the model map and the agents themselves (chain.md 1.1).

use indexmap::IndexMap;
use openclaw_ids::AgentId;

use super::setting::{ImageModel, ImageModelSetting, Model, ModelSetting};
use super::shape::{Flag, List, MapOf, Object, Text, object};

/// The `agents` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentsConfig {
    /// What holds for every agent that does not say otherwise.
    pub defaults: AgentDefaults,
    /// The agents, in file order.
    pub list: Vec<AgentConfig>,
}

object!(AgentsConfig, "an object such as { defaults: { … }, list: [ … ] }", self fields {
    "defaults" => self.defaults = fields.value_or_default(Object::new())?,
    "list" => {
        let agents = List(
            Object::<AgentConfig>::new(),
            "a list of agents such as [{ id: \"main\" }]",
        );
        self.list = fields.value_or_default(agents)?;
    }
});

/// `agents.defaults`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentDefaults {
    /// `model`: the configured primary and the default fallbacks.
    pub model: ModelSetting,
    /// `imageModel`.
    pub image_model: ImageModelSetting,
    /// `models`: references and `provider/*`, with their aliases; also the allowlist.
    pub models: IndexMap<String, ModelEntry>,
    /// `subagents.model`.
    pub subagents: SubagentsConfig,
    /// `heartbeat.model`.
    pub heartbeat: HeartbeatConfig,
    /// `utilityModel`.
    pub utility_model: Option<String>,
}

object!(AgentDefaults, "an object such as { model: \"openai/gpt-5.5\" }", self fields {
    "model" => self.model = fields.value_or_default(Model)?,
    "imageModel" => self.image_model = fields.value_or_default(ImageModel)?,
    "models" => {
        let entries = MapOf(
            Object::<ModelEntry>::new(),
            "an object such as { \"openai/gpt-5.5\": { alias: \"gpt\" } }",
        );
        self.models = fields.value_or_default(entries)?;
    }
    "subagents" => self.subagents = fields.value_or_default(Object::new())?,
    "heartbeat" => self.heartbeat = fields.value_or_default(Object::new())?,
    "utilityModel" => self.utility_model = fields.value(REFERENCE)?,
});

const REFERENCE: Text = Text("a model reference such as \"openai/gpt-5.5\"");

/// One entry of `agents.defaults.models`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelEntry {
    /// A short name for the model, as written.
    pub alias: Option<String>,
}

object!(ModelEntry, "an object such as {} or { alias: \"gpt\" }", self fields {
    "alias" => self.alias = fields.value(Text("a short name such as \"fast\""))?,
});

/// `subagents` of the defaults or of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubagentsConfig {
    /// The model of sub-agent runs.
    pub model: ModelSetting,
}

object!(SubagentsConfig, "an object such as { model: \"openai/gpt-5.5\" }", self fields {
    "model" => self.model = fields.value_or_default(Model)?,
});

/// `heartbeat` of the defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatConfig {
    /// The model of heartbeat turns.
    pub model: Option<String>,
}

object!(HeartbeatConfig, "an object such as { model: \"openai/gpt-5.5\" }", self fields {
    "model" => self.model = fields.value(REFERENCE)?,
});

/// One entry of `agents.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentConfig {
    /// The id as written.
    pub id: String,
    /// Whether this is the default agent.
    pub default: bool,
    /// `agentDir` as written.
    pub agent_dir: Option<String>,
    /// `model`.
    pub model: ModelSetting,
    /// `subagents.model`.
    pub subagents: SubagentsConfig,
    /// `utilityModel`.
    pub utility_model: Option<String>,
}

impl AgentConfig {
    /// The normalised id.
    pub fn agent_id(&self) -> AgentId {
        AgentId::new(&self.id)
    }
}

object!(AgentConfig, "an agent object such as { id: \"ops\", model: \"openai/gpt-5.5\" }", self fields {
    "id" => self.id = fields.value_or_default(Text("an agent id such as \"ops\""))?,
    "default" => self.default = fields.value_or_default(Flag("true or false"))?,
    "agentDir" => self.agent_dir = fields.value(Text("a directory such as \"~/agents/ops\""))?,
    "model" => self.model = fields.value_or_default(Model)?,
    "subagents" => self.subagents = fields.value_or_default(Object::new())?,
    "utilityModel" => self.utility_model = fields.value(REFERENCE)?,
});
