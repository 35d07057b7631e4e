//! `POST /admin/v1/reload`: reads the configuration again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;

use crate::http::ApiError;
use crate::state::GatewayState;

/// What is used from now on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReloadResponse {
    /// Counts up with each configuration that was taken over.
    generation: u64,
    /// Unix milliseconds.
    since: i64,
    /// What is wrong with it and stops nothing: secrets that cannot be used, files that others may read.
    warnings: Vec<String>,
    /// Settings that were changed and count from the next start on.
    restart_needed: Vec<&'static str>,
}

/// Takes the configuration over, or says why it stays as it is.
pub(super) async fn reload(
    State(current): State<Arc<GatewayState>>,
) -> Result<Json<ReloadResponse>, ApiError> {
    let generation = current
        .reload()
        .await
        .map_err(|error| ApiError::not_reloaded(&openclaw_classify::error_chain::line(&error)))?;
    Ok(Json(ReloadResponse {
        generation: generation.number,
        since: generation.since.as_millisecond(),
        warnings: generation.warnings(),
        restart_needed: generation.restart_needed.clone(),
    }))
}
