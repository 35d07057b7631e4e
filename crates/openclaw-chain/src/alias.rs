//! Short names for models, ready to look up (chain.md 6).

use std::collections::HashMap;

use openclaw_ids::{ModelRef, ProviderId, lowercased};

use crate::names::{Names, split_profile, wildcard};

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
