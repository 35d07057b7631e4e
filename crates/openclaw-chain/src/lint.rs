//! What in a configuration will probably not do what its author meant (BL-98).

mod credentials;
mod entries;
mod members;
mod rules;

use std::collections::HashMap;

use openclaw_ids::{AgentId, ModelRef, ProviderId};
use openclaw_providers::is_built_in;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::alias::AliasIndex;
use crate::config::{AgentConfig, ChainConfig, ModelSetting, SettingForm, non_blank};
use crate::names::split_profile;
use crate::primary::{Found, Primary};
use crate::resolver::Resolver;

pub use credentials::Credentials;
pub use rules::{LINT_RULES, LintRule, Severity};

use members::Member;

/// One thing that was found; in JSON an object of `code`, `severity`, `place`, `detail` and `remedy`.
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

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Finding", 5)?;
        object.serialize_field("code", self.rule.code)?;
        object.serialize_field("severity", &self.rule.severity.to_string())?;
        object.serialize_field("place", &self.place)?;
        object.serialize_field("detail", &self.detail)?;
        object.serialize_field("remedy", self.rule.remedy)?;
        object.end()
    }
}

/// Looks over a configuration; findings are in the order of the configuration. Whether a candidate has a credential
/// is only asked when the caller says which there are.
pub fn lint(config: &ChainConfig, credentials: Option<&Credentials>) -> Vec<Finding> {
    let resolver = Resolver::new(config);
    let mut lint = Lint {
        config,
        resolver: &resolver,
        credentials,
        findings: Vec::new(),
    };
    lint.model_map();
    lint.defaults();
    lint.agent_ids();
    lint.agents();
    lint.providers();
    lint.findings
}

struct Lint<'a> {
    config: &'a ChainConfig,
    resolver: &'a Resolver,
    credentials: Option<&'a Credentials>,
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
        let names_one = |agent: &AgentConfig| {
            agent
                .model
                .primary()
                .or(agent.subagents.model.primary())
                .is_some()
        };
        if defaults.subagents.model.primary().is_some() && !agents.is_empty() && agents.iter().all(names_one)
        {
            let place = place("agents.defaults.subagents.model", &defaults.subagents.model);
            self.found(
                &rules::UNUSED_SUBAGENTS,
                place,
                "no listed agent's sub-agents use it",
            );
        }
    }

    fn setting_of_images(&mut self) {
        let setting = &self.config.agents.defaults.image_model.model;
        let path = "agents.defaults.imageModel";
        self.keys(path, setting);
        self.reference(&format!("{path}.primary"), setting.primary());
        let aliases = &self.resolver.images;
        let first = setting.primary();
        let first = first.and_then(|text| aliases.resolve(text, &self.resolver.names));
        self.chain(path, setting, first.as_ref(), aliases);
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
        self.chain(&path, setting, first.as_ref(), &self.resolver.aliases);
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
        if setting.primary().is_some() && !self.resolver.is_allowed(agent, first) {
            self.found(
                &rules::PRIMARY_NOT_ALLOWED,
                at,
                format!("`{first}` is not listed"),
            );
        }
        self.chain(path, setting, Some(first), &self.resolver.aliases);
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
        let Some(text) = text.filter(|text| non_blank(text).is_some()) else {
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

    /// The candidates of a setting: `first` and what its fallbacks mean.
    fn chain(&mut self, path: &str, setting: &ModelSetting, first: Option<&ModelRef>, aliases: &AliasIndex) {
        let mut members: Vec<Member> = Vec::new();
        members.extend(first.map(|model| Member {
            place: place(path, setting),
            model: model.clone(),
        }));
        let mut seen: HashMap<ModelRef, usize> = HashMap::new();
        for (index, text) in setting.fallbacks().unwrap_or_default().iter().enumerate() {
            let place = format!("{path}.fallbacks[{index}]");
            let Some(model) = self.fallback(&place, text, aliases) else {
                continue;
            };
            if first == Some(&model) {
                let detail = format!("`{text}` is the primary itself");
                self.found(&rules::PRIMARY_AS_FALLBACK, place, detail);
            } else if let Some(earlier) = seen.get(&model) {
                let detail = format!("`{text}` is the same model as fallbacks[{earlier}]");
                self.found(&rules::DUPLICATE_FALLBACK, place, detail);
            } else {
                seen.insert(model.clone(), index);
                members.push(Member { place, model });
            }
        }
        self.members(path, &members);
    }

    fn fallback(&mut self, place: &str, text: &str, aliases: &AliasIndex) -> Option<ModelRef> {
        let (name, _profile) = split_profile(text);
        let Some(model) = aliases.resolve(text, &self.resolver.names) else {
            let detail = format!("`{text}` is left out of the chain");
            self.found(&rules::UNREADABLE_MODEL, place, detail);
            return None;
        };
        self.profile(place, text);
        if name.contains('*') {
            let detail = format!("`{name}` is tried as a model of that name");
            self.found(&rules::WILDCARD_FALLBACK, place, detail);
        }
        self.bare(place, name, &model);
        Some(model)
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

    fn is_known(&self, provider: &ProviderId) -> bool {
        self.is_reachable(provider) || self.config.models.provider(provider).is_some()
    }

    /// Whether somebody knows where the provider is without being told.
    fn is_reachable(&self, provider: &ProviderId) -> bool {
        is_built_in(provider) || self.credentials.is_some_and(|known| known.reaches(provider))
    }
}

/// Where the primary of a setting stands.
fn place(path: &str, setting: &ModelSetting) -> String {
    match (setting.form(), setting.primary()) {
        (SettingForm::Object, Some(_)) => format!("{path}.primary"),
        (SettingForm::Absent | SettingForm::Object | SettingForm::Text, _) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
