//! The engine over a store and an answer that take no time, so that what is left is its own work.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, Credential, Secret, StoreError, UsageChange, UsageStore,
};
use openclaw_chain::{ChainConfig, Requested};
use openclaw_classify::{Failure, Reason};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_runner::{Attempt, AttemptCall, Clock, RunPolicy, RunRequest, Runner};
use openclaw_session::MemorySessionStore;
use serde_json::json;

/// A clock that stands still.
pub(crate) struct FrozenClock;

impl Clock for FrozenClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// A store whose writes are over at once and change nothing.
pub(crate) struct NoopUsageStore(Arc<AuthSnapshot>);

impl NoopUsageStore {
    pub(crate) fn over(snapshot: AuthSnapshot) -> Self {
        Self(Arc::new(snapshot))
    }
}

impl UsageStore for NoopUsageStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.0)
    }

    async fn commit(&self, _change: UsageChange, _now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        Ok(ChangeOutcome::Done)
    }

    fn enqueue(&self, _change: UsageChange, _now: Timestamp) {}
}

/// Is rate limited so often, then answers.
pub(crate) struct ScriptedAttempt(Mutex<VecDeque<Failure>>);

impl ScriptedAttempt {
    pub(crate) fn times(count: usize) -> Self {
        let failure = Failure {
            status: Some(429),
            message: Some("Too many requests".to_owned()),
            ..Failure::default()
        };
        Self(Mutex::new(vec![failure; count].into()))
    }
}

impl Attempt for ScriptedAttempt {
    type Output = ();

    async fn attempt(&self, _call: AttemptCall) -> Result<(), Failure> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.pop_front().map_or(Ok(()), Err)
    }
}

/// Timers are made, and never waited for.
#[expect(clippy::expect_used, reason = "it needs nothing from outside")]
pub(crate) fn timers() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("a runtime of one thread can be built")
}

/// Nothing here waits, so one poll is the whole of it.
pub(crate) fn at_once<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

/// So many models of as many providers.
#[expect(clippy::expect_used, reason = "the name is made here")]
pub(crate) fn chain(length: usize) -> Vec<ModelRef> {
    (0..length)
        .map(|number| format!("provider{number}/model").parse().expect("a reference"))
        .collect()
}

/// `profiles` credentials for each of the models' providers.
pub(crate) fn snapshot(chain: &[ModelRef], profiles: usize) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    for model in chain {
        for number in 0..profiles {
            let secret = Secret::new(format!("key-{number}"));
            let key = Credential::api_key(model.provider().clone(), secret);
            snapshot.profiles.insert(profile(model, number), key);
        }
    }
    snapshot
}

#[expect(clippy::expect_used, reason = "the name is made here")]
fn profile(model: &ModelRef, number: usize) -> ProfileId {
    format!("{}:{number}", model.provider()).parse().expect("a name")
}

/// A request over `chain` without a session.
pub(crate) fn request(chain: &[ModelRef]) -> RunRequest {
    RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::from(&chain[0]),
        chain: chain.to_vec(),
        pin: None,
    }
}

/// A runner over `usage` under the usual policy.
pub(crate) fn runner<U: UsageStore>(usage: U) -> Runner<FrozenClock, U, MemorySessionStore> {
    let policy = Arc::new(RunPolicy::default());
    Runner::new(Arc::new(FrozenClock), Arc::new(usage), Arc::default(), policy)
}

/// An instant so many milliseconds after some day.
pub(crate) fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + millisecond).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// The first credential of the model's provider failed.
pub(crate) fn mark(model: &ModelRef, millisecond: i64) -> UsageChange {
    let event = FailureEvent {
        provider: model.provider().clone(),
        reason: Reason::Overloaded,
        scope: MarkScope::Model,
        model: Some(model.model().clone()),
        hint: None,
        started_at: Some(at(millisecond)),
    };
    UsageChange::Failure {
        profile: profile(model, 0),
        event,
    }
}

/// A primary and `length - 1` fallbacks of several providers, some under an alias.
pub(crate) fn config(length: usize) -> ChainConfig {
    let fallbacks: Vec<String> = (1..length)
        .map(|at| match at % 4 {
            0 => format!("short-{at}"),
            1 => format!("openai/gpt-{at}"),
            2 => format!("openrouter/vendor/model-{at}@openrouter:work"),
            _ => format!("google/gemini-{at}"),
        })
        .collect();
    let aliases: serde_json::Map<_, _> = (1..length)
        .filter(|at| at % 4 == 0)
        .map(|at| {
            (
                format!("groq/llama-{at}"),
                json!({ "alias": format!("short-{at}") }),
            )
        })
        .collect();
    let model = json!({ "primary": "anthropic/opus", "fallbacks": fallbacks });
    ChainConfig::lenient(&json!({ "agents": { "defaults": { "model": model, "models": aliases } } }))
}
