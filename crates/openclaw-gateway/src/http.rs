//! The HTTP surface: what is served under which path.

mod answer;
mod choice;
mod commands;
mod conversation;
mod error;
mod front;
mod guesses;
mod headers;
mod health;
mod ids;
mod in_flight;
mod local;
mod models;
mod notice;
mod plan;
mod prompt_size;
mod reading;
mod rescue;
mod retry_cap;
mod selection;
mod served;
mod stream;
mod synthetic_response;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware;
use axum::routing::{get, post};

use crate::admin;
use crate::gateway::Current;
use crate::metrics;

pub(crate) use choice::{Choice, ChoiceError};
pub(crate) use error::ApiError;
pub(crate) use front::Front;
pub(crate) use guesses::Guesses;
pub(crate) use ids::Ids;
pub(crate) use in_flight::InFlight;
pub(crate) use reading::{PathName, whole_body};
pub(crate) use retry_cap::RetryCap;
pub(crate) use selection::AskError;
#[cfg(feature = "fuzzing")]
pub(crate) use selection::Catalogue;
pub(crate) use served::Served;
pub(crate) use token::Token;

/// The largest request body, in bytes.
pub(crate) const MAX_BODY: usize = 32 * 1024 * 1024;

/// What answers all requests. Everything but `/healthz`, `/readyz` and the empty page at `/` asks for the token, when there
/// is one, and is closed to web pages without.
pub(crate) fn front(current: Arc<Current>) -> Front {
    let routes = routes(Arc::clone(&current));
    Front::new(current, routes)
}

fn routes(current: Arc<Current>) -> Router {
    let open = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .method_not_allowed_fallback(async || ApiError::no_method())
        .with_state(Arc::clone(&current));
    let page = admin::page_router(&current)
        .method_not_allowed_fallback(async || ApiError::no_method())
        .layer(middleware::from_fn_with_state(
            Arc::clone(&current),
            local::require,
        ))
        .with_state(Arc::clone(&current));
    // Posts to these paths are answered before; here it is told that they are posts.
    let passed_on = front::passed_on().fold(Router::new(), |routes, path| {
        routes.route(&path, post(async || ApiError::no_method()))
    });
    passed_on
        .merge(admin::router(&current))
        .route("/metrics", get(metrics::scrape))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .fallback(async |uri: Uri| ApiError::no_path().for_path(uri.path()))
        .method_not_allowed_fallback(async |uri: Uri| ApiError::no_method().for_path(uri.path()))
        .layer(middleware::from_fn(local::json_only))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&current),
            token::require,
        ))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&current),
            local::require,
        ))
        // The handler reads the body itself, with a limit and an answer of its own.
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(&current))
        .merge(open)
        .merge(page)
        .layer(middleware::from_fn(local::no_preflight))
        .layer(middleware::from_fn_with_state(Arc::clone(&current), ids::name))
        .layer(middleware::from_fn_with_state(current, served::take))
}
