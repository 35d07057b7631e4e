//! One configuration that requests are answered by, and everything that follows from it.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::UsageStore;
use openclaw_chain::Resolver;
use openclaw_config::{Config, Environment, ExposedFile, permission_audit};
use openclaw_history::history_path;
use openclaw_ids::{AgentId, ModelRef};
use openclaw_providers::AuthAliases;
use openclaw_runner::{Clock, RunPolicy, SystemClock};
use secrecy::ExposeSecret;

use super::SetupError;
use super::client_token::{TokenDigest, client_token};
use super::endpoints::{configured_endpoints, discover_providers};
use super::process::Process;
use crate::agents::AgentSettings;
use crate::agents::run_settings;
use crate::credentials::Credentials;
use crate::providers::SecretSources;
use crate::providers::discovery::Discovery;
use crate::providers::{Endpoints, ambient};

/// One configuration, immutable. A request takes the current one at its start and keeps it to its end.
pub(crate) struct Generation {
    /// Counts up from 1 with each reload that was taken over.
    pub(crate) number: u64,
    /// When it was taken over.
    pub(crate) since: Timestamp,
    pub(crate) config: Config,
    pub(crate) credentials: Credentials,
    pub(crate) endpoints: Endpoints,
    /// Files that others on this machine may read.
    pub(crate) exposed: Vec<ExposedFile>,
    /// What this machine was found to have, where nothing is configured.
    pub(crate) found: Option<Discovery>,
    pub(crate) policy: Arc<RunPolicy>,
    pub(crate) resolver: Resolver,
    /// Settings that say something else than this process was started with, and that only a start takes over.
    pub(crate) restart_needed: Vec<&'static str>,
    pub(crate) token: Option<TokenDigest>,
}

/// A configuration whose providers can be called as they are written.
pub(crate) struct Draft {
    config: Config,
    endpoints: Endpoints,
    policy: Arc<RunPolicy>,
    sources: SecretSources,
    token: Option<TokenDigest>,
    /// That of the process, with the configuration's own variables.
    environment: Environment,
}

impl Draft {
    /// Judges a configuration by itself.
    pub(crate) fn try_new(config: Config, environment: &Environment) -> Result<Self, SetupError> {
        let environment = config.environment(environment);
        let token = client_token(&config, &environment)?.map(|token| TokenDigest::new(token.expose_secret()));
        let sources = SecretSources::new(&config.secrets, &environment);
        let endpoints = configured_endpoints(&config, &sources)?;
        let policy = Arc::new(RunPolicy {
            auth: config.auth.clone(),
            aliases: AuthAliases::default(),
            endpoints: endpoints.keys(),
            settings: run_settings(&config.failover, &environment),
        });
        Ok(Self {
            config,
            endpoints,
            policy,
            sources,
            token,
            environment,
        })
    }

    /// What the agents need of it.
    pub(crate) fn agent_settings(&self) -> AgentSettings {
        let environment = &self.environment;
        AgentSettings {
            agent_dirs: agent_dirs(&self.config, environment),
            ambient: ambient::profiles(
                &self.config.chain.models,
                &self.endpoints,
                &self.sources,
                environment,
            ),
            policy: Arc::clone(&self.policy),
            sources: self.sources.clone(),
        }
    }

    /// Makes a generation of it. Opens the default agent's state, so that damage is found now and not by the first
    /// request; without any configured model or provider the machine is searched for some.
    pub(crate) async fn into_generation(
        self,
        number: u64,
        process: &Process,
    ) -> Result<Generation, SetupError> {
        let Self {
            config,
            endpoints,
            policy,
            sources,
            token,
            environment,
        } = self;
        let default_agent = config.chain.default_agent();
        let directory = agent_dirs(&config, &process.environment).remove(&default_agent);
        let default_agent = process.agents.prepare(&default_agent, directory).await?;
        let found = if config.names_no_model() {
            let snapshot = default_agent.usage.snapshot();
            let stored: BTreeSet<_> = snapshot
                .profiles
                .values()
                .map(|credential| credential.provider().clone())
                .collect();
            Some(discover_providers(&environment, &stored, &process.upstream, &endpoints).await)
        } else {
            None
        };
        let config = match &found {
            Some(found) => config.with_default_chain(found.chain()),
            None => config,
        };
        Ok(Generation {
            number,
            since: SystemClock.now(),
            exposed: audit_permissions(&config, process).await,
            resolver: Resolver::new(&config.chain),
            restart_needed: config.failover.history.differences(&process.history),
            token,
            config,
            credentials: Credentials::new(&process.state_dir, sources, endpoints.logins(), &process.upstream),
            endpoints,
            found,
            policy,
        })
    }
}

impl Generation {
    /// Every agent with its chain of models.
    pub(crate) fn chains(&self) -> Vec<(AgentId, Vec<ModelRef>)> {
        let agents = self.config.chain.agent_ids().into_iter();
        agents
            .map(|agent| {
                let chain = self.resolver.configured_chain(&agent);
                (agent, chain)
            })
            .collect()
    }

    /// What is wrong and stops nothing, for people.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let includes = self.config.includes.iter().map(ToString::to_string);
        includes
            .chain(self.endpoints.unusable().iter().map(ToString::to_string))
            .chain(self.exposed.iter().map(ToString::to_string))
            .collect()
    }

    /// The models of all chains whose provider has no address.
    pub(super) fn uncallable(&self) -> Vec<ModelRef> {
        let models = self.chains().into_iter().flat_map(|(_, chain)| chain);
        models
            .filter(|model| self.endpoints.get(model.provider()).is_none())
            .collect()
    }
}

/// Looks at the permissions of files, where that may take its time.
async fn audit_permissions(config: &Config, process: &Process) -> Vec<ExposedFile> {
    let (config, environment) = (config.clone(), process.environment.clone());
    let state_dir = process.state_dir.clone();
    let audit = tokio::task::spawn_blocking(move || {
        permission_audit(&config, &environment, &state_dir, &history_path(&state_dir))
    });
    // Looking does not panic; a process that is ending warns of nothing more.
    audit.await.unwrap_or_default()
}

fn agent_dirs(config: &Config, environment: &Environment) -> HashMap<AgentId, PathBuf> {
    let agents = config.chain.agent_ids().into_iter();
    agents
        .filter_map(|agent| {
            let directory = environment.path(config.chain.agent_dir(&agent)?);
            Some((agent, directory))
        })
        .collect()
}
