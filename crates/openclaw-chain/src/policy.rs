//! The table that turns who chose the model into what may follow it (S-2.1, chain.md 9, A4, A5, A9).

mod situation;

use openclaw_ids::{AgentId, ModelRef};

use crate::resolver::Resolver;
use crate::source::Requested;
use crate::source::{RunKind, Selection, SelectionFacts, SelectionSource as Source};

use situation::Situation;

/// One row: the first one whose condition holds decides.
struct Row {
    source: Source,
    when: When,
    ask: Ask,
    list: List,
}

/// When a row holds.
#[derive(Clone, Copy)]
enum When {
    /// The agent has fallbacks of its own.
    AgentListsFallbacks,
    /// The agent names a primary.
    AgentNamesPrimary,
    Always,
    ChannelModel,
    Cron,
    CronListsFallbacks,
    CronNamesModel,
    HeartbeatModel,
    InheritedAuto,
    InheritedPin,
    MemoryFlush,
    OneOffChain,
    OneOffStrict,
    StoredAuto,
    StoredLegacy,
    StoredUser,
    SubagentModel,
    SubagentStoredAuto,
}

/// Which model is asked for.
#[derive(Clone, Copy)]
enum Ask {
    AgentPrimary,
    ChannelModel,
    /// Payload, hook, override, configured, in this order.
    CronSelection,
    /// The model the run itself names.
    Named,
    Stored,
    SubagentModel,
}

/// Which list is passed.
#[derive(Clone, Copy)]
enum List {
    /// What the agent's setting imposes (chain.md 9.1), else none.
    Agent,
    /// What the agent's setting imposes, else the default fallbacks, passed explicitly (B3).
    AgentElseDefault,
    /// The agent's fallbacks if it has any, else the default ones, passed explicitly (A4).
    AgentFallbacksElseDefault,
    /// The list the same session would have on an ordinary turn.
    AsStored,
    /// None: the configured fallbacks and then the configured primary.
    Configured,
    /// S-2.4.
    Cron,
    /// An empty list.
    Nothing,
    /// The job's own.
    Payload,
    /// The first imposed by the agent's sub-agents, the default sub-agents, the agent; else as for an automatic
    /// override (B6).
    SubagentElseDefault,
    /// What the sub-agent setting that names the model imposes (B7).
    SubagentModel,
}

#[rustfmt::skip]
static ROWS: &[Row] = &[
    Row { source: Source::OneOff,            when: When::OneOffStrict,        ask: Ask::Named,         list: List::Nothing },
    Row { source: Source::OneOff,            when: When::OneOffChain,         ask: Ask::Named,         list: List::Agent },
    Row { source: Source::MemoryFlush,       when: When::MemoryFlush,         ask: Ask::Named,         list: List::Nothing },
    Row { source: Source::HeartbeatModel,    when: When::HeartbeatModel,      ask: Ask::Named,         list: List::AsStored },
    Row { source: Source::CronFallbacks,     when: When::CronListsFallbacks,  ask: Ask::CronSelection, list: List::Payload },
    Row { source: Source::CronModel,         when: When::CronNamesModel,      ask: Ask::Named,         list: List::AgentFallbacksElseDefault },
    Row { source: Source::Cron,              when: When::Cron,                ask: Ask::CronSelection, list: List::Cron },
    Row { source: Source::InheritedOverride, when: When::InheritedPin,        ask: Ask::Stored,        list: List::Nothing },
    Row { source: Source::InheritedOverride, when: When::InheritedAuto,       ask: Ask::Stored,        list: List::AgentElseDefault },
    Row { source: Source::UserOverride,      when: When::StoredUser,          ask: Ask::Stored,        list: List::Nothing },
    Row { source: Source::LegacyOverride,    when: When::StoredLegacy,        ask: Ask::Stored,        list: List::Nothing },
    Row { source: Source::Subagent,          when: When::SubagentStoredAuto,  ask: Ask::Stored,        list: List::SubagentElseDefault },
    Row { source: Source::AutoOverride,      when: When::StoredAuto,          ask: Ask::Stored,        list: List::AgentElseDefault },
    Row { source: Source::Subagent,          when: When::SubagentModel,       ask: Ask::SubagentModel, list: List::SubagentModel },
    Row { source: Source::ChannelModel,      when: When::ChannelModel,        ask: Ask::ChannelModel,  list: List::Configured },
    Row { source: Source::AgentChain,        when: When::AgentListsFallbacks, ask: Ask::AgentPrimary,  list: List::Agent },
    Row { source: Source::AgentPrimary,      when: When::AgentNamesPrimary,   ask: Ask::AgentPrimary,  list: List::Agent },
    Row { source: Source::ConfiguredDefault, when: When::Always,              ask: Ask::AgentPrimary,  list: List::Configured },
];

impl Resolver {
    /// Decides which model a run asks for and what may follow it, and says why (S-2.1).
    pub fn select(&self, facts: &SelectionFacts<'_>) -> Selection {
        let mut trace = Vec::new();
        let situation = Situation::new(self, facts, &mut trace);
        let row = row(&situation);
        let (requested, why) = situation.ask(row.ask);
        trace.push(format!("{}: asks for {requested}, because {why}", row.source));
        let (fallbacks, why) = situation.list(row.list);
        let last = fallbacks
            .as_ref()
            .and_then(|_| situation.replaced_primary(row))
            .filter(|primary| *primary != requested);
        trace.push(describe_list(fallbacks.as_deref(), last.as_ref(), &why));
        let strict = last.is_none() && fallbacks.as_ref().is_some_and(Vec::is_empty);
        Selection {
            requested: Requested::from(&requested),
            fallbacks,
            last,
            strict,
            source: row.source,
            primary: situation.session_primary(),
            ignored: situation.ignored,
            trace,
        }
    }

    /// The chain of an agent without any override: its primary and what may follow it.
    pub fn configured_chain(&self, agent: &AgentId) -> Vec<ModelRef> {
        let selection = self.select(&SelectionFacts::new(agent, RunKind::Turn));
        self.selected_chain(&selection.requested, &selection)
    }
}

/// The first row that holds.
fn row(situation: &Situation<'_>) -> &'static Row {
    let last = &ROWS[ROWS.len() - 1];
    ROWS.iter().find(|row| situation.holds(row.when)).unwrap_or(last)
}

fn describe_list(fallbacks: Option<&[String]>, last: Option<&ModelRef>, why: &str) -> String {
    let Some(list) = fallbacks else {
        return format!("fallbacks: {why}, then the configured primary");
    };
    let names = if list.is_empty() {
        "none".to_owned()
    } else {
        list.join(", ")
    };
    let end = match last {
        Some(primary) => {
            format!("then the configured primary {primary}, because a fallback wrote the override (F-4)")
        }
        None if list.is_empty() => "the run is strict".to_owned(),
        None => "the primary is not appended".to_owned(),
    };
    format!("fallbacks: {names}, {why}; {end}")
}

#[cfg(test)]
mod tests;
