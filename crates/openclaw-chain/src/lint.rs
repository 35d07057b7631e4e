//! What in a configuration will probably not do what its author meant (BL-98).

mod rules;

use std::collections::HashMap;

use openclaw_ids::{AgentId, ModelRef, ProviderId};

use crate::alias::AliasIndex;
use crate::config::{ChainConfig, Form, ModelSetting, ProviderConfig};
use crate::names::wildcard;
use crate::primary::{Found, Primary};
use crate::profile_suffix::split_profile;
use crate::resolver::Resolver;

pub use rules::{LINT_RULES, LintRule, Severity};

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub rule: &'static LintRule,
    /// Where, as a path such as `agents.defaults.model.fallbacks[1]`.
    pub place: String,
    /// What was found there.
    pub detail: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let LintRule {
            code,
            severity,
            remedy,
        } = self.rule;
        write!(
            f,
            "{severity}: {}: {} [{code}]\n  {remedy}",
            self.place, self.detail
        )
    }
}

/// Looks over a configuration; findings are in the order of the configuration.
pub fn lint(config: &ChainConfig) -> Vec<Finding> {
    let resolver = Resolver::new(config);
    let mut lint = Lint {
        config,
        resolver: &resolver,
        findings: Vec::new(),
    };
    lint.aliases();
    lint.defaults();
    lint.agents();
    lint.providers();
    lint.findings
}

struct Lint<'a> {
    config: &'a ChainConfig,
    resolver: &'a Resolver,
    findings: Vec<Finding>,
}

impl Lint<'_> {
    fn found(&mut self, rule: &'static LintRule, place: impl Into<String>, detail: impl Into<String>) {
        self.findings.push(Finding {
            rule,
            place: place.into(),
            detail: detail.into(),
        });
    }

    fn aliases(&mut self) {
        let mut owners: HashMap<String, &str> = HashMap::new();
        for (key, entry) in &self.config.agents.defaults.models {
            let alias = entry.alias.as_deref().unwrap_or_default().trim();
            if alias.is_empty() || wildcard(key).is_some() {
                continue;
            }
            if let Some(earlier) = owners.insert(alias.to_lowercase(), key) {
                let place = format!("agents.defaults.models[\"{key}\"].alias");
                self.found(
                    &rules::ALIAS_TWICE,
                    place,
                    format!("`{alias}` is also the alias of `{earlier}`"),
                );
            }
        }
    }

    fn defaults(&mut self) {
        let defaults = &self.config.agents.defaults;
        let agent = self.config.default_agent();
        self.setting(
            "agents.defaults.model",
            &defaults.model,
            &self.resolver.primary,
            &agent,
        );
        self.setting_of_images();
        self.subagents("agents.defaults", &defaults.subagents.model);
        self.reference(
            "agents.defaults.heartbeat.model",
            defaults.heartbeat.model.as_deref(),
        );
        self.reference("agents.defaults.utilityModel", defaults.utility_model.as_deref());
        let listed = defaults.model.fallbacks().unwrap_or_default();
        let agents = &self.config.agents.list;
        let all_differ = agents.iter().all(|agent| agent.model.fallbacks().is_some());
        if !listed.is_empty() && !agents.is_empty() && all_differ {
            self.found(
                &rules::UNUSED_FALLBACKS,
                "agents.defaults.model.fallbacks",
                "no listed agent uses these",
            );
        }
    }

    fn setting_of_images(&mut self) {
        let setting = &self.config.agents.defaults.image_model.model;
        let path = "agents.defaults.imageModel";
        self.keys(path, setting);
        self.reference(&format!("{path}.primary"), setting.primary());
        let chain = self.resolver.image_chain(None);
        let first = chain.first().filter(|_| setting.primary().is_some());
        self.fallbacks(path, setting, first, &self.resolver.images);
        self.candidates(path, &chain);
    }

    fn agents(&mut self) {
        let default_list = self.config.agents.defaults.model.fallbacks().unwrap_or_default();
        for (index, agent) in self.config.agents.list.iter().enumerate() {
            let entry = format!("agents.list[{index}]");
            let path = format!("{entry}.model");
            let setting = &agent.model;
            if setting.imposed().is_some() {
                let id = agent.agent_id();
                self.setting(&path, setting, self.resolver.agent_primary_found(&id), &id);
            } else {
                self.keys(&path, setting);
            }
            if setting.imposed().is_some_and(<[String]>::is_empty) && !default_list.is_empty() {
                if setting.fallbacks().is_some() {
                    self.found(
                        &rules::EMPTY_FALLBACKS,
                        format!("{path}.fallbacks"),
                        "the default fallbacks do not apply",
                    );
                } else {
                    self.found(&rules::PRIMARY_ONLY, path, "the default fallbacks do not apply");
                }
            }
            self.subagents(&entry, &agent.subagents.model);
            self.reference(&format!("{entry}.utilityModel"), agent.utility_model.as_deref());
        }
    }

    fn subagents(&mut self, entry: &str, setting: &ModelSetting) {
        let path = format!("{entry}.subagents.model");
        self.keys(&path, setting);
        let first = setting.primary().and_then(|text| self.resolver.resolve(text));
        self.reference(&place(&path, setting), setting.primary());
        self.fallbacks(&path, setting, first.as_ref(), &self.resolver.aliases);
        let listed = setting.fallbacks().unwrap_or_default().iter();
        let listed = listed.filter_map(|text| self.resolver.resolve(text));
        let chain: Vec<ModelRef> = first.into_iter().chain(listed).collect();
        self.candidates(&path, &chain);
    }

    /// A setting whose primary and fallbacks form a chain of text models.
    fn setting(&mut self, path: &str, setting: &ModelSetting, primary: &Primary, agent: &AgentId) {
        let first = &primary.model;
        self.keys(path, setting);
        let at = place(path, setting);
        if let Some(text) = setting.primary() {
            match &primary.found {
                Found::Guessed(_) => {
                    self.found(
                        &rules::GUESSED_PROVIDER,
                        &at,
                        format!("`{text}` is taken as `{first}`"),
                    );
                }
                Found::Unreadable(..) => {
                    self.found(
                        &rules::UNREADABLE_MODEL,
                        &at,
                        format!("`{text}`; `{first}` is used instead"),
                    );
                }
                Found::Alias(_) | Found::BuiltIn | Found::FirstRow | Found::Inferred(_) | Found::Named(_) => {
                }
            }
            self.profile(&at, text);
        }
        self.fallbacks(path, setting, Some(first), &self.resolver.aliases);
        if setting.primary().is_some() && !self.resolver.is_allowed(agent, first) {
            self.found(
                &rules::PRIMARY_NOT_ALLOWED,
                at,
                format!("`{first}` is not listed"),
            );
        }
        let listed = setting.fallbacks().unwrap_or_default();
        let chain = self.resolver.chain(&first.into(), Some(listed));
        self.candidates(path, &chain);
    }

    fn keys(&mut self, path: &str, setting: &ModelSetting) {
        for key in setting.unknown_keys() {
            self.found(
                &rules::UNKNOWN_KEY,
                format!("{path}.{key}"),
                format!("`{key}` is ignored"),
            );
        }
    }

    /// A text that should be a model and stands alone.
    fn reference(&mut self, place: &str, text: Option<&str>) {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return;
        };
        if self.resolver.resolve(text).is_none() {
            self.found(&rules::UNREADABLE_MODEL, place, format!("`{text}` is ignored"));
        }
        self.profile(place, text);
    }

    fn profile(&mut self, place: &str, text: &str) {
        if let (_, Some(profile)) = split_profile(text) {
            self.found(
                &rules::PROFILE_DROPPED,
                place,
                format!("`@{profile}` has no effect"),
            );
        }
    }

    /// The fallbacks behind `first`.
    fn fallbacks(
        &mut self,
        path: &str,
        setting: &ModelSetting,
        first: Option<&ModelRef>,
        aliases: &AliasIndex,
    ) {
        let mut seen: HashMap<ModelRef, usize> = HashMap::new();
        for (index, text) in setting.fallbacks().unwrap_or_default().iter().enumerate() {
            let place = format!("{path}.fallbacks[{index}]");
            let (name, _profile) = split_profile(text);
            let Some(model) = aliases.resolve(text, &self.resolver.names) else {
                self.found(
                    &rules::UNREADABLE_MODEL,
                    place,
                    format!("`{text}` is left out of the chain"),
                );
                continue;
            };
            self.profile(&place, text);
            if wildcard(name).is_some() {
                self.found(
                    &rules::WILDCARD_FALLBACK,
                    &place,
                    format!("`{name}` is tried as a model of that name"),
                );
            }
            self.bare(&place, name, &model);
            if first == Some(&model) {
                self.found(
                    &rules::PRIMARY_AS_FALLBACK,
                    place,
                    format!("`{text}` is the primary itself"),
                );
            } else if let Some(earlier) = seen.insert(model.clone(), index) {
                seen.insert(model, earlier);
                let detail = format!("`{text}` is the same model as fallbacks[{earlier}]");
                self.found(&rules::DUPLICATE_FALLBACK, place, detail);
            }
        }
    }

    /// A fallback without a provider that exactly one other configured provider has.
    fn bare(&mut self, place: &str, name: &str, model: &ModelRef) {
        if name.contains('/') || self.resolver.aliases.by_name(name).is_some() {
            return;
        }
        let elsewhere = self.resolver.names.unique_provider(name);
        if let Some(provider) = elsewhere.filter(|provider| provider != model.provider()) {
            let detail = format!("`{name}` means `{model}`, though only `{provider}` is configured with it");
            self.found(&rules::BARE_FALLBACK, place, detail);
        }
    }

    fn candidates(&mut self, path: &str, chain: &[ModelRef]) {
        let mut unknown: Vec<&ProviderId> = Vec::new();
        for model in chain {
            let provider = model.provider();
            if !self.is_known(provider) && !unknown.contains(&provider) {
                unknown.push(provider);
            }
        }
        for provider in unknown {
            self.found(
                &rules::UNKNOWN_PROVIDER,
                path,
                format!("nothing is known about `{provider}`"),
            );
        }
        if let [first, _, ..] = chain
            && chain.iter().all(|model| model.provider() == first.provider())
        {
            self.found(
                &rules::ONE_PROVIDER,
                path,
                format!("all candidates are models of `{}`", first.provider()),
            );
        }
    }

    fn is_known(&self, provider: &ProviderId) -> bool {
        is_built_in(provider) || self.config.models.provider(provider).is_some()
    }

    fn providers(&mut self) {
        for (key, row) in &self.config.models.providers {
            let built_in = ProviderId::try_new(key).is_ok_and(|id| is_built_in(&id));
            if !built_in && let Some(missing) = missing(row) {
                self.found(
                    &rules::INCOMPLETE_PROVIDER,
                    format!("models.providers[\"{key}\"]"),
                    format!("{missing} is missing"),
                );
            }
        }
    }
}

fn is_built_in(provider: &ProviderId) -> bool {
    rules::BUILT_IN_PROVIDERS.contains(&provider.as_str())
}

fn missing(row: &ProviderConfig) -> Option<&'static str> {
    let base_url = row.base_url.as_deref().unwrap_or_default().trim();
    match (base_url.is_empty(), row.models.is_empty()) {
        (true, true) => Some("baseUrl and models"),
        (true, false) => Some("baseUrl"),
        (false, true) => Some("models"),
        (false, false) => None,
    }
}

/// Where the primary of a setting stands.
fn place(path: &str, setting: &ModelSetting) -> String {
    match setting.form() {
        Form::Absent | Form::Text => path.to_owned(),
        Form::Object => format!("{path}.primary"),
    }
}

#[cfg(test)]
mod tests;
