//! The endpoints of a configuration, and the search for providers where nothing is configured.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;

use openclaw_config::{Config, Environment};
use openclaw_ids::ProviderId;
use openclaw_upstream::Upstream;

use crate::providers::SecretSources;
use crate::providers::discovery::{Discovery, discover, ollama_models};
use crate::providers::{Endpoints, OLLAMA, ProviderError};

/// A provider row that cannot be called as written, and where it is written.
#[derive(Debug)]
pub struct ProviderRowError {
    place: String,
    error: ProviderError,
}

impl fmt::Display for ProviderRowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.error)
    }
}

impl Error for ProviderRowError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// The endpoints of a configuration.
///
/// # Errors
/// When a provider row cannot be called as written.
pub fn configured_endpoints(config: &Config, sources: &SecretSources) -> Result<Endpoints, ProviderRowError> {
    let endpoints = Endpoints::try_new(&config.chain.models, sources);
    let endpoints = endpoints.map_err(|error| ProviderRowError {
        place: config.position_of(&error.keys()),
        error,
    });
    Ok(endpoints?.with_logins(&config.failover.logins))
}

/// Looks for what this machine can call when nothing is configured.
pub async fn discover_providers(
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
