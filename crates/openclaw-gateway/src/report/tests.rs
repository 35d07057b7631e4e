//! Reports of a small installation: an agent of its own beneath the main agent, windows of several kinds, a session on
//! a fallback.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::{Credential, Secret, UsageChange, inherit};
use openclaw_chain::{OneOffPolicy, RunKind};
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{
    CooldownConfig, FailureEvent, GateFacts, MarkScope, Position, ProbeSlot, ProfileUsage, Window,
};
use openclaw_ids::{ModelId, ModelRef, ProfileId, ProviderId};

use super::probes::next_probe;
use super::profiles::ProfilesReport;
use super::*;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// When all of it happens.
const START: i64 = 1_700_000_000_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(START + millis).unwrap()
}

/// What an agent's files hold.
#[derive(Default)]
struct Store(AuthSnapshot);

impl Store {
    fn with(mut self, id: &str, key: &str) -> Self {
        let provider: ProviderId = id.split_once(':').unwrap().0.parse().unwrap();
        let credential = Credential::api_key(provider, Secret::new(key));
        self.0.upsert(id.parse().unwrap(), credential).unwrap();
        self
    }

    fn failing(mut self, id: &str, reason: Reason, model: Option<&str>, until: Option<i64>) -> Self {
        let profile: ProfileId = id.parse().unwrap();
        let event = FailureEvent {
            provider: self.0.credential(&profile).unwrap().provider().clone(),
            reason,
            scope: if model.is_some() {
                MarkScope::Model
            } else {
                MarkScope::Profile
            },
            model: model.map(|model| model.parse().unwrap()),
            hint: until.map(|end| ResetHint::new(at(end), HintSource::Body, at(0))),
            started_at: None,
        };
        let change = UsageChange::Failure { profile, event };
        self.0.apply(&change, at(0), &CooldownConfig::default());
        self
    }
}

const CONFIG: &str = "{
  agents: {
    defaults: { model: { primary: 'openai/gpt', fallbacks: ['anthropic/claude', 'nowhere/m', 'groq/llama', 'openai/gpt'] } },
    list: [{ id: 'main', default: true }, { id: 'ops', model: 'groq/llama' }],
  },
}";

fn main_store() -> Store {
    Store::default()
        .with("openai:work", "sk-openai-0123456789")
        .with("openai:home", "sk-openai-9876543210")
        .with("anthropic:a", "sk-ant-0123456789")
        .failing("openai:work", Reason::RateLimit, Some("gpt"), None)
        .failing("openai:home", Reason::RateLimit, None, Some(5 * HOUR))
        .failing("anthropic:a", Reason::Billing, None, None)
}

fn sessions() -> Vec<(SessionKey, SessionEntry)> {
    let entry = |text: &str| serde_json::from_str::<SessionEntry>(text).unwrap();
    vec![
        (
            "agent:main:one".parse().unwrap(),
            entry(
                r#"{"sessionId": "s1", "updatedAt": 1700000000000, "providerOverride": "anthropic",
                    "modelOverride": "claude", "modelOverrideSource": "auto",
                    "modelOverrideFallbackOriginProvider": "openai", "modelOverrideFallbackOriginModel": "gpt",
                    "fallbackNoticeSelectedModel": "openai/gpt", "fallbackNoticeActiveModel": "anthropic/claude",
                    "fallbackNoticeReason": "rate limit", "failover": {"fallbackSince": 1699999990000}}"#,
            ),
        ),
        (
            "agent:main:two".parse().unwrap(),
            entry(
                r#"{"sessionId": "s2", "updatedAt": 1690000000000, "modelOverride": "groq/llama",
                    "authProfileOverride": "groq:x", "authProfileOverrideSource": "user"}"#,
            ),
        ),
    ]
}

/// Calls `look` with the installation and the main agent and its dependant.
fn with_agents<T>(look: impl FnOnce(&Installation<'_>, [AgentState<'_>; 2]) -> T) -> T {
    let config = Config::parse(Path::new("/c/openclaw.json"), CONFIG).unwrap();
    let (resolver, aliases) = (Resolver::new(&config.chain), AuthAliases::default());
    let nothing = openclaw_config::Environment::of([], Path::new("/"));
    let sources = crate::providers::SecretSources::new(&config.secrets, &nothing);
    let endpoints = Endpoints::try_new(&config.chain.models, &sources).unwrap();
    let installation = Installation {
        config: &config,
        resolver: &resolver,
        endpoints: &endpoints,
        aliases: &aliases,
        sources: &sources,
    };
    let (main, own) = (main_store().0, Store::default().with("groq:x", "gsk-1").0);
    let (seen, sessions) = (inherit(&main, &own), sessions());
    let (main_id, ops) = (AgentId::main(), AgentId::new("ops"));
    let main_state = AgentState {
        agent: &main_id,
        folder: Path::new("/state/agents/main/agent"),
        seen: &main,
        own: &main,
        main: None,
        sessions: &sessions,
    };
    let ops = AgentState {
        agent: &ops,
        folder: Path::new("/state/agents/ops/agent"),
        seen: &seen,
        own: &own,
        main: Some(&main),
        sessions: &[],
    };
    look(&installation, [main_state, ops])
}

#[test]
fn the_whole_report_as_json() {
    let report = with_agents(|installation, states| {
        let report = StatusReport::of(installation, &states, at(MINUTE / 6));
        assert_eq!(report.worst(), Some(Level::Failing));
        serde_json::to_string_pretty(&report).unwrap()
    });
    insta::assert_snapshot!("status", report);
    assert!(!report.contains("sk-"), "no secret is told");
}

#[test]
fn d14_inherited_credentials_are_reported_as_the_main_agents() {
    with_agents(|installation, [_, ops]| {
        let report = ProfilesReport::of(installation, &ops, at(0));
        let owners: Vec<(&str, &str)> = report
            .profiles
            .iter()
            .filter(|profile| !profile.is_local())
            .map(|profile| (profile.id.as_str(), profile.owner.as_str()))
            .collect();
        assert_eq!(
            owners,
            [
                ("groq:x", "ops"),
                ("openai:work", "main"),
                ("openai:home", "main"),
                ("anthropic:a", "main"),
            ]
        );
    });
}

#[test]
fn bl_98_a_chain_says_who_chose_and_what_can_be_asked() {
    with_agents(|installation, [main, ops]| {
        let chain = |state: &AgentState<'_>, asking: ChainQuery<'_>| {
            let report = ChainReport::of(installation, state, asking, at(0));
            let models = report.candidates.iter();
            let models: Vec<String> = models
                .map(|candidate| format!("{} {:?}", candidate.model, candidate.state))
                .collect();
            (report.source, report.strict, report.tries_primary_again, models)
        };
        let turn = |session: usize| ChainQuery {
            run: RunKind::Turn,
            session: Some((&main.sessions[session].0, &main.sessions[session].1)),
        };
        let one_off = ChainQuery {
            run: RunKind::OneOff {
                model: "groq/llama".parse().unwrap(),
                policy: OneOffPolicy::Strict,
            },
            session: None,
        };
        let plain = ChainQuery {
            run: RunKind::Turn,
            session: None,
        };
        insta::assert_debug_snapshot!(
            "chains",
            [
                chain(&main, plain.clone()),
                chain(&main, turn(0)),
                chain(&main, turn(1)),
                chain(&ops, plain),
                chain(&ops, one_off),
            ]
        );
        let images = ChainReport::of_images(installation, &main, None, at(0));
        assert!(images.candidates.is_empty() && images.first_asked().is_none());
    });
}

/// The first half minute at which the gate would probe, by asking it at each.
fn naive_probe(facts: &GateFacts<'_>, end: i64) -> Option<i64> {
    let ticks = (0..end).step_by(TICK);
    ticks.into_iter().find(|tick| {
        let gate = openclaw_cooldown::gate(facts, at(*tick));
        matches!(gate, openclaw_cooldown::Gate::Probe(_))
    })
}

/// Half a minute; every wait of the gate is a multiple of it.
const TICK: usize = 30_000;

#[test]
fn the_next_probe_is_when_the_gate_would_let_it_through() {
    let model: ModelId = "m".parse().unwrap();
    for (lane, reason, end, stated) in [
        ("model:m", Reason::RateLimit, 10, false),
        ("model:m", Reason::RateLimit, 1, false),
        ("model:m", Reason::RateLimit, 600, true),
        ("profile", Reason::Auth, 30, false),
        ("billing", Reason::Billing, 300, false),
        ("billing", Reason::Billing, 1_440, false),
        ("blocked", Reason::RateLimit, 300, true),
        ("blocked", Reason::RateLimit, 20, true),
    ] {
        let until = at(end * MINUTE);
        let mut window = Window::new(at(0), until, reason);
        window.stated = stated.then_some(until);
        let usage = ProfileUsage {
            windows: BTreeMap::from([(lane.parse().unwrap(), window)]),
            last_failure_at: Some(at(0)),
            ..ProfileUsage::default()
        };
        for position in [Position::Primary, Position::Fallback] {
            let facts = GateFacts {
                position,
                is_only_candidate: false,
                model: &model,
                profiles: &[&usage],
                endpoint: None,
                last_probe_at: None,
                has_earlier_sibling: false,
                slot: ProbeSlot::Free,
            };
            let found = next_probe(&facts, at(0));
            let millis = found.map(|found| found.as_millisecond() - START);
            let expected = naive_probe(&facts, end * MINUTE);
            assert_eq!(millis, expected, "{lane} {reason} {end} {position:?}");
        }
    }
}

#[test]
fn s5_the_origin_is_the_selected_model_while_a_fallback_answers() {
    let configured: ModelRef = "openai/gpt".parse().unwrap();
    let shown: Vec<String> = sessions()
        .iter()
        .map(|(key, entry)| {
            let report = SessionReport::of(key, entry, &configured);
            serde_json::to_string_pretty(&report).unwrap()
        })
        .collect();
    insta::assert_snapshot!("sessions", shown.join("\n"));
}

#[test]
fn the_reason_of_a_rest_and_its_end_are_those_of_one_credential() {
    let store = Store::default()
        .with("openai:paid", "sk-openai-0123456789")
        .with("openai:free", "sk-openai-9876543210")
        .failing("openai:paid", Reason::Billing, None, None)
        .failing("openai:free", Reason::RateLimit, None, Some(2 * HOUR));
    with_agents(|installation, [main, _]| {
        let state = AgentState {
            seen: &store.0,
            own: &store.0,
            ..main
        };
        let asking = ChainQuery {
            run: RunKind::Turn,
            session: None,
        };
        let chain = ChainReport::of(installation, &state, asking, at(MINUTE));
        let first = &chain.candidates[0];
        assert_eq!(
            (first.reason, first.free_at),
            (Some(Reason::RateLimit), Some(at(2 * HOUR)))
        );
    });
}
