//! From one configured text to a model, without aliases: OpenRouter's names, configured relays, splitting
//! (chain.md 3.2 and 5 steps 4 to 6).

mod built_in_aliases;
mod profile_suffix;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use openclaw_ids::{ModelId, ModelRef, ProviderId, lowercased};
use openclaw_providers::renamed_when_loaded;

use crate::config::{ChainConfig, ModelEntry, ProviderConfig, non_blank};
use crate::vendor::VendorRules;

pub use built_in_aliases::BuiltInAliases;
pub use profile_suffix::split_profile;

#[cfg(test)]
pub(crate) use built_in_aliases::BUILT_IN;
use built_in_aliases::add_built_in;

/// The names the configuration knows: its model map, its provider rows and the vendors' rules.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    entries: Vec<Entry>,
    providers: Vec<KnownProvider>,
    /// Providers that speak another provider's wire format.
    relays: HashSet<ProviderId>,
    /// The provider of each lowercased model name; `None` when several have it.
    owners: HashMap<String, Option<ProviderId>>,
    vendor: VendorRules,
}

/// A key of the model map and its alias, both trimmed.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) alias: Option<String>,
}

/// A provider row without its secrets.
#[derive(Clone, Debug)]
pub(crate) struct KnownProvider {
    pub(crate) key: String,
    pub(crate) id: ProviderId,
    api: Option<String>,
    pub(crate) models: Vec<KnownModel>,
}

/// A model row of a provider.
#[derive(Clone, Debug)]
pub(crate) struct KnownModel {
    pub(crate) id: String,
    takes_images: bool,
}

const OPENROUTER: &str = "openrouter";

impl Names {
    pub(crate) fn new(config: &ChainConfig, vendor: VendorRules, built_in: BuiltInAliases) -> Self {
        let mut entries = entries(&config.agents.defaults.models, &vendor);
        match built_in {
            BuiltInAliases::Added => add_built_in(&mut entries, &vendor),
            BuiltInAliases::LeftOut => {}
        }
        let providers = config.models.providers.iter();
        let mut names = Self {
            entries,
            providers: providers
                .filter_map(|(key, row)| KnownProvider::new(key, row))
                .collect(),
            relays: HashSet::new(),
            owners: HashMap::new(),
            vendor,
        };
        names.relays = names.relays();
        names.owners = names.owners();
        names
    }

    fn relays(&self) -> HashSet<ProviderId> {
        let mut seen = HashSet::new();
        // V4: the first row of a provider speaks for it.
        let rows = self.providers.iter().filter(|row| seen.insert(&row.id));
        rows.filter(|row| {
            row.api
                .as_deref()
                .is_some_and(|api| lowercased(api) != row.id.as_str())
        })
        .map(|row| row.id.clone())
        .collect()
    }

    fn owners(&self) -> HashMap<String, Option<ProviderId>> {
        let listed = self.exact_keys().filter_map(|key| {
            let (provider, model) = key.split_once('/')?;
            Some((model, ProviderId::try_new(provider).ok()?))
        });
        let served = self.providers.iter().flat_map(|row| {
            let models = row.models.iter();
            models.map(|model| (model.id.as_str(), row.id.clone()))
        });
        let mut owners: HashMap<String, Option<ProviderId>> = HashMap::new();
        for (model, provider) in listed.chain(served) {
            owners
                .entry(lowercased(model.trim()).into_owned())
                .and_modify(|owner| *owner = owner.take().filter(|owner| *owner == provider))
                .or_insert(Some(provider));
        }
        owners
    }

    /// The model map in file order.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The provider rows in file order.
    pub(crate) fn providers(&self) -> &[KnownProvider] {
        &self.providers
    }

    /// Keys of the model map that name one model each.
    pub(crate) fn exact_keys(&self) -> impl Iterator<Item = &str> {
        let keys = self.entries.iter().map(|entry| entry.key.as_str());
        keys.filter(|key| wildcard(key).is_none() && !key.is_empty())
    }

    /// The reference in its normal form (chain.md 4).
    pub(crate) fn normalise(&self, model: &ModelRef) -> ModelRef {
        self.vendor.normalise(model.provider(), model.model())
    }

    /// What a text without alias and profile means (chain.md 5 steps 4 to 6), in its normal form.
    pub(crate) fn resolve(&self, text: &str, default_provider: &ProviderId) -> Option<ModelRef> {
        if let Some(named) = self.openrouter_name(text) {
            return Some(named);
        }
        let (provider, model) = split(text, default_provider)?;
        Some(self.pair(&provider, &model))
    }

    /// What a provider's model, for example one of its rows, is called in a chain.
    pub(crate) fn pair(&self, provider: &ProviderId, model: &ModelId) -> ModelRef {
        let relayed = self.relay(provider, model);
        relayed.unwrap_or_else(|| self.vendor.normalise(provider, model))
    }

    /// Splits and normalises a text (chain.md 3.2).
    pub(crate) fn parse(&self, text: &str, default_provider: &ProviderId) -> Option<ModelRef> {
        if text.trim().eq_ignore_ascii_case("openrouter:auto") {
            return self.openrouter("auto");
        }
        let (provider, model) = split(text, default_provider)?;
        Some(self.vendor.normalise(&provider, &model))
    }

    /// The two names of OpenRouter that are written without a slash (chain.md 5.3).
    pub(crate) fn openrouter_name(&self, text: &str) -> Option<ModelRef> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("openrouter:auto") {
            return self.openrouter("auto");
        }
        if !text.eq_ignore_ascii_case("openrouter:free") {
            return None;
        }
        let listed = self.entries.iter().filter_map(|entry| {
            let (provider, model) = entry.key.split_once('/')?;
            (lowercased(provider.trim()) == OPENROUTER).then(|| model.trim())
        });
        let row = self.providers.iter().find(|row| row.id.as_str() == OPENROUTER);
        let served = row.into_iter().flat_map(|row| &row.models);
        let mut free = listed
            .chain(served.map(|model| model.id.as_str()))
            .filter(|model| model.contains('/') && model.ends_with(":free"));
        self.openrouter(free.next()?)
    }

    fn openrouter(&self, model: &str) -> Option<ModelRef> {
        let provider = ProviderId::try_new(OPENROUTER).ok()?;
        Some(self.vendor.normalise(&provider, &ModelId::try_new(model).ok()?))
    }

    /// A model of a configured provider that speaks another provider's wire format (chain.md 5 step 5), in its normal
    /// form: Google's models behind a relay are renamed as Google's own.
    pub(crate) fn relayed(&self, text: &str, default_provider: &ProviderId) -> Option<ModelRef> {
        let (provider, model) = split(text, default_provider)?;
        self.relay(&provider, &model)
    }

    fn relay(&self, provider: &ProviderId, model: &ModelId) -> Option<ModelRef> {
        if !self.relays.contains(provider) {
            return None;
        }
        let model = self.vendor.rename(provider, model);
        let model = self.vendor.rename_relayed(&model).unwrap_or(model);
        Some(self.vendor.normalise(provider, &model))
    }

    /// The only provider the configuration knows a bare model name under, ignoring case (chain.md 7 step 4).
    pub(crate) fn unique_provider(&self, model: &str) -> Option<ProviderId> {
        self.owners.get(&*lowercased(model.trim()))?.clone()
    }

    /// Whether a configured model has this name, ignoring case.
    pub(crate) fn is_model_name(&self, text: &str) -> bool {
        self.owners.contains_key(&*lowercased(text.trim()))
    }

    /// The providers with a row for a bare model name that takes images, ignoring case (G7).
    pub(crate) fn image_providers(&self, model: &str) -> Vec<ProviderId> {
        let model = lowercased(model.trim());
        let serves = |known: &KnownModel| known.takes_images && lowercased(&known.id) == model;
        let rows = self.providers.iter();
        rows.filter(|row| row.models.iter().any(serves))
            .map(|row| row.id.clone())
            .collect()
    }
}

impl KnownProvider {
    fn new(key: &str, row: &ProviderConfig) -> Option<Self> {
        let models = row.models.iter().map(|model| KnownModel {
            id: model.id.trim().to_owned(),
            takes_images: model.takes_images(),
        });
        Some(Self {
            key: key.to_owned(),
            id: ProviderId::try_new(key).ok()?,
            api: row.api.as_deref().and_then(non_blank).map(str::to_owned),
            models: models.collect(),
        })
    }
}

/// The model map with the keys of one model merged, later aliases over earlier ones (chain.md 1.3).
fn entries(models: &IndexMap<String, ModelEntry>, vendor: &VendorRules) -> Vec<Entry> {
    let mut entries: IndexMap<String, Option<&str>> = IndexMap::with_capacity(models.len());
    for (key, entry) in models {
        let alias = entries.entry(loaded(key, vendor)).or_default();
        *alias = entry.alias.as_deref().or(*alias);
    }
    entries
        .into_iter()
        .map(|(key, alias)| Entry {
            key,
            alias: alias.and_then(non_blank).map(str::to_owned),
        })
        .collect()
}

/// A key of the model map as it is after loading.
fn loaded(key: &str, vendor: &VendorRules) -> String {
    let Ok(model) = key.parse::<ModelRef>() else {
        return key.trim().to_owned();
    };
    if renamed_when_loaded(model.provider().as_str()) {
        return vendor.normalise(model.provider(), model.model()).key();
    }
    model.key()
}

/// Splits at the first `/`; a text without one belongs to the default provider.
fn split(text: &str, default_provider: &ProviderId) -> Option<(ProviderId, ModelId)> {
    let (provider, model) = match text.split_once('/') {
        Some((provider, model)) => (ProviderId::try_new(provider).ok()?, model),
        None => (default_provider.clone(), text),
    };
    Some((provider, ModelId::try_new(model).ok()?))
}

/// The provider part of `provider/*`.
pub(crate) fn wildcard(key: &str) -> Option<&str> {
    key.trim().strip_suffix("/*")
}

#[cfg(test)]
mod tests;
