//! The facts of one run as the selection table sees them.

use openclaw_ids::{AgentId, ModelRef};

use super::{Ask, List, Row, When, row};
use crate::config::{ModelSetting, SettingForm, non_blank};
use crate::resolver::Resolver;
use crate::source::{
    CronBasis, CronPayload, IgnoredOverride, OneOffPolicy, OverrideOwner, RunKind, SelectionFacts,
    StoredOverride,
};

/// What a heartbeat with a model of its own is compared to (row H1).
static ORDINARY_TURN: RunKind = RunKind::Turn;
/// What stands in place of an override that is not used.
static NO_OVERRIDE: StoredOverride = StoredOverride::None;

/// The facts of one run, with its texts resolved.
pub(super) struct Situation<'a> {
    resolver: &'a Resolver,
    agent: &'a AgentId,
    run: &'a RunKind,
    stored: &'a StoredOverride,
    owner: OverrideOwner,
    pub(super) ignored: Option<IgnoredOverride>,
    named: Option<ModelRef>,
    hook: Option<ModelRef>,
    channel: Option<ModelRef>,
}

/// The names of the settings that decide about sub-agents.
const OWN_SUBAGENTS: &str = "the agent's subagents.model";
const OWN_MODEL: &str = "the agent's model";
const DEFAULT_SUBAGENTS: &str = "agents.defaults.subagents.model";

/// The setting that names the model of sub-agents.
struct SubagentSetting<'a> {
    setting: &'a ModelSetting,
    model: ModelRef,
    name: &'static str,
}

/// Where a scheduled job's model comes from.
enum CronOrigin {
    Configured,
    Hook,
    Payload,
    Stored,
    Subagent,
}

impl<'a> Situation<'a> {
    pub(super) fn new(
        resolver: &'a Resolver,
        facts: &'a SelectionFacts<'a>,
        trace: &mut Vec<String>,
    ) -> Self {
        let ignored = ignored(resolver, facts);
        match ignored {
            Some(IgnoredOverride::LegacyAuto) => {
                trace.push("the stored automatic override has no origin and is ignored (S-2.2d)".to_owned());
            }
            Some(IgnoredOverride::Disallowed) => trace.push(
                "the stored override is not in agents.defaults.models and is ignored (S-2.1d)".to_owned(),
            ),
            None => {}
        }
        let mut resolve = |what: &str, text: Option<&str>| {
            let text = text.filter(|text| non_blank(text).is_some())?;
            let model = resolver.resolve(text);
            if model.is_none() {
                trace.push(format!(
                    "{what} `{text}` is not a model reference and is ignored; write `provider/model`"
                ));
            }
            model
        };
        let (named, hook) = match &facts.run {
            RunKind::Cron(payload) => (
                resolve("payload.model", payload.model.as_deref()),
                resolve("the hook model", payload.hook_model.as_deref()),
            ),
            RunKind::Heartbeat { model } => {
                let own = model.as_deref().filter(|text| non_blank(text).is_some());
                let text = own.or(resolver.defaults.heartbeat.as_deref());
                (resolve("heartbeat.model", text), None)
            }
            RunKind::MemoryFlush { model } => (resolve("the memory-flush model", Some(model)), None),
            RunKind::OneOff { model, .. } => (Some(model.clone()), None),
            RunKind::Subagent | RunKind::Turn => (None, None),
        };
        Self {
            resolver,
            agent: facts.agent,
            run: &facts.run,
            stored: if ignored.is_some() {
                &NO_OVERRIDE
            } else {
                &facts.stored
            },
            owner: facts.owner,
            ignored,
            named,
            hook,
            channel: resolve("the channel model", facts.channel_model.as_deref()),
        }
    }

    /// The model the session would use without any override (S-2.3).
    pub(super) fn session_primary(&self) -> ModelRef {
        let channel = self.channel.clone();
        channel.unwrap_or_else(|| self.resolver.agent_primary(self.agent))
    }

    /// The configured model that an automatic override stands in for, where the row `decides` uses such an override (F-4).
    pub(super) fn replaced_primary(&self, decides: &Row) -> Option<ModelRef> {
        if !self.uses_automatic_override(decides) {
            return None;
        }
        let subagent = matches!(self.run, RunKind::Subagent).then(|| self.subagent_setting());
        let subagent = subagent.flatten().map(|found| found.model);
        Some(subagent.unwrap_or_else(|| self.session_primary()))
    }

    fn uses_automatic_override(&self, decides: &Row) -> bool {
        let automatic = matches!(self.stored, StoredOverride::Auto(_));
        match decides.list {
            List::AsStored => {
                let ordinary = self.as_ordinary_turn();
                ordinary.uses_automatic_override(row(&ordinary))
            }
            List::Payload => false,
            List::Agent
            | List::AgentElseDefault
            | List::AgentFallbacksElseDefault
            | List::Configured
            | List::Cron
            | List::Nothing
            | List::SubagentElseDefault
            | List::SubagentModel => match decides.ask {
                Ask::Stored => automatic,
                Ask::CronSelection => automatic && matches!(self.cron_origin().0, CronOrigin::Stored),
                Ask::AgentPrimary | Ask::ChannelModel | Ask::Named | Ask::SubagentModel => false,
            },
        }
    }

    pub(super) fn holds(&self, when: When) -> bool {
        let own = self.owner == OverrideOwner::Session;
        let pinned = matches!(self.stored, StoredOverride::User(_) | StoredOverride::Legacy(_));
        let auto = matches!(self.stored, StoredOverride::Auto(_));
        let subagent = matches!(self.run, RunKind::Subagent);
        match when {
            When::AgentListsFallbacks => self
                .agent_model()
                .is_some_and(|model| model.fallbacks().is_some()),
            When::AgentNamesPrimary => self.agent_model().is_some_and(|model| model.primary().is_some()),
            When::Always => true,
            When::ChannelModel => self.channel.is_some(),
            When::Cron => self.cron().is_some(),
            When::CronListsFallbacks => self.cron().is_some_and(|payload| payload.fallbacks.is_some()),
            When::CronNamesModel => self.cron().is_some() && self.named.is_some(),
            When::HeartbeatModel => matches!(self.run, RunKind::Heartbeat { .. }) && self.named.is_some(),
            When::InheritedAuto => !own && auto,
            When::InheritedPin => !own && pinned,
            When::MemoryFlush => matches!(self.run, RunKind::MemoryFlush { .. }) && self.named.is_some(),
            When::OneOffChain => self.one_off() == Some(OneOffPolicy::Chain),
            When::OneOffStrict => self.one_off() == Some(OneOffPolicy::Strict),
            When::StoredAuto => auto,
            When::StoredLegacy => matches!(self.stored, StoredOverride::Legacy(_)),
            When::StoredUser => matches!(self.stored, StoredOverride::User(_)),
            When::SubagentModel => subagent && self.subagent_setting().is_some(),
            When::SubagentStoredAuto => subagent && auto,
        }
    }

    /// The model asked for, and why.
    pub(super) fn ask(&self, ask: Ask) -> (ModelRef, String) {
        let configured = || {
            let primary = self.resolver.agent_primary_found(self.agent);
            (primary.model.clone(), primary.found.to_string())
        };
        let given = |model: &Option<ModelRef>, why: &str| Some((model.clone()?, why.to_owned()));
        let answer = match ask {
            Ask::AgentPrimary => None,
            Ask::ChannelModel => given(&self.channel, "the channel has a model"),
            Ask::CronSelection => match self.cron_origin() {
                (CronOrigin::Configured, _) => None,
                (CronOrigin::Hook, model) => given(&model, "the mail hook names it"),
                (CronOrigin::Payload, model) => given(&model, "payload.model names it"),
                (CronOrigin::Stored, model) => given(&model, "the session holds it as an override"),
                (CronOrigin::Subagent, model) => given(&model, "the sub-agent setting names it"),
            },
            Ask::Named => given(&self.named, "the run names it"),
            Ask::Stored => given(&self.stored_model(), "the override holds it"),
            Ask::SubagentModel => {
                let found = self.subagent_setting();
                found.map(|found| (found.model, format!("{} names it", found.name)))
            }
        };
        answer.unwrap_or_else(configured)
    }

    /// The list to pass, and why.
    pub(super) fn list(&self, list: List) -> (Option<Vec<String>>, String) {
        let imposed = self.agent_model().and_then(ModelSetting::imposed);
        match list {
            List::Agent => match imposed {
                Some(own) => passed(own, "because the agent's own model setting decides (B2)"),
                None => configured(),
            },
            List::AgentElseDefault => match imposed {
                Some(own) => passed(own, "because the agent's own model setting decides (B2, S-2.2c)"),
                None => self.default_list("because the override keeps the configured chain (B3)"),
            },
            List::AgentFallbacksElseDefault => match self.agent_model().and_then(ModelSetting::fallbacks) {
                Some(own) => passed(own, "because the agent lists fallbacks (A4)"),
                None => self.default_list("because a job's model keeps the configured fallbacks (A4)"),
            },
            List::AsStored => {
                let ordinary = self.as_ordinary_turn();
                let row = row(&ordinary);
                let (list, why) = ordinary.list(row.list);
                (list, format!("{why}, as for {} (S-2.5)", row.source))
            }
            List::Configured => configured(),
            List::Cron => self.cron_list(),
            List::Nothing => passed(&[], "because this choice is exact (B4)"),
            List::Payload => {
                let own = self.cron().and_then(|payload| payload.fallbacks.as_deref());
                passed(
                    own.unwrap_or_default(),
                    "because payload.fallbacks lists them (B8)",
                )
            }
            List::SubagentModel => match self.subagent_setting() {
                Some(SubagentSetting { setting, name, .. }) => passed(
                    setting.imposed().unwrap_or_default(),
                    &format!("because {name} decides (B7)"),
                ),
                None => configured(),
            },
            List::SubagentElseDefault => self.subagent_list(),
        }
    }

    fn default_list(&self, why: &str) -> (Option<Vec<String>>, String) {
        passed(self.resolver.defaults.model.fallbacks().unwrap_or_default(), why)
    }

    /// S-2.4, after the job's own list.
    fn cron_list(&self) -> (Option<Vec<String>>, String) {
        let defaults = &self.resolver.defaults.model;
        let setting = self.agent_model();
        match self.cron_origin().0 {
            CronOrigin::Subagent => return self.list(List::SubagentModel),
            CronOrigin::Configured => {
                let repeats_default = setting.is_some_and(|setting| setting.form() == SettingForm::Text)
                    && self.resolver.agent_primary(self.agent) == self.resolver.primary();
                let listed = defaults.fallbacks().unwrap_or_default();
                if repeats_default && !listed.is_empty() {
                    return passed(listed, "because the agent only repeats the default primary (B10)");
                }
            }
            CronOrigin::Hook | CronOrigin::Payload | CronOrigin::Stored => {}
        }
        self.list(List::Agent)
    }

    /// B6.
    fn subagent_list(&self) -> (Option<Vec<String>>, String) {
        let entry = self.resolver.agent(self.agent);
        let settings = [
            (entry.map(|agent| &agent.subagents.model), OWN_SUBAGENTS),
            (Some(&self.resolver.defaults.subagents), DEFAULT_SUBAGENTS),
            (entry.map(|agent| &agent.model), OWN_MODEL),
        ];
        let first = settings
            .iter()
            .find_map(|(setting, name)| Some(((*setting)?.imposed()?, name)));
        match first {
            Some((list, name)) => passed(list, &format!("because {name} decides (B6)")),
            None => self.list(List::AgentElseDefault),
        }
    }

    fn as_ordinary_turn(&self) -> Situation<'a> {
        Situation {
            resolver: self.resolver,
            agent: self.agent,
            run: &ORDINARY_TURN,
            stored: self.stored,
            owner: self.owner,
            ignored: self.ignored,
            named: None,
            hook: None,
            channel: None,
        }
    }

    fn agent_model(&self) -> Option<&'a ModelSetting> {
        self.resolver.agent(self.agent).map(|agent| &agent.model)
    }

    fn cron(&self) -> Option<&'a CronPayload> {
        match self.run {
            RunKind::Cron(payload) => Some(payload),
            RunKind::Heartbeat { .. }
            | RunKind::MemoryFlush { .. }
            | RunKind::OneOff { .. }
            | RunKind::Subagent
            | RunKind::Turn => None,
        }
    }

    fn cron_origin(&self) -> (CronOrigin, Option<ModelRef>) {
        let subagent = match self.cron().map(|payload| payload.basis) {
            Some(CronBasis::Subagent) => self.subagent_setting().map(|found| found.model),
            Some(CronBasis::Agent) | None => None,
        };
        let sources = [
            (CronOrigin::Payload, self.named.clone()),
            (CronOrigin::Hook, self.hook.clone()),
            (CronOrigin::Stored, self.stored_model()),
            (CronOrigin::Subagent, subagent),
        ];
        let first = sources.into_iter().find(|(_, model)| model.is_some());
        first.unwrap_or((CronOrigin::Configured, None))
    }

    fn stored_model(&self) -> Option<ModelRef> {
        match self.stored {
            StoredOverride::Auto(model) | StoredOverride::Legacy(model) | StoredOverride::User(model) => {
                Some(model.clone())
            }
            StoredOverride::LegacyAuto | StoredOverride::None => None,
        }
    }

    /// The setting that names the model of sub-agents, and that model (B7): the first one with a primary that can
    /// be resolved. An agent's own model means for them what it means for the agent.
    fn subagent_setting(&self) -> Option<SubagentSetting<'a>> {
        let entry = self.resolver.agent(self.agent);
        let resolve = |setting: &'a ModelSetting| self.resolver.resolve(setting.primary()?);
        let own = entry.map(|agent| &agent.subagents.model);
        let agent = entry.map(|agent| &agent.model);
        let defaults = &self.resolver.defaults.subagents;
        let agent_primary =
            |setting: &ModelSetting| setting.primary().map(|_| self.resolver.agent_primary(self.agent));
        let settings = [
            (own, own.and_then(resolve), OWN_SUBAGENTS),
            (agent, agent.and_then(agent_primary), OWN_MODEL),
            (Some(defaults), resolve(defaults), DEFAULT_SUBAGENTS),
        ];
        settings.into_iter().find_map(|(setting, model, name)| {
            Some(SubagentSetting {
                setting: setting?,
                model: model?,
                name,
            })
        })
    }

    fn one_off(&self) -> Option<OneOffPolicy> {
        let RunKind::OneOff { model, policy } = self.run else {
            return None;
        };
        Some(match policy {
            OneOffPolicy::ChainWhenConfigured => {
                let model = self.resolver.names.normalise(model);
                if self.resolver.configured_chain(self.agent).contains(&model) {
                    OneOffPolicy::Chain
                } else {
                    OneOffPolicy::Strict
                }
            }
            OneOffPolicy::Chain | OneOffPolicy::Strict => *policy,
        })
    }
}

fn configured() -> (Option<Vec<String>>, String) {
    (None, "those of agents.defaults.model".to_owned())
}

fn passed(list: &[String], why: &str) -> (Option<Vec<String>>, String) {
    (Some(list.to_vec()), why.to_owned())
}

/// Whether the stored override must not be used (S-2.1d, S-2.2d).
fn ignored(resolver: &Resolver, facts: &SelectionFacts<'_>) -> Option<IgnoredOverride> {
    let agent = facts.agent;
    let permitted = match &facts.stored {
        StoredOverride::LegacyAuto => return Some(IgnoredOverride::LegacyAuto),
        StoredOverride::None => true,
        StoredOverride::User(model) | StoredOverride::Legacy(model) => resolver.is_allowed(agent, model),
        // A fallback may have gone to any model the configuration names, listed or not.
        StoredOverride::Auto(model) => {
            resolver.is_allowed(agent, model) || is_configured(resolver, agent, model)
        }
    };
    (!permitted).then_some(IgnoredOverride::Disallowed)
}

fn is_configured(resolver: &Resolver, agent: &AgentId, model: &ModelRef) -> bool {
    let own = resolver.agent(agent).map(|agent| &agent.subagents.model);
    let subagents = own.into_iter().chain([&resolver.defaults.subagents]);
    let named = subagents.flat_map(|setting| {
        let fallbacks = setting.fallbacks().unwrap_or_default();
        setting
            .primary()
            .into_iter()
            .chain(fallbacks.iter().map(String::as_str))
    });
    let listed = resolver.applicable_fallbacks(agent).iter().map(String::as_str);
    let model = resolver.names.normalise(model);
    resolver.agent_primary(agent) == model
        || named
            .chain(listed)
            .filter_map(|text| resolver.resolve(text))
            .any(|known| known == model)
}
