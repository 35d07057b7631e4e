//! The HTTP surface: what is served under which path.

mod answer;
mod conversation;
mod error;
mod guesses;
mod headers;
mod health;
mod ids;
mod in_flight;
mod local;
mod models;
mod notice;
mod plan;
mod retry_cap;
mod selection;
mod stream;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{MethodRouter, get, post};
use openclaw_chain::Resolver;
use openclaw_runner::RunPolicy;

use crate::agents::Agents;
use crate::config::Config;
use crate::credentials::Credentials;
use crate::providers::Endpoints;
use crate::upstream::{Upstream, Wire};

pub(crate) use guesses::Guesses;
pub(crate) use ids::Ids;
pub(crate) use in_flight::InFlight;
pub(crate) use retry_cap::RetryCap;
pub(crate) use token::Token;

use error::ApiError;
use selection::Catalogue;

/// The largest request body, in bytes.
pub(crate) const MAX_BODY: usize = 32 * 1024 * 1024;

/// What all handlers share.
pub(crate) type Served = Arc<Surface>;

/// What the routes answer from.
pub(crate) struct Surface {
    pub(crate) agents: Agents,
    pub(crate) config: Config,
    pub(crate) credentials: Credentials,
    pub(crate) endpoints: Endpoints,
    pub(crate) guesses: Guesses,
    pub(crate) ids: Ids,
    pub(crate) in_flight: InFlight,
    pub(crate) policy: Arc<RunPolicy>,
    pub(crate) resolver: Resolver,
    pub(crate) retry_cap: RetryCap,
    pub(crate) token: Option<Token>,
    pub(crate) upstream: Upstream,
}

impl Surface {
    fn catalogue(&self) -> Catalogue<'_> {
        Catalogue {
            chain: &self.config.chain,
            resolver: &self.resolver,
            endpoints: &self.endpoints,
            policy: self.config.failover.body_model_policy,
        }
    }
}

/// The routes. Everything but `/healthz` and `/readyz` asks for the token, when there is one, and is closed to web pages
/// without.
pub(crate) fn router(served: Served) -> Router {
    let open = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .method_not_allowed_fallback(async || ApiError::no_method())
        .with_state(Arc::clone(&served));
    Router::new()
        .route("/v1/chat/completions", passed_on(Wire::ChatCompletions))
        .route("/v1/embeddings", passed_on(Wire::Embeddings))
        .route("/v1/messages", passed_on(Wire::Messages))
        .route("/v1/messages/count_tokens", passed_on(Wire::CountTokens))
        .route("/v1/responses", passed_on(Wire::Responses))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .fallback(async || ApiError::no_path())
        .method_not_allowed_fallback(async || ApiError::no_method())
        .layer(middleware::from_fn(local::json_only))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&served),
            token::require,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&served),
            local::require,
        ))
        // The handler reads the body itself, with a limit and an answer of its own.
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(&served))
        .merge(open)
        .layer(middleware::from_fn_with_state(served, ids::name))
}

/// Requests of one wire format.
fn passed_on(wire: Wire) -> MethodRouter<Served> {
    post(async move |served, id, headers, body| answer::handle(wire, served, id, headers, body).await)
}
