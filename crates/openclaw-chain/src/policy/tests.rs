//! Who may fall back: every row of S-2.1 and of chain.md 9, and decisions A4, A5 and A9.

mod choices;
mod jobs;

use openclaw_ids::ModelRef;
use serde_json::{Value, json};

use super::*;
use crate::source::{
    CronBasis, CronPayload, IgnoredOverride, OneOffPolicy, SelectionSource as S, StoredOverride,
};
use crate::testing::{agent, model, owned, pairs, resolver};

/// A run of the agent `ops` under these settings.
struct Case {
    defaults: Value,
    agent: Value,
    run: RunKind,
    stored: StoredOverride,
    inherited: bool,
    channel: Option<&'static str>,
}

/// The defaults of the specification's examples: primary `p/p`, fallbacks `[groq/f]`.
fn case() -> Case {
    Case {
        defaults: json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] } }),
        agent: json!({}),
        run: RunKind::Turn,
        stored: StoredOverride::None,
        inherited: false,
        channel: None,
    }
}

impl Case {
    fn defaults(self, defaults: Value) -> Self {
        Self { defaults, ..self }
    }

    fn agent(self, agent: Value) -> Self {
        Self { agent, ..self }
    }

    fn run(self, run: RunKind) -> Self {
        Self { run, ..self }
    }

    fn stored(self, stored: StoredOverride) -> Self {
        Self { stored, ..self }
    }

    fn inherited(self) -> Self {
        Self {
            inherited: true,
            ..self
        }
    }

    fn channel(self, model: &'static str) -> Self {
        Self {
            channel: Some(model),
            ..self
        }
    }

    fn select(&self) -> (Selection, Vec<ModelRef>) {
        let mut entry = self.agent.clone();
        entry["id"] = json!("ops");
        let resolver = resolver(json!({ "agents": { "defaults": self.defaults, "list": [entry] } }));
        let agent = agent("ops");
        let mut facts = SelectionFacts::new(&agent, self.run.clone());
        facts = if self.inherited {
            facts.with_inherited(self.stored.clone())
        } else {
            facts.with_stored(self.stored.clone())
        };
        if let Some(channel) = self.channel {
            facts = facts.with_channel_model(channel);
        }
        let selection = resolver.select(&facts);
        let chain = resolver.selected_chain(&selection.requested, &selection);
        let explained = resolver.explain_selected_chain(&selection.requested, &selection);
        assert_eq!(explained.into_models(), chain);
        (selection, chain)
    }
}

/// Source, requested, list (`None` = not supplied) and the resulting chain.
fn check(case: &Case, source: S, list: Option<&[&str]>, chain: &str) {
    let (selection, candidates) = case.select();
    let told = format!(
        "{:?} {} {:?}: {:#?}",
        case.run, case.agent, case.stored, selection.trace
    );
    assert_eq!(selection.source, source, "{told}");
    assert_eq!(selection.fallbacks, list.map(owned), "{told}");
    assert_eq!(pairs(&candidates), chain, "{told}");
    let strict = list.is_some_and(<[&str]>::is_empty) && selection.last.is_none();
    assert_eq!(selection.strict, strict, "{told}");
    assert!(selection.trace.len() >= 2, "{told}");
}

fn auto(text: &str) -> StoredOverride {
    StoredOverride::Auto(model(text))
}

fn user(text: &str) -> StoredOverride {
    StoredOverride::User(model(text))
}

fn legacy(text: &str) -> StoredOverride {
    StoredOverride::Legacy(model(text))
}

fn cron(model: Option<&str>, fallbacks: Option<&[&str]>) -> RunKind {
    RunKind::Cron(CronPayload {
        model: model.map(str::to_owned),
        fallbacks: fallbacks.map(owned),
        ..CronPayload::default()
    })
}

fn heartbeat(model: Option<&str>) -> RunKind {
    RunKind::Heartbeat {
        model: model.map(str::to_owned),
    }
}

fn one_off(text: &str, policy: OneOffPolicy) -> RunKind {
    RunKind::OneOff {
        model: model(text),
        policy,
    }
}

/// B1 to B5 and B11, S-2.1b, S-2.2a and S-2.2c.
/// B1, B2 and B3 among them: whose list follows, and that an automatic override keeps walking the configured one.
#[test]
fn rows_a_to_f_and_the_table_of_9_1() {
    // Agent setting; list without an override, with an automatic one, with a user's or legacy one.
    let unset: Option<&[&str]> = None;
    let (nothing, default, own): (&[&str], &[&str], &[&str]) = (&[], &["groq/f"], &["a/b"]);
    for (setting, source, primary, without, with_auto) in [
        (json!(null), S::ConfiguredDefault, "p+p", unset, default),
        (json!(""), S::ConfiguredDefault, "p+p", unset, default),
        (json!(" "), S::ConfiguredDefault, "p+p", unset, default),
        (json!({}), S::ConfiguredDefault, "p+p", unset, default),
        (
            json!({ "primary": "" }),
            S::ConfiguredDefault,
            "p+p",
            unset,
            default,
        ),
        (json!("q/q"), S::AgentPrimary, "q+q", Some(nothing), nothing),
        (
            json!({ "primary": "q/q" }),
            S::AgentPrimary,
            "q+q",
            Some(nothing),
            nothing,
        ),
        (
            json!({ "fallbacks": [] }),
            S::AgentChain,
            "p+p",
            Some(nothing),
            nothing,
        ),
        (
            json!({ "primary": "q/q", "fallbacks": [] }),
            S::AgentChain,
            "q+q",
            Some(nothing),
            nothing,
        ),
        (
            json!({ "fallbacks": ["a/b"] }),
            S::AgentChain,
            "p+p",
            Some(own),
            own,
        ),
        (
            json!({ "primary": "q/q", "fallbacks": ["a/b"] }),
            S::AgentChain,
            "q+q",
            Some(own),
            own,
        ),
    ] {
        let setting = if setting.is_null() {
            json!({})
        } else {
            json!({ "model": setting })
        };
        let base = || case().agent(setting.clone());
        let chain = |first: &str, list: Option<&[&str]>| {
            let listed = list
                .unwrap_or(default)
                .iter()
                .map(|text| text.replacen('/', "+", 1));
            let primary = list
                .is_none()
                .then(|| "p+p".to_owned())
                .filter(|_| first != "p+p");
            let all: Vec<String> = [first.to_owned()]
                .into_iter()
                .chain(listed)
                .chain(primary)
                .collect();
            all.join("; ")
        };
        check(&base(), source, without, &chain(primary, without));
        check(
            &base().stored(auto("o/o")),
            S::AutoOverride,
            Some(with_auto),
            // F-4: the configured primary follows the list.
            &format!("{}; {primary}", chain("o+o", Some(with_auto))),
        );
        check(&base().stored(user("o/o")), S::UserOverride, Some(nothing), "o+o");
        check(
            &base().stored(legacy("o/o")),
            S::LegacyOverride,
            Some(nothing),
            "o+o",
        );
    }
}

#[test]
fn every_row_of_the_table_can_decide() {
    use std::collections::BTreeSet;
    let sources: BTreeSet<S> = ROWS.iter().map(|row| row.source).collect();
    let names: BTreeSet<&str> = sources.iter().map(|source| source.row().0).collect();
    let all = [
        "A", "B", "C", "D", "E", "F", "G1", "G2", "G3", "H1", "I", "J", "K", "L", "M",
    ];
    assert_eq!(names, BTreeSet::from(all));
}

/// BL-62: a background run is resolved as any other.
#[test]
fn bl_98_the_trace_of_every_kind_of_run() {
    let defaults = json!({
        "model": { "primary": "gpt", "fallbacks": ["groq/f"] },
        "subagents": { "model": { "primary": "s/s", "fallbacks": ["s/t"] } },
        "heartbeat": { "model": "h/h" },
    });
    let cases = [
        ("default", case()),
        (
            "agent",
            case().agent(json!({ "model": { "primary": "q/q", "fallbacks": ["a/b"] } })),
        ),
        ("strict agent", case().agent(json!({ "model": "q/q" }))),
        ("automatic override", case().stored(auto("o/o"))),
        ("user override", case().stored(user("o/o"))),
        ("broken override", case().stored(StoredOverride::LegacyAuto)),
        ("parent's override", case().stored(user("o/o")).inherited()),
        ("cron", case().run(cron(Some("x/"), None))),
        ("cron with a model", case().run(cron(Some("q/m"), None))),
        ("heartbeat", case().run(heartbeat(None)).stored(user("o/o"))),
        ("sub-agent", case().run(RunKind::Subagent)),
        (
            "memory flush",
            case().run(RunKind::MemoryFlush {
                model: "m/m".to_owned(),
            }),
        ),
        (
            "one-off",
            case().run(one_off("groq/f", OneOffPolicy::ChainWhenConfigured)),
        ),
    ];
    let told: Vec<String> = cases
        .into_iter()
        .map(|(name, case)| {
            let (selection, chain) = case.defaults(defaults.clone()).select();
            format!(
                "{name}\n  {}\n  chain: {}\n",
                selection.trace.join("\n  "),
                pairs(&chain)
            )
        })
        .collect();
    insta::assert_snapshot!("traces", told.join("\n"));
}
