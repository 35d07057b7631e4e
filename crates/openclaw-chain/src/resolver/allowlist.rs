//! Which models people and stored overrides may select (chain.md 10).

use std::collections::HashSet;

use openclaw_ids::{AgentId, ModelId, ModelRef, ProviderId};

use crate::names::{Names, wildcard};
use crate::resolver::Resolver;

/// What the keys of the model map allow every agent.
#[derive(Clone, Debug)]
pub(crate) struct Allowlist {
    /// Keys that name one model each (W3).
    models: HashSet<ModelRef>,
    /// Keys that allow a whole provider (W2).
    providers: HashSet<ProviderId>,
}

/// Why a text is not a model that may be selected (W9, W10).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// Several providers serve a bare image model (G7).
    #[error("image model `{text}` is ambiguous: {} have it; write it as `provider/model`", list(.providers))]
    AmbiguousImageModel {
        /// The text as given.
        text: String,
        /// The providers that have it.
        providers: Vec<ProviderId>,
    },
    /// The text is blank.
    #[error("invalid model: empty")]
    Empty,
    /// The text cannot be a model reference.
    #[error("invalid model: {text}")]
    Invalid {
        /// The text as given.
        text: String,
    },
    /// An image run has nothing to start with (G5).
    #[error(
        "no image model is configured; set agents.defaults.imageModel.primary or agents.defaults.imageModel.fallbacks"
    )]
    NoImageModel,
    /// The allowlist leaves nothing to start with.
    #[error(
        "model {model} is not allowed and no other one is; add it to agents.defaults.models or remove that map"
    )]
    NothingAllowed {
        /// The model that was wanted.
        model: ModelRef,
    },
    /// The model is not in the allowlist.
    #[error("model not allowed: {model}")]
    NotAllowed {
        /// The model.
        model: ModelRef,
    },
}

fn list(providers: &[ProviderId]) -> String {
    let names: Vec<&str> = providers.iter().map(ProviderId::as_str).collect();
    names.join(", ")
}

impl Resolver {
    /// Whether a model may be selected for an agent (chain.md 10): for `/model`, pickers and stored overrides,
    /// never for the members of a configured chain (C5, W8).
    pub fn is_allowed(&self, agent: &AgentId, model: &ModelRef) -> bool {
        self.allows(agent, &self.names.normalise(model))
    }

    fn allows(&self, agent: &AgentId, model: &ModelRef) -> bool {
        let Allowlist { models, providers } = &self.allowlist;
        // W1: a map that lists nothing restricts nothing.
        if (models.is_empty() && providers.is_empty())
            || models.contains(model)
            || providers.contains(model.provider())
        {
            return true;
        }
        // W4 and W5: what the configuration itself uses is allowed beside the listed models.
        let is_fallback = |text: &String| self.resolve(text).as_ref() == Some(model);
        !models.is_empty()
            && ((providers.is_empty() && self.primary.model == *model)
                || self.applicable_fallbacks(agent).iter().any(is_fallback))
    }

    /// The model a person's text selects (W10).
    pub fn try_select(&self, agent: &AgentId, text: &str) -> Result<ModelRef, SelectionError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SelectionError::Empty);
        }
        let Some(model) = self.resolve(text) else {
            return Err(SelectionError::Invalid {
                text: text.to_owned(),
            });
        };
        if self.is_allowed(agent, &model) {
            Ok(model)
        } else {
            Err(SelectionError::NotAllowed { model })
        }
    }

    /// The model a new session starts with (W9): `wanted` when it is allowed, else the first allowed model that
    /// the model map or a provider row names.
    pub fn initial_selection(&self, agent: &AgentId, wanted: &ModelRef) -> Result<ModelRef, SelectionError> {
        let wanted = self.names.normalise(wanted);
        if self.allows(agent, &wanted) {
            return Ok(wanted);
        }
        let provider = self.default_provider();
        let listed = self
            .names
            .exact_keys()
            .filter_map(|key| listed(key, &self.names, provider));
        let rows = self.names.providers().iter().flat_map(|row| {
            let models = row
                .models
                .iter()
                .filter_map(|model| ModelId::try_new(&model.id).ok());
            models.map(|model| self.names.pair(&row.id, &model))
        });
        listed
            .chain(rows)
            .find(|model| self.allows(agent, model))
            .ok_or(SelectionError::NothingAllowed { model: wanted })
    }

    /// The model a key of the model map lists (W3).
    pub(crate) fn listed(&self, key: &str) -> Option<ModelRef> {
        listed(key.trim(), &self.names, self.default_provider())
    }

    /// The fallbacks that apply to an agent's configured selection, as written: its own setting's when that says
    /// anything, else the defaults'.
    pub(crate) fn applicable_fallbacks(&self, agent: &AgentId) -> &[String] {
        let own = self.agent(agent).and_then(|agent| agent.model.imposed());
        own.or_else(|| self.defaults.model.fallbacks())
            .unwrap_or_default()
    }
}

impl Allowlist {
    pub(crate) fn new(names: &Names, default_provider: &ProviderId) -> Self {
        let keys = names.entries().iter().map(|entry| entry.key.as_str());
        let exact = names.exact_keys();
        Self {
            models: exact
                .filter_map(|key| listed(key, names, default_provider))
                .collect(),
            providers: keys
                .filter_map(|key| ProviderId::try_new(wildcard(key)?).ok())
                .collect(),
        }
    }
}

/// The model a key of the model map allows (W3).
fn listed(key: &str, names: &Names, default_provider: &ProviderId) -> Option<ModelRef> {
    let bare = !key.contains('/');
    let inferred = bare.then(|| names.unique_provider(key)).flatten();
    names.resolve(key, inferred.as_ref().unwrap_or(default_provider))
}

#[cfg(test)]
mod tests;
