//! A session that takes long to be written.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_chain::Requested;
use openclaw_ids::ModelRef;
use openclaw_runner::{PersistPolicy, RunPolicy, RunRequest, RunSession, Runner};
use openclaw_session::{
    MemorySessionStore, Revision, SelectionSnapshot, SessionEntry, SessionStore, TurnKind,
};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::script::Script;
use crate::slow::Queued;

fn request() -> RunRequest {
    let chain: Vec<ModelRef> = ["anthropic/claude", "openai/gpt", "groq/llama"]
        .map(|text| text.parse().unwrap())
        .into();
    RunRequest {
        run_id: "run-1".to_owned(),
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: "agent:main:main".parse().unwrap(),
            id: "session-1".parse().unwrap(),
            kind: TurnKind::Normal,
            read: SelectionSnapshot::default(),
            persist: PersistPolicy::BeforeAttempt,
            probe: None,
        }),
        lane: None,
        requested: Requested::from(&chain[0]),
        chain,
        pin: None,
    }
}

/// The run does not wait for a choice to be written, and neither for what takes it back; that happens all the same.
#[tokio::test(start_paused = true)]
async fn s_4_a_choice_that_was_written_late_is_taken_back_when_the_run_got_no_answer() {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let store = Arc::new(MemorySessionStore::default());
    let entry = SessionEntry::new("session-1".parse().unwrap(), start);
    let key = "agent:main:main".parse().unwrap();
    store
        .compare_and_set(&key, Revision::NONE, entry.clone())
        .await
        .unwrap();
    let sessions = Queued {
        store,
        takes: Duration::from_secs(15),
        turn: Arc::default(),
    };
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::new(MemoryAuthStore::new(
            AuthSnapshot::default(),
            policy.auth.cooldowns.clone(),
        )),
        Arc::new(sessions.clone()),
        policy,
    );
    let models = ["anthropic/claude", "openai/gpt", "groq/llama"];
    let outcomes = models.map(|model| (model.to_owned(), vec![json!("503 busy")]));
    let script = Script::new(outcomes.into());
    assert!(runner.run(request(), &*script).await.is_err());
    let after = sessions.load(&key).await.unwrap().unwrap().entry;
    assert_eq!(after.selection(), entry.selection());
}
