//! An answer that the gateway gives by itself, in the wire format of its request.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use openclaw_wire::{SyntheticAnswer, WireFormat};

/// How the client reads the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As server-sent events.
    Stream,
    /// As one body.
    Whole,
}

/// `answer` as a response, where the wire format is one of conversations.
pub(super) fn synthetic_response(
    answer: &SyntheticAnswer<'_>,
    wire: WireFormat,
    delivery: Delivery,
) -> Option<Response> {
    let (content_type, body) = match delivery {
        Delivery::Stream => ("text/event-stream", Body::from(wire.synthetic_stream(answer)?)),
        Delivery::Whole => ("application/json", Body::from(wire.synthetic_body(answer)?)),
    };
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    Some((headers, body).into_response())
}
