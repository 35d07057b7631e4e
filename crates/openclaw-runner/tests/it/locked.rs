//! A store that stays locked delays an answer, and never for long.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore};
use openclaw_chain::Requested;
use openclaw_runner::{RunPolicy, RunRequest, Runner};
use openclaw_session::MemorySessionStore;
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::script::{Answer, Script};
use crate::slow::Locked;

/// R-9.8b: a success that cannot be booked changes nothing about the answer either.
#[tokio::test(start_paused = true)]
async fn r3_marks_that_cannot_be_written_now_hold_up_neither_the_next_model_nor_the_answer() {
    let start = Timestamp::from_second(START).unwrap();
    let mut snapshot = AuthSnapshot::default();
    for provider in ["anthropic", "openai"] {
        let entry = json!({ "type": "api_key", "provider": provider, "key": "sk-test" });
        let id = format!("{provider}:a").parse().unwrap();
        snapshot
            .profiles
            .insert(id, Credential::from_json(&entry).unwrap());
    }
    let policy = Arc::new(RunPolicy::default());
    let usage = Locked(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone()));
    let clock = Arc::new(PausedClock::new(start));
    let runner = Runner::new(
        clock,
        Arc::new(usage),
        Arc::new(MemorySessionStore::default()),
        policy,
    );
    let script = Script::new(HashMap::from([(
        "anthropic/claude".to_owned(),
        vec![json!("503 busy")],
    )]));
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::default(),
        chain: vec!["anthropic/claude".parse().unwrap(), "openai/gpt".parse().unwrap()],
        pin: None,
    };
    let began = tokio::time::Instant::now();
    let done = runner.run(request, &*script).await.unwrap();
    assert_eq!((done.value, done.winner.index), (Answer::Complete, 1));
    done.run.finished().await;
    assert!(began.elapsed() <= Duration::from_secs(5), "{:?}", began.elapsed());
}
