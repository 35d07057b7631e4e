//! Short ways to write configurations and answers in tests.

use openclaw_ids::{AgentId, ModelRef};

use crate::{ChainConfig, Requested, Resolver};

/// Reads a configuration strictly.
pub(crate) fn config(json: serde_json::Value) -> ChainConfig {
    serde_json::from_value(json).unwrap()
}

/// A configuration with these `agents.defaults`.
pub(crate) fn defaults(json: &str) -> ChainConfig {
    let defaults: serde_json::Value = serde_json::from_str(json).unwrap();
    config(serde_json::json!({ "agents": { "defaults": defaults } }))
}

/// The resolver of a configuration.
pub(crate) fn resolver(json: serde_json::Value) -> Resolver {
    Resolver::new(&config(json))
}

/// `provider/model` split at the first slash.
pub(crate) fn requested(text: &str) -> Requested {
    let (provider, model) = text.split_once('/').unwrap_or(("", ""));
    Requested {
        provider: provider.to_owned(),
        model: model.to_owned(),
    }
}

pub(crate) fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

pub(crate) fn agent(id: &str) -> AgentId {
    AgentId::new(id)
}

pub(crate) fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// `provider+model`, so that a model id with slashes stays visible.
pub(crate) fn pair(model: &ModelRef) -> String {
    format!("{}+{}", model.provider(), model.model())
}

/// The pairs of a chain, joined by `; `.
pub(crate) fn pairs(chain: &[ModelRef]) -> String {
    chain.iter().map(pair).collect::<Vec<_>>().join("; ")
}
