//! What the answer to one request is made from: the process, and the configuration of the moment the request came.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;

use super::selection::Catalogue;
use crate::state::{GatewayState, Generation, Process};

/// What one request is answered from. Its configuration stays the same to its end.
#[derive(Clone)]
pub(crate) struct Served {
    pub(crate) generation: Arc<Generation>,
    pub(crate) process: Arc<Process>,
}

impl Served {
    /// What a request that comes now is answered from.
    pub(crate) fn now(current: &GatewayState) -> Self {
        Self {
            generation: current.generation(),
            process: Arc::clone(&current.process),
        }
    }

    /// What the models of a request are judged by.
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

/// Takes the current configuration for everything that looks at the request.
pub(crate) async fn take(
    State(current): State<Arc<GatewayState>>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(Served::now(&current));
    next.run(request).await
}

impl FromRequestParts<Arc<GatewayState>> for Served {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, current: &Arc<GatewayState>) -> Result<Self, Infallible> {
        let taken = parts.extensions.get::<Self>().cloned();
        Ok(taken.unwrap_or_else(|| Self::now(current)))
    }
}
