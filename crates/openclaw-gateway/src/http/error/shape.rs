//! The shapes of an error: OpenAI's and Anthropic's, as a body and as the last event of a stream.

use axum::http::StatusCode;
use openclaw_wire::WireFormat;
use serde_json::{Value, json};

use super::ErrorObject;

/// Whose shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Anthropic,
    OpenAi,
}

/// Anthropic's type of an error, by status; other statuses are `api_error`.
#[rustfmt::skip]
const ANTHROPIC_TYPES: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (405, "invalid_request_error"),
    (408, "invalid_request_error"),
    (413, "request_too_large"),
    (415, "invalid_request_error"),
    (429, "rate_limit_error"),
    (503, "overloaded_error"),
];
const ANTHROPIC_OTHER: &str = "api_error";

impl Shape {
    /// The body of an answer with `status`.
    pub(super) fn body(self, status: StatusCode, error: &ErrorObject) -> Value {
        match self {
            Self::OpenAi => json!({ "error": error }),
            Self::Anthropic => {
                let row = ANTHROPIC_TYPES.iter().find(|(own, _)| *own == status.as_u16());
                anthropic(row.map_or(ANTHROPIC_OTHER, |(_, kind)| kind), error)
            }
        }
    }
}

fn anthropic(kind: &str, error: &ErrorObject) -> Value {
    let mut object = json!(error);
    if let Some(members) = object.as_object_mut() {
        members.insert("type".to_owned(), kind.into());
        members.shift_remove("param");
    }
    json!({ "type": "error", "error": object })
}

/// The event that ends a stream which broke off. Responses number their events from 0, and `sent` went before it.
pub(super) fn cut_event(wire: WireFormat, error: &ErrorObject, sent: u64) -> Vec<u8> {
    match wire {
        WireFormat::ChatCompletions | WireFormat::Embeddings => format!("data: {}\n\n", json!({ "error": error })),
        WireFormat::CountTokens | WireFormat::Messages => {
            format!("event: error\ndata: {}\n\n", anthropic(ANTHROPIC_OTHER, error))
        }
        WireFormat::Responses => {
            let event = json!({
                "type": "error", "code": error.code, "message": error.message, "param": error.param, "sequence_number": sent
            });
            format!("event: error\ndata: {event}\n\n")
        }
    }
    .into_bytes()
}
