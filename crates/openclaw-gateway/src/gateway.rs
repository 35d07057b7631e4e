//! A gateway, put together from its configuration and the machine it runs on.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use openclaw_auth_store::UsageStore;
use openclaw_chain::Resolver;
use openclaw_ids::{AgentId, AuthAliases, ProviderId};
use openclaw_runner::{RunObserver, RunPolicy};

use crate::agents::{AgentError, Agents, Shared};
use crate::config::Config;
use crate::credentials::Credentials;
use crate::environment::Environment;
use crate::http::{self, Guesses, Ids, InFlight, RetryCap, Served, Surface, Token};
use crate::providers::discovery::{Discovery, discover, ollama_models};
use crate::providers::{Endpoints, OLLAMA, ProviderError, ambient};
use crate::secrets::SecretSources;
use crate::upstream::{Upstream, UpstreamError};

/// What a gateway is made of.
pub struct Setup {
    /// Variables of the process.
    pub environment: Environment,
    /// What was configured.
    pub config: Config,
    /// Where state is kept; created when it is missing.
    pub state_dir: PathBuf,
    /// Is told of every decision.
    pub observer: Option<Arc<dyn RunObserver>>,
}

/// A gateway cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The default agent's state.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A provider row.
    #[error(transparent)]
    Provider(#[from] PlacedProviderError),
    /// The HTTP client.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

/// A provider row that cannot be called as written, and where it is written.
#[derive(Debug)]
pub struct PlacedProviderError {
    place: String,
    error: ProviderError,
}

impl fmt::Display for PlacedProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.error)
    }
}

impl Error for PlacedProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// The endpoints of a configuration.
///
/// # Errors
/// When a provider row cannot be called as written.
pub(crate) fn callable(config: &Config, sources: &SecretSources) -> Result<Endpoints, PlacedProviderError> {
    let endpoints = Endpoints::try_new(&config.chain.models, sources);
    let endpoints = endpoints.map_err(|error| PlacedProviderError {
        place: config.place_of(&error.keys()),
        error,
    });
    Ok(endpoints?.with_logins(&config.failover.logins))
}

/// A gateway that is ready to answer.
pub struct Gateway {
    served: Served,
    discovery: Option<Discovery>,
}

impl Gateway {
    /// Puts a gateway together and opens the default agent's state, so that damage is found now and not by the first
    /// request. Without any configured model or provider the machine is searched for some.
    ///
    /// # Errors
    /// [`SetupError`]; nothing was damaged then.
    pub async fn open(setup: Setup) -> Result<Self, SetupError> {
        let Setup {
            environment,
            config,
            state_dir,
            observer,
        } = setup;
        let upstream = Upstream::try_new()?;
        let sources = SecretSources::new(&config.secrets, &environment);
        let endpoints = callable(&config, &sources)?;
        let credentials = Credentials::new(&state_dir, sources.clone(), endpoints.logins(), &upstream);
        let policy = Arc::new(RunPolicy {
            auth: config.auth.clone(),
            aliases: AuthAliases::default(),
            endpoints: endpoints.keys(),
            settings: config.failover.run_settings(),
        });
        let agents = Agents::new(Shared {
            state_dir,
            agent_dirs: agent_dirs(&config, &environment),
            ambient: ambient::profiles(&config.chain.models, &endpoints, &sources, &environment),
            sources,
            policy: Arc::clone(&policy),
            observer,
        });
        let default_agent = agents.prepare(&config.chain.default_agent()).await?;
        let discovery = if config.names_no_model() {
            let snapshot = default_agent.usage.snapshot();
            let stored = snapshot
                .profiles
                .values()
                .map(|credential| credential.provider().clone())
                .collect();
            Some(search(&environment, &stored, &upstream, &endpoints).await)
        } else {
            None
        };
        let config = match &discovery {
            Some(found) => config.with_default_chain(found.chain()),
            None => config,
        };
        let served = Arc::new(Surface {
            agents,
            resolver: Resolver::new(&config.chain),
            token: environment.get(TOKEN_VARIABLE).map(Token::new),
            retry_cap: RetryCap::of(&environment),
            guesses: Guesses::default(),
            ids: Ids::new(),
            in_flight: InFlight::new(config.failover.max_concurrent),
            config,
            credentials,
            endpoints,
            policy,
            upstream,
        });
        Ok(Self { served, discovery })
    }

    /// The HTTP routes.
    pub fn router(&self) -> Router {
        http::router(Arc::clone(&self.served))
    }

    /// What was found on this machine; none when something was configured.
    pub fn found(&self) -> Option<String> {
        self.discovery.as_ref().map(ToString::to_string)
    }

    /// The configured secrets that cannot be used, for people: each with its key and the variable it names.
    pub fn warnings(&self) -> Vec<String> {
        let unusable = self.served.endpoints.unusable();
        unusable.iter().map(ToString::to_string).collect()
    }

    /// Every agent with its chain of models, for people.
    pub fn chains(&self) -> Vec<(AgentId, Vec<String>)> {
        let chain = |agent: &AgentId| {
            let chain = self.served.resolver.configured_chain(agent);
            chain.iter().map(openclaw_ids::ModelRef::key).collect()
        };
        let agents = self.served.config.chain.agent_ids();
        agents
            .into_iter()
            .map(|agent| (agent.clone(), chain(&agent)))
            .collect()
    }
}

/// The variable that holds the token clients must send.
pub(crate) const TOKEN_VARIABLE: &str = "OPENCLAW_GATEWAY_TOKEN";

fn agent_dirs(config: &Config, environment: &Environment) -> HashMap<AgentId, PathBuf> {
    let agents = config.chain.agent_ids().into_iter();
    agents
        .filter_map(|agent| {
            let directory = environment.path(config.chain.agent_dir(&agent)?);
            Some((agent, directory))
        })
        .collect()
}

/// Looks for what this machine can call when nothing is configured.
pub(crate) async fn search(
    environment: &Environment,
    stored: &BTreeSet<ProviderId>,
    upstream: &Upstream,
    endpoints: &Endpoints,
) -> Discovery {
    let ollama = ProviderId::try_new(OLLAMA).ok();
    let models = match ollama.and_then(|id| endpoints.get(&id).cloned()) {
        Some(endpoint) => ollama_models(upstream, &endpoint).await,
        None => None,
    };
    discover(environment, stored, models.as_deref())
}
