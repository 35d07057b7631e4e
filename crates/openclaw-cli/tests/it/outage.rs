//! An outage of the primary, hours of it in no time: stateless requests every 4 s under the settings the gateway runs with.

use std::path::Path;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, Secret};
use openclaw_chain::{Requested, Resolver};
use openclaw_classify::{Failure, Phase};
use openclaw_config::{Config, Environment};
use openclaw_gateway::agents::run_settings;
use openclaw_ids::{AgentId, ModelRef, ProfileId};
use openclaw_runner::{Attempt, AttemptCall, Clock, RunPolicy, RunRequest, Runner};
use openclaw_session::MemorySessionStore;

/// A clock that stands where it was put.
struct Standing(Mutex<Timestamp>);

impl Standing {
    fn put(&self, at: Timestamp) {
        *self.0.lock().unwrap() = at;
    }
}

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Providers of which `a` answers 503 until a time.
struct Providers {
    clock: Arc<Standing>,
    down_until: Timestamp,
    /// When the primary was asked.
    asked: Mutex<Vec<Timestamp>>,
}

impl Attempt for Providers {
    type Output = ();

    async fn attempt(&self, call: AttemptCall) -> Result<(), Failure> {
        if call.candidate.provider().as_str() != "a" {
            return Ok(());
        }
        let now = self.clock.now();
        self.asked.lock().unwrap().push(now);
        if now >= self.down_until {
            return Ok(());
        }
        Err(Failure {
            status: Some(503),
            phase: Some(Phase::BeforeFirstContent),
            ..Failure::default()
        })
    }
}

const GAP: i64 = 4;
/// G: two attempts of a resting primary are at least so far apart.
const THROTTLE: i64 = 30;

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

/// How long after the outage the primary answers again, in seconds.
async fn back_after(outage: i64) -> i64 {
    let text = "{ agents: { defaults: { model: { primary: 'a/m', fallbacks: ['b/m'] } } } }";
    let config = Config::parse(Path::new("openclaw.json"), text).unwrap();
    let chain = Resolver::new(&config.chain).configured_chain(&AgentId::main());
    let mut snapshot = AuthSnapshot::default();
    for model in &chain {
        let provider = model.provider();
        let id = ProfileId::try_new(&format!("{provider}:config")).unwrap();
        snapshot
            .profiles
            .insert(id, Credential::api_key(provider.clone(), Secret::new("key")));
    }
    let policy = Arc::new(RunPolicy {
        auth: config.auth.clone(),
        settings: run_settings(&config.failover, &Environment::of([], Path::new("/"))),
        ..RunPolicy::default()
    });
    let start: Timestamp = "2030-01-01T00:00:00Z".parse().unwrap();
    let clock = Arc::new(Standing(Mutex::new(start)));
    let providers = Providers {
        clock: Arc::clone(&clock),
        down_until: start + seconds(outage),
        asked: Mutex::default(),
    };
    let usage = MemoryAuthStore::new(snapshot, config.auth.cooldowns.clone());
    let sessions = Arc::new(MemorySessionStore::default());
    let runner = Runner::new(Arc::clone(&clock), Arc::new(usage), sessions, policy);
    let mut back = None;
    for second in (0..outage + 3_600).step_by(usize::try_from(GAP).unwrap()) {
        clock.put(start + seconds(second));
        let request = RunRequest {
            run_id: second.to_string(),
            session: None,
            lane: None,
            requested: Requested::from(&chain[0]),
            chain: chain.clone(),
            pin: None,
        };
        let completed = Box::pin(runner.run(request, &providers)).await;
        let completed = completed.unwrap_or_else(|error| panic!("at {second}: {error}"));
        if completed.winner.candidate == chain[0] {
            back = Some(second - outage);
            completed.run.finished().await;
            break;
        }
        completed.run.finished().await;
    }
    let asked = providers.asked.lock().unwrap();
    for pair in asked.windows(2) {
        let apart = pair[1].duration_since(pair[0]);
        assert!(
            apart >= seconds(THROTTLE),
            "{outage}: {apart} between two attempts"
        );
    }
    assert!(asked.len() > 1, "the outage was met");
    back.unwrap_or_else(|| panic!("{outage}: never back on {}", ModelRef::key(&chain[0])))
}

#[tokio::test]
async fn after_an_outage_the_primary_is_back_soon_and_was_left_alone_meanwhile() {
    // Short ones within a throttle; long ones within a throttle and a gap of the last look before a window's end, three
    // minutes before it at most.
    for (outage, limit) in [
        (60, 30),
        (600, 180 + THROTTLE + GAP),
        (3_600, 180 + THROTTLE + GAP),
    ] {
        let back = back_after(outage).await;
        assert!(
            (0..=limit).contains(&back),
            "after {outage} s of outage it took {back} s"
        );
    }
}

#[tokio::test]
async fn whatever_the_length_of_an_outage_the_way_back_has_a_bound() {
    for outage in (20..1_200).step_by(20) {
        let back = back_after(outage).await;
        assert!(
            back <= 180 + THROTTLE + GAP,
            "after {outage} s of outage it took {back} s"
        );
    }
}
