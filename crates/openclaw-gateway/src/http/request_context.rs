//! The context of one request: the process, and the configuration that was in use when the request came.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::selection::Catalogue;
use crate::state::{GatewayState, Generation, Process};

/// The context of one request. Its configuration stays the same to its end.
#[derive(Clone)]
pub(crate) struct RequestContext {
    pub(crate) generation: Arc<Generation>,
    pub(crate) process: Arc<Process>,
}

impl RequestContext {
    /// The context of a request that comes now.
    pub(crate) fn now(current: &GatewayState) -> Self {
        Self {
            generation: current.generation(),
            process: Arc::clone(&current.process),
        }
    }

    /// The models that a request may ask for.
    pub(crate) fn catalogue(&self) -> Catalogue<'_> {
        let generation = &*self.generation;
        Catalogue {
            chain: &generation.config.chain,
            resolver: &generation.resolver,
            endpoints: &generation.endpoints,
            policy: generation.config.failover.body_model_policy,
        }
    }
}

impl FromRequestParts<Arc<GatewayState>> for RequestContext {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, current: &Arc<GatewayState>) -> Result<Self, Infallible> {
        let own = parts.extensions.get::<Self>().cloned();
        Ok(own.unwrap_or_else(|| Self::now(current)))
    }
}
