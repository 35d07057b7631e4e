//! The model map, the providers and the ids of agents: what is written there and does nothing, or something else.

use std::collections::HashMap;

use openclaw_ids::{ProviderId, lowercased};

use super::{Lint, rules};
use crate::config::AgentConfig;
use crate::names::wildcard;

impl Lint<'_> {
    pub(super) fn model_map(&mut self) {
        let mut owners: HashMap<String, &str> = HashMap::new();
        let config = self.config;
        for (key, entry) in &config.agents.defaults.models {
            let place = format!("agents.defaults.models[\"{key}\"]");
            self.key(&place, key);
            let alias = entry.alias.as_deref().unwrap_or_default().trim();
            if alias.is_empty() || wildcard(key).is_some() {
                continue;
            }
            let place = format!("{place}.alias");
            if let Some(earlier) = owners.insert(alias.to_lowercase(), key) {
                let detail = format!("`{alias}` is also the alias of `{earlier}`");
                self.found(&rules::ALIAS_TWICE, place, detail);
            } else {
                self.alias(place, alias, key);
            }
        }
    }

    fn key(&mut self, place: &str, key: &str) {
        let provider = match wildcard(key) {
            Some(provider) => ProviderId::try_new(provider).ok(),
            None => self.resolver.listed(key).map(|model| model.provider().clone()),
        };
        match provider {
            None => self.found(&rules::UNREADABLE_MODEL, place, format!("`{key}` lists nothing")),
            Some(_) if wildcard(key).is_none() && key.contains('*') => {
                self.found(
                    &rules::PARTIAL_WILDCARD,
                    place,
                    format!("`{key}` is one model of that name"),
                );
            }
            Some(provider) if !self.is_known(&provider) => {
                let detail = format!("nothing is known about `{provider}`");
                self.found(&rules::UNKNOWN_PROVIDER, place, detail);
            }
            Some(_) => {}
        }
    }

    fn alias(&mut self, place: String, alias: &str, key: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
        if !alias.chars().all(plain) {
            let detail = format!("`{alias}` is no plain name");
            self.found(&rules::ALIAS_NAME, place, detail);
            return;
        }
        let target = self.resolver.listed(key);
        let names_itself =
            target.is_some_and(|model| lowercased(model.model().as_str()) == lowercased(alias));
        if !names_itself && self.resolver.names.is_model_name(alias) {
            let detail = format!("`{alias}` stands for `{key}` and is the name of another model");
            self.found(&rules::ALIAS_HIDES_MODEL, place, detail);
        }
    }

    pub(super) fn agent_ids(&mut self) {
        let ids = self.config.agents.list.iter().map(AgentConfig::agent_id);
        let places = ids
            .enumerate()
            .map(|(at, id)| (format!("agents.list[{at}].id"), id));
        self.twice(places.collect());
    }

    pub(super) fn providers(&mut self) {
        let config = self.config;
        let mut ids = Vec::new();
        for (key, row) in &config.models.providers {
            let place = format!("models.providers[\"{key}\"]");
            let Ok(id) = ProviderId::try_new(key) else {
                continue;
            };
            if key.contains('/') {
                let detail = format!("no reference can name `{key}`");
                self.found(&rules::PROVIDER_SLASH, &place, detail);
            }
            // Which models there are is the provider's to say; where it is, nobody else can.
            let base_url = row.base_url.as_deref().unwrap_or_default().trim();
            if base_url.is_empty() && !self.is_reachable(&id) {
                self.found(&rules::INCOMPLETE_PROVIDER, &place, "baseUrl is missing");
            }
            ids.push((place, id));
        }
        self.twice(ids);
    }

    fn twice<T: std::hash::Hash + Eq + std::fmt::Display>(&mut self, entries: Vec<(String, T)>) {
        let mut places: HashMap<T, String> = HashMap::new();
        for (place, id) in entries {
            if let Some(earlier) = places.get(&id) {
                let detail = format!("`{id}` is already at {earlier}");
                self.found(&rules::DUPLICATE_ENTRY, place, detail);
            } else {
                places.insert(id, place);
            }
        }
    }
}
