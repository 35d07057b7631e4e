//! A simulated agent: its stores, its credentials, and a runner of every process.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use openclaw_auth_store::{AuthConfig, AuthSnapshot, Credential, EndpointKey, MemoryAuthStore, Secret};
use openclaw_chain::Resolver;
use openclaw_history::recording::Recorder;
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use openclaw_runner::{RunPolicy, RunSettings, Runner};
use openclaw_session::MemorySessionStore;
use serde_json::json;

use crate::play::observed_stores::{
    DecisionListener, ObservedSessionStore, ObservedUsageStore, SampledRecorder,
};
use crate::setup::{Agent, Setup, profile_id};
use crate::time::{HOUR, START};
use crate::trace::Candidate;
use crate::world::{ProcessClock, World};

type AgentRunner = Runner<ProcessClock, ObservedUsageStore, ObservedSessionStore>;

/// An agent's stores and its runners, one per process and whether they record.
pub(crate) struct SimulatedAgent {
    pub(crate) usage: Arc<ObservedUsageStore>,
    pub(crate) sessions: Arc<MemorySessionStore>,
    /// Held while a write of a session is under way.
    pub(crate) writing: Arc<tokio::sync::Mutex<()>>,
    pub(crate) resolver: Resolver,
    pub(crate) policy: Arc<RunPolicy>,
    runners: Vec<(AgentRunner, AgentRunner)>,
}

impl SimulatedAgent {
    pub(super) fn new(world: &Arc<World>, index: usize) -> Self {
        let agent = &world.setup.agents[index];
        let snapshot = world.snapshot(index);
        let policy = Arc::new(world.setup.policy(agent));
        let usage = Arc::new(ObservedUsageStore {
            store: Arc::new(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone())),
            world: Arc::clone(world),
            agent: index,
        });
        let sessions = Arc::new(MemorySessionStore::default());
        let watched = Arc::new(ObservedSessionStore {
            store: Arc::clone(&sessions),
            world: Arc::clone(world),
            agent: index,
            turn: Arc::default(),
        });
        let writing = Arc::clone(&watched.turn);
        let listener = Arc::new(DecisionListener {
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
            (
                runner.clone(),
                runner.with_recorder(Arc::new(Recorder::new(Arc::new(SampledRecorder)))),
            )
        });
        let config = json!({ "agents": { "defaults": { "model": {
            "primary": agent.chain[0], "fallbacks": agent.chain[1..],
        } } } });
        Self {
            runners: runners.collect(),
            resolver: Resolver::new(&serde_json::from_value(config).unwrap_or_default()),
            usage,
            sessions,
            writing,
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
            profiles: (0..keys).map(|key| profile_id(name, key)).collect(),
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
                let order = keys.filter_map(|key| profile_id(provider.name, key).parse().ok());
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
                let name = profile_id(provider.name, key);
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
