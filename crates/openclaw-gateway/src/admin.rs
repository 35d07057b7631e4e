//! `/admin/v1`: what operators look at and change while the gateway runs.

mod agents;
mod chains;
mod credentials;
mod decisions;
mod events;
mod guard;
mod lint;
mod page;
mod params;
mod reload;
mod sessions;
mod status;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Router, middleware};

use crate::state::GatewayState;

/// The routes below `/admin/v1`, to be put behind the token like all others.
pub(crate) fn router(current: &Arc<GatewayState>) -> Router<Arc<GatewayState>> {
    let routes = Router::new()
        .route("/chains", get(chains::chain))
        .route("/cooldowns", get(credentials::cooldowns))
        .route("/cooldowns/clear", post(credentials::clear))
        .route("/cooldowns/set", post(credentials::rest))
        .route("/decisions", get(decisions::runs))
        .route("/decisions/{id}", get(decisions::one))
        .route("/events", get(events::events))
        .route("/lint", get(lint::lint))
        .route("/page", get(page::fragment))
        .route("/profiles", get(credentials::profiles))
        .route("/reload", post(reload::reload))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{key}", get(sessions::one).patch(sessions::patch))
        .route("/sessions/{key}/reset", post(sessions::start_over))
        .route("/status", get(status::status))
        .route("/windows", get(decisions::windows));
    guarded(Router::new().nest("/admin/v1", routes), current)
}

/// The page at `/`, which asks for the token itself where there is one.
pub(crate) fn page_router(current: &Arc<GatewayState>) -> Router<Arc<GatewayState>> {
    let routes = Router::new()
        .route("/", get(page::page))
        .route("/page.css", get(page::style))
        .route("/page.js", get(page::script));
    guarded(routes, current)
}

fn guarded(routes: Router<Arc<GatewayState>>, current: &Arc<GatewayState>) -> Router<Arc<GatewayState>> {
    routes.route_layer(middleware::from_fn_with_state(
        Arc::clone(current),
        guard::own_machine,
    ))
}
