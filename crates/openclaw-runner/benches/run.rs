//! What the engine adds to a run: the store's writes and the provider's answer take no time here.
#![expect(clippy::expect_used, reason = "a bench may stop at the first surprise")]

use std::collections::VecDeque;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use divan::counter::ItemsCount;
use divan::{AllocProfiler, Bencher, black_box};
use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, Credential, MemoryAuthStore, Secret, StoreError, UsageChange, UsageStore,
};
use openclaw_chain::Requested;
use openclaw_classify::Failure;
use openclaw_ids::ModelRef;
use openclaw_runner::{Attempt, AttemptCall, Clock, RunPolicy, RunRequest, Runner};
use openclaw_session::MemorySessionStore;

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// A store whose writes are over at once and change nothing.
struct Paused(Arc<AuthSnapshot>);

impl UsageStore for Paused {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.0)
    }

    async fn commit(&self, _change: UsageChange, _now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        Ok(ChangeOutcome::Done)
    }

    fn enqueue(&self, _change: UsageChange, _now: Timestamp) {}
}

/// Fails so often, then answers.
struct Failing(Mutex<VecDeque<Failure>>);

impl Failing {
    fn times(count: usize) -> Self {
        let failure = Failure {
            status: Some(429),
            message: Some("Too many requests".to_owned()),
            ..Failure::default()
        };
        Self(Mutex::new(vec![failure; count].into()))
    }
}

impl Attempt for Failing {
    type Output = ();

    async fn attempt(&self, _call: AttemptCall) -> Result<(), Failure> {
        let failure = self.0.lock().expect("nothing panics with it").pop_front();
        failure.map_or(Ok(()), Err)
    }
}

/// Timers are made, and never waited for.
fn timers() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("a runtime of one thread needs nothing from outside")
}

/// Nothing in these runs waits, so one poll is the whole of it.
fn at_once<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("a run without I/O waited"),
    }
}

/// `profiles` credentials for each of the models' providers.
fn snapshot(chain: &[ModelRef], profiles: usize) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    for model in chain {
        for number in 0..profiles {
            let id = format!("{}:{number}", model.provider()).parse().expect("an id");
            let key = Credential::api_key(model.provider().clone(), Secret::new(format!("key-{number}")));
            snapshot.profiles.insert(id, key);
        }
    }
    snapshot
}

fn chain(length: usize) -> Vec<ModelRef> {
    (0..length)
        .map(|number| format!("provider{number}/model").parse().expect("a reference"))
        .collect()
}

fn request(chain: &[ModelRef]) -> RunRequest {
    RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::from(&chain[0]),
        chain: chain.to_vec(),
        pin: None,
    }
}

fn runner<U: UsageStore>(usage: U) -> Runner<Still, U, MemorySessionStore> {
    let policy = Arc::new(RunPolicy::default());
    Runner::new(Arc::new(Still), Arc::new(usage), Arc::default(), policy)
}

/// The first candidate answers; its provider has three credentials.
#[divan::bench(sample_count = 500, sample_size = 200)]
fn first_candidate(bencher: Bencher<'_, '_>) {
    let runtime = timers();
    let _inside = runtime.enter();
    let chain = chain(3);
    let runner = runner(Paused(Arc::new(snapshot(&chain, 3))));
    bencher
        .with_inputs(|| (request(&chain), Failing::times(0)))
        .bench_local_values(|(request, attempt)| black_box(at_once(runner.run(request, &attempt)).is_ok()));
}

/// The same over the store in memory, which notes the use of the credential.
#[divan::bench(sample_count = 500, sample_size = 200)]
fn first_candidate_in_memory(bencher: Bencher<'_, '_>) {
    let runtime = timers();
    let _inside = runtime.enter();
    let chain = chain(3);
    let policy = RunPolicy::default();
    let runner = runner(MemoryAuthStore::new(snapshot(&chain, 3), policy.auth.cooldowns));
    bencher
        .with_inputs(|| (request(&chain), Failing::times(0)))
        .bench_local_values(|(request, attempt)| black_box(at_once(runner.run(request, &attempt)).is_ok()));
}

/// Two candidates are rate limited, the third answers.
#[divan::bench(sample_count = 500, sample_size = 50)]
fn two_rate_limits(bencher: Bencher<'_, '_>) {
    let runtime = timers();
    let _inside = runtime.enter();
    let chain = chain(3);
    let runner = runner(Paused(Arc::new(snapshot(&chain, 1))));
    bencher
        .with_inputs(|| (request(&chain), Failing::times(2)))
        .bench_local_values(|(request, attempt)| black_box(at_once(runner.run(request, &attempt)).is_ok()));
}

/// All candidates but the last are rate limited; per candidate it must not grow with their number.
#[divan::bench(args = [10, 100, 1000], sample_count = 50)]
fn candidates(bencher: Bencher<'_, '_>, length: usize) {
    let runtime = timers();
    let _inside = runtime.enter();
    let chain = chain(length);
    let runner = runner(Paused(Arc::new(snapshot(&chain, 1))));
    bencher
        .counter(ItemsCount::new(length))
        .with_inputs(|| (request(&chain), Failing::times(length - 1)))
        .bench_local_values(|(request, attempt)| black_box(at_once(runner.run(request, &attempt)).is_ok()));
}
