//! `/admin/v1`: what operators look at and change while the gateway runs.

mod guard;
mod reload;
mod status;

use std::sync::Arc;

use axum::routing::{get, post};
use axum::{Router, middleware};

use crate::gateway::Current;

/// The routes below `/admin/v1`, to be put behind the token like all others.
pub(crate) fn router(current: &Arc<Current>) -> Router<Arc<Current>> {
    Router::new()
        .route("/admin/v1/reload", post(reload::reload))
        .route("/admin/v1/status", get(status::status))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(current),
            guard::own_machine,
        ))
}
