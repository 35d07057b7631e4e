//! `GET /metrics`.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use super::RequestContext;
use crate::telemetry::metrics;

/// Everything that is counted, for Prometheus. Asks for the token like every other path.
pub(crate) async fn scrape(context: RequestContext) -> impl IntoResponse {
    (
        [(CONTENT_TYPE, metrics::CONTENT_TYPE)],
        context.process.telemetry.metrics().scrape(),
    )
}
