//! Short names for models: those of the configuration and those that ship (chain.md 6).

use std::collections::HashMap;

use openclaw_ids::{ModelRef, ProviderId, lowercased};

use crate::names::{Entry, Names, wildcard};
use crate::profile_suffix::split_profile;
use crate::vendor::VendorRules;

/// Whether the short names that ship with the program are added to the configured ones (chain.md 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltInAliases {
    /// Added where their model is listed without an alias and nobody else uses the name.
    #[default]
    Added,
    /// Left out.
    LeftOut,
}

/// Short name and the model it stands for (chain.md 6.2).
const BUILT_IN: &[(&str, &str)] = &[
    ("opus", "anthropic/claude-opus-4-8"),
    ("sonnet", "anthropic/claude-sonnet-5"),
    ("gpt", "openai/gpt-5.4"),
    ("gpt-mini", "openai/gpt-5.4-mini"),
    ("gpt-nano", "openai/gpt-5.4-nano"),
    ("gemini", "google/gemini-3.1-pro-preview"),
    ("gemini-flash", "google/gemini-3-flash-preview"),
    ("gemini-flash-lite", "google/gemini-3.1-flash-lite"),
];

/// Gives the shipped names to the listed models that qualify.
pub(crate) fn add_built_in(entries: &mut [Entry], vendor: &VendorRules) {
    for (alias, target) in BUILT_IN {
        let used = entries.iter().filter_map(|entry| entry.alias.as_deref());
        if used.clone().any(|used| used.eq_ignore_ascii_case(alias)) {
            continue;
        }
        let means_target = |entry: &&mut Entry| {
            let listed = entry.key.parse::<ModelRef>();
            listed.is_ok_and(|listed| vendor.normalise(listed.provider(), listed.model()).key() == *target)
        };
        let listed = entries.iter_mut().find(means_target);
        if let Some(entry) = listed.filter(|entry| entry.alias.is_none()) {
            entry.alias = Some((*alias).to_owned());
        }
    }
}

/// The aliases of the model map, ready to look up (chain.md 6.1).
#[derive(Clone, Debug)]
pub(crate) struct AliasIndex {
    /// The provider of bare names, among the keys of the model map and among the texts that are looked up.
    default_provider: ProviderId,
    by_name: HashMap<String, Alias>,
    /// By `provider/name`.
    by_provider: HashMap<String, ModelRef>,
}

/// What a short name stands for.
#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub(crate) target: ModelRef,
    /// Whether the key that carries the alias is a model name without a provider.
    pub(crate) bare_key: bool,
}

impl AliasIndex {
    /// Indexes the aliases; keys without a provider belong to `default_provider`. The last of several equal
    /// names wins.
    pub(crate) fn new(names: &Names, default_provider: &ProviderId) -> Self {
        let mut index = Self {
            default_provider: default_provider.clone(),
            by_name: HashMap::new(),
            by_provider: HashMap::new(),
        };
        for entry in names.entries() {
            let Some(alias) = entry.alias.as_deref().filter(|_| wildcard(&entry.key).is_none()) else {
                continue;
            };
            let Some(target) = names.resolve(&entry.key, default_provider) else {
                continue;
            };
            let alias = alias.to_lowercase();
            let scoped = format!("{}/{alias}", target.provider());
            index.by_provider.insert(scoped, target.clone());
            let bare_key = !entry.key.contains('/');
            index.by_name.insert(alias, Alias { target, bare_key });
        }
        index
    }

    /// The alias spelled like `text`, ignoring case and surrounding blanks.
    pub(crate) fn by_name(&self, text: &str) -> Option<&Alias> {
        self.by_name.get(&*lowercased(text.trim()))
    }

    /// The model that `provider/alias` stands for.
    pub(crate) fn by_provider(&self, text: &str) -> Option<&ModelRef> {
        let (provider, alias) = text.split_once('/')?;
        if (provider.trim(), alias.trim()) == (provider, alias) {
            return self.by_provider.get(&*lowercased(text));
        }
        self.by_provider(&[provider.trim(), "/", alias.trim()].concat())
    }

    /// The same names for bare keys of another provider.
    pub(crate) fn for_provider(&self, names: &Names, default_provider: &ProviderId) -> Self {
        if self.default_provider == *default_provider {
            return self.clone();
        }
        Self::new(names, default_provider)
    }

    /// The provider of bare names.
    pub(crate) fn default_provider(&self) -> &ProviderId {
        &self.default_provider
    }

    /// What a configured text means (chain.md 5), in its normal form; its profile suffix is dropped.
    pub(crate) fn resolve(&self, text: &str, names: &Names) -> Option<ModelRef> {
        let (model, _profile) = split_profile(text);
        if let Some(alias) = self.by_name(model) {
            return Some(alias.target.clone());
        }
        let scoped = self.by_provider(model).cloned();
        scoped.or_else(|| names.resolve(model, &self.default_provider))
    }
}

#[cfg(test)]
mod tests;
