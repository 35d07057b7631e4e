//! A world with its engine: stores, runners and the judge, and how one is played.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_auth_store::{AuthConfig, AuthSnapshot, Credential, EndpointKey, MemoryAuthStore, Secret};
use openclaw_chain::Resolver;
use openclaw_ids::{AuthAliases, ModelRef, ProfileId, ProviderId};
use openclaw_runner::{RunPolicy, RunReport, RunSettings, Runner, explain};
use openclaw_session::MemorySessionStore;
use serde_json::json;

use crate::check::{CHECKS, Tally, Violation, check_all};
use crate::logins::{Process, people};
use crate::setup::{Agent, HOUR, START, Setup};
use crate::trace::{Candidate, Trace};
use crate::watch::{Listener, Taper, Watched, WatchedSessions};
use crate::world::{ProcessClock, World};

/// How many earlier runs of an agent a story begins with.
const EARLIER: usize = 5;

type AgentRunner = Runner<ProcessClock, Watched, WatchedSessions>;

/// A world with its engine.
pub(crate) struct Stage {
    pub(crate) world: Arc<World>,
    pub(crate) agents: Vec<OnStage>,
    /// What each process refreshes logins with.
    pub(crate) logins: Vec<Arc<Process>>,
    /// Of a thousand runs so many are recorded and played again.
    pub(crate) taped: u64,
    witness: Box<Witness>,
    verdict: Mutex<Verdict>,
}

/// Sees every run that is over, before it is checked.
pub(crate) type Witness = dyn Fn(&Trace) + Send + Sync;

/// An agent's stores and its runners, one per process and whether they record.
pub(crate) struct OnStage {
    pub(crate) usage: Arc<Watched>,
    pub(crate) sessions: Arc<MemorySessionStore>,
    pub(crate) resolver: Resolver,
    pub(crate) policy: Arc<RunPolicy>,
    runners: Vec<(AgentRunner, AgentRunner)>,
}

/// What a caller does to its run.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hand {
    /// Drops it after so many milliseconds.
    Cancels(u64),
    /// Its process dies after so many milliseconds.
    Kills(u64),
    Off,
}

#[derive(Default)]
struct Verdict {
    runs: u64,
    tally: BTreeMap<&'static str, Tally>,
    found: Option<Found>,
    earlier: HashMap<usize, VecDeque<RunReport>>,
}

/// The first thing that does not hold.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) violation: Violation,
    pub(crate) trace: Trace,
    /// The runs of the agent before it.
    pub(crate) earlier: Vec<RunReport>,
}

/// What came of a world.
pub(crate) struct Played {
    pub(crate) runs: u64,
    /// How far it was played, in milliseconds.
    pub(crate) lasted: i64,
    pub(crate) calls: BTreeMap<&'static str, u64>,
    pub(crate) tally: BTreeMap<&'static str, Tally>,
    pub(crate) found: Option<Found>,
}

impl Stage {
    fn new(setup: Setup, taped: u64, witness: Box<Witness>) -> Arc<Self> {
        let world = Arc::new(World::new(setup));
        let agents = (0..world.setup.agents.len())
            .map(|index| OnStage::new(&world, index))
            .collect();
        let logins = (0..world.setup.processes.len())
            .map(|number| Arc::new(Process::new(&world, number)))
            .collect();
        Arc::new(Self {
            world,
            agents,
            logins,
            taped,
            witness,
            verdict: Mutex::default(),
        })
    }

    /// Checks a run that is over.
    pub(crate) fn judge(&self, trace: Trace) {
        (self.witness)(&trace);
        let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
        verdict.runs += 1;
        if verdict.found.is_some() {
            return;
        }
        let violation = check_all(CHECKS, &trace, &mut verdict.tally);
        let earlier = verdict.earlier.entry(trace.agent).or_default();
        if let Some(violation) = violation {
            let earlier = earlier.iter().cloned().collect();
            verdict.found = Some(Found {
                violation,
                trace,
                earlier,
            });
            return;
        }
        if let Some(report) = trace.report.filter(|report| !report.events.is_empty()) {
            earlier.push_back(report);
            if earlier.len() > EARLIER {
                earlier.pop_front();
            }
        }
    }

    fn is_broken(&self) -> bool {
        self.verdict
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .found
            .is_some()
    }
}

impl OnStage {
    fn new(world: &Arc<World>, index: usize) -> Self {
        let agent = &world.setup.agents[index];
        let snapshot = world.snapshot(index);
        let policy = Arc::new(world.setup.policy(agent));
        let usage = Arc::new(Watched {
            store: Arc::new(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone())),
            world: Arc::clone(world),
            agent: index,
        });
        let sessions = Arc::new(MemorySessionStore::default());
        let watched = Arc::new(WatchedSessions {
            store: Arc::clone(&sessions),
            world: Arc::clone(world),
            agent: index,
            turn: Arc::default(),
        });
        let listener = Arc::new(Listener {
            world: Arc::clone(world),
            agent: index,
        });
        let runners = world.setup.processes.iter().map(|process| {
            let clock = Arc::new(ProcessClock {
                world: Arc::clone(world),
                ahead: process.ahead,
            });
            let runner = Runner::new(
                clock,
                Arc::clone(&usage),
                Arc::clone(&watched),
                Arc::clone(&policy),
            )
            .with_observer(Arc::clone(&listener) as _);
            (runner.clone(), runner.with_recorder(Arc::new(Taper)))
        });
        let config = json!({ "agents": { "defaults": { "model": {
            "primary": agent.chain[0], "fallbacks": agent.chain[1..],
        } } } });
        Self {
            runners: runners.collect(),
            resolver: Resolver::new(&serde_json::from_value(config).unwrap_or_default()),
            usage,
            sessions,
            policy,
        }
    }

    pub(crate) fn runner(&self, process: usize, taped: bool) -> &AgentRunner {
        let (plain, recording) = &self.runners[process];
        if taped { recording } else { plain }
    }
}

impl Setup {
    /// A candidate and its credentials.
    pub(crate) fn candidate(&self, model: &ModelRef) -> Candidate {
        let name = model.provider().as_str();
        let keys = self.provider(name).map_or(0, |provider| provider.keys);
        Candidate {
            provider: name.to_owned(),
            model: model.model().to_string(),
            profiles: (0..keys).map(|key| format!("{name}:k{key}")).collect(),
        }
    }

    fn policy(&self, agent: &Agent) -> RunPolicy {
        let mut endpoints = HashMap::new();
        let mut auth = AuthConfig::default();
        for provider in &self.providers {
            let Ok(id) = provider.name.parse::<ProviderId>() else {
                continue;
            };
            let base_url = format!("https://{}.test/v1", provider.name);
            endpoints.insert(
                id.clone(),
                EndpointKey {
                    provider: id.clone(),
                    base_url,
                },
            );
            if agent.ordered {
                let keys = (0..provider.keys).rev();
                let order = keys.filter_map(|key| format!("{}:k{key}", provider.name).parse().ok());
                auth.order.insert(id, order.collect());
            }
        }
        RunPolicy {
            auth,
            aliases: AuthAliases::default(),
            endpoints: endpoints.into_iter().collect(),
            settings: RunSettings {
                auth_skip_ttl: Duration::from_secs(if agent.ordered { 60 } else { 0 }),
                ..RunSettings::default()
            },
        }
    }
}

impl World {
    /// The credentials of an agent.
    fn snapshot(&self, agent: usize) -> AuthSnapshot {
        let mut snapshot = AuthSnapshot::default();
        for provider in &self.setup.providers {
            let Ok(id) = provider.name.parse::<ProviderId>() else {
                continue;
            };
            for key in 0..provider.keys {
                let name = format!("{}:k{key}", provider.name);
                let Ok(profile) = name.parse::<ProfileId>() else {
                    continue;
                };
                let credential = if key < provider.logins {
                    self.logins.log_in(agent, &name, START + HOUR)
                } else {
                    let secret = Secret::new(format!("sim-{}-{key}", provider.name));
                    Some(Credential::api_key(id.clone(), secret))
                };
                snapshot
                    .profiles
                    .extend(credential.map(|credential| (profile, credential)));
            }
        }
        snapshot
    }
}

/// Plays a world in virtual time, until its end or the first thing that does not hold. `every` is told after each
/// simulated hour.
pub(crate) fn play(setup: Setup, taped: u64, every: impl FnMut(i64)) -> Played {
    play_before(setup, taped, Box::new(|_| {}), every)
}

/// As [`play`], before a witness.
pub(crate) fn play_before(
    setup: Setup,
    taped: u64,
    witness: Box<Witness>,
    mut every: impl FnMut(i64),
) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let Ok(runtime) = runtime else {
        unreachable!("a runtime of one thread needs nothing from outside")
    };
    let hours = setup.hours;
    let stage = runtime.block_on(async {
        let sessions = setup.sessions.clone();
        let stage = Stage::new(setup, taped, witness);
        let mut tasks: Vec<_> = sessions
            .into_iter()
            .map(|session| tokio::spawn(crate::session::play(Arc::clone(&stage), session)))
            .collect();
        let stores = stage.agents.iter().map(|agent| Arc::clone(&agent.usage.store));
        tasks.push(tokio::spawn(people(Arc::clone(&stage.world), stores.collect())));
        for hour in 1..=hours {
            // Looked at more often than once an hour, so that what comes after the first finding costs little.
            for _ in 0..12 {
                tokio::time::sleep(Duration::from_millis(u64::try_from(HOUR / 12).unwrap_or(0))).await;
                if stage.is_broken() || tasks.iter().any(tokio::task::JoinHandle::is_finished) {
                    break;
                }
            }
            every(hour);
            if stage.is_broken() || tasks.iter().any(tokio::task::JoinHandle::is_finished) {
                break;
            }
        }
        for task in tasks {
            if task.is_finished() {
                if let Err(panic) = task.await {
                    std::panic::resume_unwind(panic.into_panic());
                }
            } else {
                task.abort();
            }
        }
        stage
    });
    let lasted = {
        let _inside = runtime.enter();
        stage.world.now() - crate::setup::START
    };
    // Refreshes that go on end with the runtime; what is left is for nobody.
    drop(runtime);
    drop(std::fs::remove_dir_all(&stage.world.folder));
    let mut verdict = stage.verdict.lock().unwrap_or_else(PoisonError::into_inner);
    Played {
        runs: verdict.runs,
        lasted,
        calls: stage.world.counts(),
        tally: std::mem::take(&mut verdict.tally),
        found: verdict.found.take(),
    }
}

impl Found {
    /// The run and those before it, for people.
    pub(crate) fn story(&self) -> String {
        let reports = self.earlier.iter().chain(&self.trace.report);
        let told: Vec<String> = reports
            .filter_map(explain::story_of)
            .map(|story| story.to_string())
            .collect();
        told.join("\n")
    }
}
