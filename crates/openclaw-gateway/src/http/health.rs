//! `GET /healthz`: whether the process answers; open to everybody.

use axum::Json;
use serde::Serialize;

/// The answer.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    status: &'static str,
}

/// Answers as long as the process does.
pub(crate) async fn handle() -> Json<Health> {
    Json(Health { status: "ok" })
}
