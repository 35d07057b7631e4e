//! The routes: which handler answers which path, and which checks come before it.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::Uri;
use axum::middleware;
use axum::routing::{get, post};

use crate::admin;
use crate::http::middleware::{
    GatewayService, format_paths, refuse_preflight, require_allowed, require_local,
};
use crate::http::{ApiError, health, metrics, models};
use crate::state::GatewayState;

/// The service that answers all requests. Everything but `/healthz`, `/readyz` and the empty page at `/` asks for the token, when there
/// is one, and is closed to web pages without.
pub(super) fn service(current: Arc<GatewayState>) -> GatewayService {
    let routes = routes(&current);
    GatewayService::new(current, routes)
}

fn routes(current: &Arc<GatewayState>) -> Router {
    let open = Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .method_not_allowed_fallback(async || ApiError::no_method())
        .with_state(Arc::clone(current));
    let page = admin::page_router(current)
        .method_not_allowed_fallback(async || ApiError::no_method())
        .layer(middleware::from_fn_with_state(Arc::clone(current), require_local))
        .with_state(Arc::clone(current));
    // Posts to these paths never come here; other methods are refused.
    let passed_on = format_paths().fold(Router::new(), |routes, path| {
        routes.route(&path, post(async || ApiError::no_method()))
    });
    passed_on
        .merge(admin::router(current))
        .route("/metrics", get(metrics::scrape))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*id}", get(models::one))
        .fallback(async |uri: Uri| ApiError::no_path().for_path(uri.path()))
        .method_not_allowed_fallback(async |uri: Uri| ApiError::no_method().for_path(uri.path()))
        .layer(middleware::from_fn_with_state(
            Arc::clone(current),
            require_allowed,
        ))
        // The handler reads the body itself, with a limit and an answer of its own.
        .layer(DefaultBodyLimit::disable())
        .with_state(Arc::clone(current))
        .merge(open)
        .merge(page)
        .layer(middleware::from_fn(refuse_preflight))
}
