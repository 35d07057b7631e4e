//! The list of candidates that a run walks, as a configuration and a request make it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_chain::{Requested, Resolver};
use openclaw_ids::ModelRef;
use openclaw_runner::{
    PersistPolicy, RunEvent, RunObserver, RunPolicy, RunRequest, RunSession, RunSettings, Runner,
};
use openclaw_session::{MemorySessionStore, SelectionSnapshot, TurnKind};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::script::Script;

const PRIMARY: &str = "anthropic/claude";

fn resolver() -> Resolver {
    let config = json!({ "agents": { "defaults": {
        "model": { "primary": PRIMARY, "fallbacks": ["openai/gpt", "fast", "openai/gpt"] },
        "models": { "groq/llama": { "alias": "fast" }, "anthropic/claude": {} },
    } } });
    Resolver::new(&serde_json::from_value(config).unwrap())
}

fn chain(provider: &str, model: &str, fallbacks: Option<&[&str]>) -> Vec<String> {
    let requested = Requested {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    let fallbacks: Option<Vec<String>> = fallbacks.map(|list| list.iter().map(ToString::to_string).collect());
    let chain = resolver().chain(&requested, fallbacks.as_deref());
    chain.iter().map(ModelRef::key).collect()
}

#[test]
fn r_2_1_r_2_2_r_2_4_the_requested_model_then_the_list_each_once() {
    // `openai/gpt` is not on the allowlist of `models`, and stays.
    assert_eq!(
        chain("anthropic", "claude", None),
        [PRIMARY, "openai/gpt", "groq/llama"]
    );
}

#[test]
fn r_2_3_without_a_list_of_its_own_the_configured_primary_comes_last() {
    // also when the run begins at a fallback, or at a model of another provider.
    assert_eq!(
        chain("openai", "gpt", None),
        ["openai/gpt", "groq/llama", PRIMARY]
    );
    assert_eq!(
        chain("local", "qwen", None),
        ["local/qwen", "openai/gpt", "groq/llama", PRIMARY]
    );
}

#[test]
fn r_2_6_an_empty_request_means_the_configured_primary() {
    assert_eq!(chain("", "", None)[0], PRIMARY);
}

#[test]
fn r_2_7_an_empty_list_leaves_a_chain_of_one() {
    assert_eq!(chain("openai", "gpt", Some(&[])), ["openai/gpt"]);
    // a list of its own takes the place of the configured one, whole.
    assert_eq!(
        chain("openai", "gpt", Some(&["local/qwen"])),
        ["openai/gpt", "local/qwen"]
    );
}

#[test]
fn r_2_8_the_requested_model_may_be_an_alias() {
    assert_eq!(chain("groq", "fast", Some(&[])), ["groq/llama"]);
    assert_eq!(
        chain("anthropic", "fast", Some(&[])),
        ["groq/llama"],
        "of the default provider"
    );
}

#[derive(Default)]
struct Seen(Mutex<Vec<RunEvent>>);

impl RunObserver for Seen {
    fn on_event(&self, event: &RunEvent) {
        self.0.lock().unwrap().push(event.clone());
    }
}

type TestRunner = Runner<PausedClock, MemoryAuthStore, MemorySessionStore>;

fn runner() -> TestRunner {
    let start = Timestamp::from_second(START).unwrap();
    let settings = RunSettings {
        auth_skip_ttl: std::time::Duration::from_mins(1),
        ..RunSettings::default()
    };
    let policy = RunPolicy {
        settings,
        ..RunPolicy::default()
    };
    Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::new(MemoryAuthStore::new(
            AuthSnapshot::default(),
            policy.auth.cooldowns.clone(),
        )),
        Arc::new(MemorySessionStore::default()),
        Arc::new(policy),
    )
}

fn request() -> RunRequest {
    let chain: Vec<ModelRef> = [PRIMARY, "openai/gpt", "groq/llama"]
        .map(|text| text.parse().unwrap())
        .into();
    RunRequest {
        run_id: "run-1".to_owned(),
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: "agent:main:main".parse().unwrap(),
            id: "session-1".parse().unwrap(),
            kind: TurnKind::StatePreserving,
            read: SelectionSnapshot::default(),
            persist: PersistPolicy::Never,
            probe: None,
        }),
        lane: None,
        requested: Requested::from(&chain[0]),
        chain,
        pin: None,
    }
}

/// The calls of a run whose second model refuses its login, by `runner`.
async fn calls(runner: &TestRunner) -> Vec<String> {
    let outcomes = [
        (PRIMARY.to_owned(), vec![json!("503 busy")]),
        ("openai/gpt".to_owned(), vec![json!("401 invalid api key")]),
    ];
    let script = Script::new(outcomes.into());
    runner.run(request(), &*script).await.unwrap();
    script.calls()
}

#[tokio::test(start_paused = true)]
async fn r_6_7_a_restart_forgets_who_refused_its_login() {
    let process = runner();
    assert_eq!(calls(&process).await.len(), 3);
    assert_eq!(calls(&process).await.len(), 2, "the fallback is skipped");
    assert_eq!(calls(&runner()).await.len(), 3, "a new process asks it again");
}

#[tokio::test(start_paused = true)]
async fn f_1_an_answer_ends_what_is_noted_of_a_refused_login() {
    let process = runner();
    assert_eq!(calls(&process).await.len(), 3);
    assert_eq!(calls(&process).await.len(), 2, "the fallback is skipped");
    // As the requested model it is asked all the same, and answers.
    let mut direct = request();
    direct.chain = vec!["openai/gpt".parse().unwrap()];
    direct.requested = Requested::from(&direct.chain[0]);
    let good = Script::new(HashMap::default());
    process.run(direct, &*good).await.unwrap();
    assert_eq!(good.calls().len(), 1);
    assert_eq!(calls(&process).await.len(), 3, "it is asked again");
}

#[tokio::test(start_paused = true)]
async fn r_12_5d_an_observer_is_told_every_step_also_those_that_the_log_holds_back() {
    let seen = Arc::new(Seen::default());
    let process = runner().with_observer(Arc::clone(&seen) as _);
    for _ in 0..2 {
        calls(&process).await;
    }
    let events = seen.0.lock().unwrap();
    let steps = events.iter().filter_map(|event| match event {
        RunEvent::Candidate(decision) => decision.step.as_ref(),
        RunEvent::Rotation(_) => None,
    });
    let places: Vec<_> = steps.map(|step| step.chain_position).collect();
    assert_eq!(places, [1, 2, 3, 1, 2, 3]);
}
