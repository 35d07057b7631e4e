//! Dropping a run at any point leaves nothing behind (A3, S1).

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, UsageChange, UsageStore};
use openclaw_chain::{Requested, Resolver};
use openclaw_classify::{Failure, Reason};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelRef, SessionKey};
use openclaw_providers::AuthAliases;
use openclaw_runner::{
    Attempt, AttemptCall, PersistPolicy, RunPolicy, RunRequest, RunSession, RunSettings, Runner,
};
use openclaw_session::{MemorySessionStore, Revision, SessionEntry, SessionStore, TurnKind};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::slow::Slow;

/// Fails the first candidate and answers with the second, each after yielding `waits` times.
struct Yielding {
    waits: usize,
}

impl Attempt for Yielding {
    type Output = ();

    async fn attempt(&self, call: AttemptCall) -> Result<(), Failure> {
        for _ in 0..self.waits {
            tokio::task::yield_now().await;
        }
        if call.position == 1 {
            let provider = Some(call.candidate.provider().clone());
            return Err(Failure {
                provider,
                status: Some(503),
                ..Failure::default()
            });
        }
        Ok(())
    }
}

/// Polls `future` at most `polls` times and then drops it; true when it was finished by then.
async fn poll_at_most<F: Future>(future: F, polls: usize) -> bool {
    let mut future = Box::pin(future);
    let mut left = polls;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a3_s1_dropping_a_run_after_any_poll_restores_the_session_and_marks_nothing_more() {
    let mut finished = false;
    for polls in 0..200 {
        finished = drop_after(polls).await;
        if finished {
            break;
        }
    }
    assert!(finished, "the run never ended within the polls tried");
}

/// The primary rests and is due for a probe, fails once more, and the fallback answers.
async fn drop_after(polls: usize) -> bool {
    let start = Timestamp::from_second(START).unwrap();
    let mut snapshot = AuthSnapshot::default();
    for id in ["anthropic:a", "openai:a"] {
        let provider = id.split(':').next().unwrap();
        let entry = json!({ "type": "api_key", "provider": provider, "key": "sk-test" });
        snapshot
            .profiles
            .insert(id.parse().unwrap(), Credential::from_json(&entry).unwrap());
    }
    let rest = UsageChange::Failure {
        profile: "anthropic:a".parse().unwrap(),
        event: FailureEvent {
            provider: "anthropic".parse().unwrap(),
            reason: Reason::Timeout,
            scope: MarkScope::Model,
            model: Some("claude".parse().unwrap()),
            hint: None,
            started_at: None,
        },
    };
    for ago in [200, 40] {
        let then = start - SignedDuration::from_secs(ago);
        snapshot.apply(&rest, then, &RunPolicy::default().auth.cooldowns);
    }
    let policy = Arc::new(RunPolicy {
        aliases: AuthAliases::default(),
        settings: RunSettings::default(),
        ..RunPolicy::default()
    });
    let usage = Arc::new(Slow(MemoryAuthStore::new(
        snapshot,
        policy.auth.cooldowns.clone(),
    )));
    let sessions = Arc::new(Slow(MemorySessionStore::default()));
    let key: SessionKey = "agent:main:main".parse().unwrap();
    let entry = SessionEntry::new("session-1".parse().unwrap(), start);
    sessions
        .compare_and_set(&key, Revision::NONE, entry.clone())
        .await
        .unwrap();
    let config = json!({ "agents": { "defaults": { "model": { "primary": "anthropic/claude", "fallbacks": ["openai/gpt"] } } } });
    let resolver = Resolver::new(&serde_json::from_value(config).unwrap());
    let requested = Requested::default();
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: key.clone(),
            id: entry.session_id.clone(),
            kind: TurnKind::Normal,
            read: entry.selection(),
            persist: PersistPolicy::BeforeAttempt,
            probe: None,
        }),
        lane: None,
        chain: resolver.chain(&requested, None),
        requested,
        pin: None,
    };
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::clone(&usage),
        Arc::clone(&sessions),
        policy,
    );
    let done = poll_at_most(runner.run(request, &Yielding { waits: 2 }), polls).await;
    let stored = sessions.load(&key).await.unwrap().unwrap().entry;
    if done {
        assert_eq!(
            stored.override_ref(&"anthropic".parse().unwrap()),
            Some("openai/gpt".parse::<ModelRef>().unwrap())
        );
    } else {
        assert_eq!(stored.selection(), entry.selection(), "after {polls} polls");
    }
    let now = usage.snapshot();
    assert!(
        now.probes.values().all(|probe| probe.lease.is_none()),
        "a lease is left after {polls} polls"
    );
    assert!(
        now.usage(&"openai:a".parse().unwrap()).windows.is_empty(),
        "the healthy key is marked after {polls} polls"
    );
    done
}

/// The future of a run can be spawned.
#[tokio::test(start_paused = true)]
async fn a_run_is_send() {
    fn is_send<T: Send>(_: &T) {}
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let usage = Arc::new(MemoryAuthStore::new(
        AuthSnapshot::default(),
        policy.auth.cooldowns.clone(),
    ));
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        usage,
        Arc::new(MemorySessionStore::default()),
        policy,
    );
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::default(),
        chain: vec!["openai/gpt".parse().unwrap()],
        pin: None,
    };
    let attempt = crate::script::Script::new(HashMap::new());
    let run = runner.run(request, &*attempt);
    is_send(&run);
    assert_eq!(run.await.unwrap().winner.candidate, "openai/gpt".parse().unwrap());
}

/// Counts its calls and never ends.
#[derive(Default)]
struct Hanging {
    calls: AtomicUsize,
}

impl Attempt for Hanging {
    type Output = ();

    async fn attempt(&self, _call: AttemptCall) -> Result<(), Failure> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn g4_bl_42_runs_that_share_a_name_do_not_share_a_lease() {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let mut snapshot = AuthSnapshot::default();
    let entry = json!({ "type": "api_key", "provider": "openai", "key": "sk-test" });
    let id: openclaw_ids::ProfileId = "openai:a".parse().unwrap();
    snapshot
        .profiles
        .insert(id.clone(), Credential::from_json(&entry).unwrap());
    let event = FailureEvent {
        provider: "openai".parse().unwrap(),
        reason: Reason::Overloaded,
        scope: MarkScope::Model,
        model: Some("gpt".parse().unwrap()),
        hint: None,
        started_at: None,
    };
    snapshot.apply(
        &UsageChange::Failure { profile: id, event },
        start,
        &policy.auth.cooldowns,
    );
    let usage = Arc::new(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone()));
    let sessions = Arc::new(MemorySessionStore::default());
    let runner = Runner::new(Arc::new(PausedClock::new(start)), usage, sessions, policy);
    let request = || RunRequest {
        run_id: "the same for all".to_owned(),
        session: None,
        lane: None,
        requested: Requested::default(),
        chain: vec!["openai/gpt".parse().unwrap()],
        pin: None,
    };
    let attempt = Hanging::default();
    let mut first = Box::pin(runner.run(request(), &attempt));
    assert!(poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending())).await);
    let second = poll_at_most(runner.run(request(), &attempt), 5).await;
    assert!(second, "the second run is told at once that the provider rests");
    assert_eq!(attempt.calls.load(Ordering::Relaxed), 1);
}
