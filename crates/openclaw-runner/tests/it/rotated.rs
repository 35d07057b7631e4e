//! A session moves on while a run is busy: a compaction is followed, a reset ends the run's writes (S1, S-13).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_chain::{Requested, Resolver, RunKind};
use openclaw_classify::Failure;
use openclaw_ids::{AgentId, ModelRef, SessionId, SessionKey};
use openclaw_runner::{Attempt, AttemptCall, RunPolicy, Runner, Turn, TurnSession, plan};
use openclaw_session::{
    MemorySessionStore, Reset, Revision, RotationCause, SessionAge, SessionEntry, SessionRotation,
    SessionStore, TurnKind, record_compaction, reset,
};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;

type TestRunner = Runner<PausedClock, MemoryAuthStore, MemorySessionStore>;

fn start() -> Timestamp {
    Timestamp::from_second(START).unwrap()
}

fn key() -> SessionKey {
    "agent:main:main".parse().unwrap()
}

/// Fails as often as it is told, and moves the session on during the second call.
struct Moves {
    runner: TestRunner,
    sessions: Arc<MemorySessionStore>,
    cause: RotationCause,
    failures: usize,
    calls: AtomicUsize,
}

impl Moves {
    async fn move_on(&self) {
        let new: SessionId = "session-2".parse().unwrap();
        let moved = |entry: &SessionEntry| match self.cause {
            RotationCause::Compaction => record_compaction(entry, Some(new.clone()), start()),
            RotationCause::Expiry | RotationCause::Reset => {
                reset(entry, new.clone(), &Reset::NewSession, start())
            }
        };
        let key = key();
        let written = openclaw_session::update(&*self.sessions, &key, |entry| {
            let next = moved(entry.unwrap());
            (Some(next), ())
        });
        written.await.unwrap();
        let rotated = SessionRotation {
            old: "session-1".parse().unwrap(),
            new: "session-2".parse().unwrap(),
            cause: self.cause,
        };
        self.runner.session_rotated(&key, &rotated);
    }
}

impl Attempt for Moves {
    type Output = ();

    async fn attempt(&self, _: AttemptCall) -> Result<(), Failure> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if call == 1 {
            self.move_on().await;
        }
        if call < self.failures {
            return Err(Failure {
                status: Some(503),
                ..Failure::default()
            });
        }
        Ok(())
    }
}

/// The session after a run of three models that fails so often, and what it was before.
async fn after(cause: RotationCause, failures: usize) -> SessionEntry {
    let config = json!({ "agents": { "defaults": { "model": {
        "primary": "anthropic/claude", "fallbacks": ["openai/gpt", "groq/llama"],
    } } } });
    let resolver = Resolver::new(&serde_json::from_value(config).unwrap());
    let policy = Arc::new(RunPolicy::default());
    let usage = MemoryAuthStore::new(AuthSnapshot::default(), policy.auth.cooldowns.clone());
    let sessions = Arc::new(MemorySessionStore::default());
    let entry = SessionEntry::new("session-1".parse().unwrap(), start());
    sessions
        .compare_and_set(&key(), Revision::NONE, entry.clone())
        .await
        .unwrap();
    let clock = Arc::new(PausedClock::new(start()));
    let runner = Runner::new(clock, Arc::new(usage), Arc::clone(&sessions), Arc::clone(&policy));
    let turn = Turn {
        run_id: "run-1".to_owned(),
        agent: &AgentId::main(),
        run: RunKind::Turn,
        kind: TurnKind::Normal,
        session: Some(TurnSession {
            key: &key(),
            entry: &entry,
            age: SessionAge::Continuing,
        }),
        lane: None,
    };
    let planned = plan(&resolver, &policy, &AuthSnapshot::default(), turn, start());
    assert_ne!(planned.request.requested, Requested::default());
    let attempt = Moves {
        runner: runner.clone(),
        sessions: Arc::clone(&sessions),
        cause,
        failures,
        calls: AtomicUsize::new(0),
    };
    if let Ok(done) = runner.run(planned.request, &attempt).await {
        done.run.finished().await;
    }
    sessions.load(&key()).await.unwrap().unwrap().entry
}

fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn s1_a_fallback_that_answers_stays_chosen_after_a_compaction() {
    let entry = after(RotationCause::Compaction, 1).await;
    assert_eq!(entry.session_id.as_str(), "session-2");
    let provider = "anthropic".parse().unwrap();
    assert_eq!(entry.override_ref(&provider), Some(model("openai/gpt")));
    assert_eq!(
        entry.last_answer.model,
        Some("gpt".parse().unwrap()),
        "the answer is remembered"
    );
}

#[tokio::test(start_paused = true)]
async fn s1_after_a_compaction_the_next_candidate_is_still_written_and_all_of_it_rolled_back() {
    let provider = "anthropic".parse().unwrap();
    let entry = after(RotationCause::Compaction, 2).await;
    assert_eq!(entry.override_ref(&provider), Some(model("groq/llama")));
    let entry = after(RotationCause::Compaction, 3).await;
    assert_eq!(
        (entry.session_id.as_str(), entry.override_ref(&provider)),
        ("session-2", None)
    );
}

#[tokio::test(start_paused = true)]
async fn s1_after_a_reset_the_run_writes_nothing_more() {
    let provider = "anthropic".parse().unwrap();
    for cause in [RotationCause::Expiry, RotationCause::Reset] {
        for failures in [1, 2, 3] {
            let entry = after(cause, failures).await;
            assert_eq!(entry.session_id.as_str(), "session-2");
            assert_eq!(entry.override_ref(&provider), None, "{cause:?} {failures}");
            assert_eq!(entry.last_answer.model, None, "no answer of the old conversation");
        }
    }
}
