//! The span of a request, in which the runner's spans lie.

use axum::http::HeaderMap;
use openclaw_runner::telemetry::field;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use openclaw_wire::WireFormat;

/// The span of a request.
const REQUEST_SPAN: &str = "request";
/// The format that a request is made in.
const WIRE: &str = "openclaw.wire";

/// The span of a request, below the caller's own span when a `traceparent` header names one.
pub(crate) fn request_span(wire: WireFormat, id: &str, headers: &HeaderMap) -> Span {
    let span = tracing::info_span!(
        "request",
        otel.name = REQUEST_SPAN,
        otel.kind = "server",
        otel.status_code = Empty,
        { field::OPERATION } = wire.operation(),
        { WIRE } = wire.label(),
        { field::RUN_ID } = id,
        { field::STATUS } = Empty,
    );
    if headers.contains_key("traceparent") && !span.is_disabled() {
        let caller = TraceContextPropagator::new().extract(&Carrier(headers));
        if caller.span().span_context().is_valid() {
            // Refused when nothing is delivered, and then nothing is lost.
            let _ = span.set_parent(caller);
        }
    }
    span
}

/// Notes what a request was answered with.
pub(crate) fn responded(span: &Span, status: u16) {
    span.record(field::STATUS, status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

struct Carrier<'a>(&'a HeaderMap);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(axum::http::HeaderName::as_str).collect()
    }
}
