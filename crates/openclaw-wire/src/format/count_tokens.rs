//! Anthropic's token counts: the row of the format, and whether a body holds a number.

use super::event::{ResponseBody, error_as_it_is, is_error};
use super::family::ApiFamily;
use super::messages;
use super::row::{FormatRow, RequestKind};
use crate::partial_json::PartialJson;

/// The row of the format. Its requests are those of messages.
pub(super) static ROW: FormatRow = FormatRow {
    name: "Anthropic messages",
    label: "count_tokens",
    operation: "chat",
    path: "messages/count_tokens",
    kind: RequestKind::TokenCount,
    family: ApiFamily::Anthropic,
    read_response,
    error_body: error_as_it_is,
    error_event: messages::error_event,
    user_text: None,
    tool_call_ids: messages::tool_call_ids,
    probe_request: messages::probe_request,
    stream: None,
};

/// Reads a whole body.
fn read_response(body: &[u8]) -> ResponseBody {
    match PartialJson::read(body) {
        Some(answer) if is_error(&answer) => ResponseBody::Error,
        Some(answer) if answer.get("input_tokens").and_then(PartialJson::as_u64).is_some() => {
            ResponseBody::Answer
        }
        Some(_) | None => ResponseBody::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number() {
        assert_eq!(read_response(br#"{"input_tokens":3}"#), ResponseBody::Answer);
        assert_eq!(
            read_response(br#"{"type":"error","error":{}}"#),
            ResponseBody::Error
        );
        assert_eq!(read_response(b"{}"), ResponseBody::Unreadable);
    }
}
