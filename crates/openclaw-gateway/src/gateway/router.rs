//! Which path is served by what, and what stands in front of it.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware;
use axum::routing::{get, post};

use crate::admin;
use crate::http::{ApiError, Front, front, health, local, metrics, models, request_id, served, token};
use crate::state::GatewayState;

/// What answers all requests. Everything but `/healthz`, `/readyz` and the empty page at `/` asks for the token, when there
/// is one, and is closed to web pages without.
pub(super) fn front(current: Arc<GatewayState>) -> Front {
    let routes = routes(Arc::clone(&current));
    Front::new(current, routes)
}

fn routes(current: Arc<GatewayState>) -> Router {
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
        .layer(middleware::from_fn_with_state(
            Arc::clone(&current),
            request_id::name,
        ))
        .layer(middleware::from_fn_with_state(current, served::take))
}
