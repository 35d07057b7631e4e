//! The configuration prepared for questions: which model does a text mean, what is the primary.

mod allowlist;
mod capability;

use std::collections::{HashMap, HashSet};

use openclaw_ids::{AgentId, ModelRef, ProviderId};

use crate::alias::AliasIndex;
use crate::config::{AgentConfig, ChainConfig, ImageModelSetting, ModelSetting};
use crate::names::{BuiltInAliases, Names};
use crate::primary::{Primary, default_provider};
use crate::vendor::VendorRules;

pub use allowlist::SelectionError;
pub use capability::{Capabilities, Needs, Shortfall, Support};

use allowlist::Allowlist;
use capability::KnownCapabilities;

/// Answers questions about models; built once per configuration, cheap to ask.
#[derive(Clone, Debug)]
pub struct Resolver {
    pub(crate) names: Names,
    pub(crate) aliases: AliasIndex,
    /// The aliases as image references see them, with the image primary's provider for bare names (G1).
    pub(crate) images: AliasIndex,
    pub(crate) allowlist: Allowlist,
    pub(crate) capabilities: KnownCapabilities,
    /// What the texts of the configured lists mean, so that a run need not find out again.
    known: HashMap<String, Option<ModelRef>>,
    /// What follows the requested model when no list is passed, each once: the configured fallbacks, then the primary.
    pub(crate) configured: Vec<ModelRef>,
    pub(crate) primary: Primary,
    pub(crate) defaults: Defaults,
    agents: Vec<KnownAgent>,
    pub(crate) presence: Presence,
}

/// An entry of `agents.list` and its primary.
#[derive(Clone, Debug)]
struct KnownAgent {
    id: AgentId,
    entry: AgentConfig,
    primary: Primary,
}

/// The parts of `agents.defaults` that questions need again.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    pub(crate) model: ModelSetting,
    pub(crate) image_model: ImageModelSetting,
    pub(crate) subagents: ModelSetting,
    pub(crate) heartbeat: Option<String>,
}

/// Whether there is a configuration at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Configured,
    Unconfigured,
}

impl Resolver {
    /// Prepares a configuration with the shipped vendor rules and short names.
    pub fn new(config: &ChainConfig) -> Self {
        Self::with_rules(config, VendorRules::default(), BuiltInAliases::Added)
    }

    /// Prepares a configuration with other vendor rules, or without the shipped short names.
    pub fn with_rules(config: &ChainConfig, vendor: VendorRules, built_in: BuiltInAliases) -> Self {
        let names = Names::new(config, vendor, built_in);
        let defaults = &config.agents.defaults;
        let by_default = AliasIndex::new(&names, &default_provider());
        let primary = crate::primary::primary(defaults.model.primary(), &names, &by_default);
        let agents = config.agents.list.iter().map(|entry| KnownAgent {
            id: entry.agent_id(),
            entry: entry.clone(),
            primary: match entry.model.primary() {
                Some(own) => crate::primary::primary(Some(own), &names, &by_default),
                None => primary.clone(),
            },
        });
        let agents = agents.collect();
        let image_primary = defaults.image_model.model.primary();
        let image_primary = image_primary.and_then(|text| by_default.resolve(text, &names));
        let images = match &image_primary {
            Some(model) => by_default.for_provider(&names, model.provider()),
            None => by_default.clone(),
        };
        let aliases = by_default.for_provider(&names, primary.model.provider());
        let known = lists(config).map(|text| (text.clone(), aliases.resolve(text, &names)));
        let known: HashMap<String, Option<ModelRef>> = known.collect();
        let fallbacks = defaults.model.fallbacks().unwrap_or_default();
        let fallbacks = fallbacks.iter().filter_map(|text| known.get(text)?.clone());
        Self {
            configured: each_once(fallbacks.chain([primary.model.clone()])),
            known,
            capabilities: KnownCapabilities::new(&config.models, &names),
            allowlist: Allowlist::new(&names, aliases.default_provider()),
            names,
            aliases,
            images,
            primary,
            defaults: Defaults {
                model: defaults.model.clone(),
                image_model: defaults.image_model.clone(),
                subagents: defaults.subagents.model.clone(),
                heartbeat: defaults.heartbeat.model.clone(),
            },
            agents,
            presence: Presence::Configured,
        }
    }

    /// Answers without any configuration: nothing is configured, so no primary is appended to a chain (C6).
    pub fn unconfigured() -> Self {
        Self {
            presence: Presence::Unconfigured,
            configured: Vec::new(),
            ..Self::new(&ChainConfig::default())
        }
    }

    /// The configured primary of `agents.defaults.model` (chain.md 7).
    pub fn primary(&self) -> ModelRef {
        self.primary.model.clone()
    }

    /// The primary of an agent: its own when it names one, else the configured primary.
    pub fn agent_primary(&self, agent: &AgentId) -> ModelRef {
        self.agent_primary_found(agent).model.clone()
    }

    /// What a text means as a configured reference (chain.md 5): an alias, or `provider/model`, or a bare name
    /// of the primary's provider. `None` when it cannot be a reference. Its profile suffix is dropped.
    pub fn resolve(&self, text: &str) -> Option<ModelRef> {
        match self.known.get(text) {
            Some(known) => known.clone(),
            None => self.aliases.resolve(text, &self.names),
        }
    }

    /// The provider of bare names.
    pub(crate) fn default_provider(&self) -> &ProviderId {
        self.aliases.default_provider()
    }

    pub(crate) fn agent_primary_found(&self, agent: &AgentId) -> &Primary {
        let known = self.agents.iter().find(|known| known.id == *agent);
        known.map_or(&self.primary, |known| &known.primary)
    }

    pub(crate) fn agent(&self, agent: &AgentId) -> Option<&AgentConfig> {
        let known = self.agents.iter().find(|known| known.id == *agent);
        known.map(|known| &known.entry)
    }
}

/// Each model at its first place.
pub(crate) fn each_once(models: impl Iterator<Item = ModelRef>) -> Vec<ModelRef> {
    let mut seen = HashSet::with_capacity(models.size_hint().0);
    models.filter(|model| seen.insert(model.clone())).collect()
}

/// Every text in a fallback list of the configuration.
fn lists(config: &ChainConfig) -> impl Iterator<Item = &String> {
    let defaults = &config.agents.defaults;
    let agents = config.agents.list.iter();
    let agents = agents.flat_map(|agent| [&agent.model, &agent.subagents.model]);
    let settings = [&defaults.model, &defaults.subagents.model]
        .into_iter()
        .chain(agents);
    settings.flat_map(|setting| setting.fallbacks().unwrap_or_default())
}
