//! `GET /admin/v1/status`: the gateway at a glance.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::gateway::Current;
use crate::http::Served;

/// The gateway at a glance. Times are Unix milliseconds.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    version: &'static str,
    configuration: Configuration,
}

/// Which configuration is used.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    path: String,
    exists: bool,
    /// Counts up with each configuration that was taken over.
    generation: u64,
    since: i64,
    /// Why the last reload changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
}

#[derive(Debug, Serialize)]
struct Refused {
    at: i64,
    problem: String,
}

/// The gateway at a glance.
pub(super) async fn status(State(current): State<Arc<Current>>, served: Served) -> Json<Status> {
    let generation = &served.generation;
    let refused = current.refused().map(|refusal| Refused {
        at: refusal.at.as_millisecond(),
        problem: refusal.problem,
    });
    Json(Status {
        version: env!("CARGO_PKG_VERSION"),
        configuration: Configuration {
            path: generation.config.path.display().to_string(),
            exists: generation.config.exists,
            generation: generation.number,
            since: generation.since.as_millisecond(),
            refused,
        },
    })
}
