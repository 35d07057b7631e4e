//! An answer that the gateway gives by itself, in the shape of a request's wire format, whole or as a stream.

mod chat_completions;
mod messages;
mod responses;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use openclaw_wire::WireFormat;

/// What is said, and as whose answer.
pub(super) struct OwnAnswer<'a> {
    /// Names the answer.
    pub(super) id: &'a str,
    /// The model as the client asked for it.
    pub(super) model: &'a str,
    /// Unix seconds.
    pub(super) created: i64,
    pub(super) text: &'a str,
}

/// How the client wants to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Stream,
    Whole,
}

impl OwnAnswer<'_> {
    /// The answer, where the wire format is one of conversations.
    pub(super) fn response(&self, wire: WireFormat, delivery: Delivery) -> Option<Response> {
        use Delivery::{Stream, Whole};
        let body = match (wire, delivery) {
            (WireFormat::ChatCompletions, Whole) => chat_completions::whole(self).to_string(),
            (WireFormat::ChatCompletions, Stream) => chat_completions::events(self),
            (WireFormat::Messages, Whole) => messages::whole(self).to_string(),
            (WireFormat::Messages, Stream) => messages::events(self),
            (WireFormat::Responses, Whole) => responses::whole(self).to_string(),
            (WireFormat::Responses, Stream) => responses::events(self),
            (WireFormat::CountTokens | WireFormat::Embeddings, _) => return None,
        };
        let kind = match delivery {
            Whole => "application/json",
            Stream => "text/event-stream",
        };
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(kind)),
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        ];
        Some((headers, Body::from(body)).into_response())
    }
}

/// A server-sent event with a name.
fn named_event(data: &Value) -> String {
    let name = data["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: OwnAnswer<'_> = OwnAnswer {
        id: "oc-1",
        model: "openclaw",
        created: 1_700_000_000,
        text: "🧠 Model: \"a/m\"\nsecond line",
    };

    #[test]
    fn each_format_says_it_in_its_own_shape() {
        for (name, whole, events) in [
            (
                "chat",
                chat_completions::whole(&ANSWER),
                chat_completions::events(&ANSWER),
            ),
            ("messages", messages::whole(&ANSWER), messages::events(&ANSWER)),
            ("responses", responses::whole(&ANSWER), responses::events(&ANSWER)),
        ] {
            insta::assert_snapshot!(name, format!("{whole:#}\n\n{events}"));
        }
    }

    #[test]
    fn only_conversations_are_answered() {
        for (wire, is) in [
            (WireFormat::ChatCompletions, true),
            (WireFormat::CountTokens, false),
            (WireFormat::Embeddings, false),
            (WireFormat::Messages, true),
            (WireFormat::Responses, true),
        ] {
            assert_eq!(ANSWER.response(wire, Delivery::Whole).is_some(), is, "{wire:?}");
        }
    }
}
