//! OpenAI's embeddings: the row of the format, and whether a body holds vectors.

use super::chat_completions;
use super::event::{ResponseBody, error_as_it_is, is_error, is_filled};
use super::family::ApiFamily;
use super::row::{FormatRow, RequestKind};
use crate::partial_json::PartialJson;

/// The row of the format.
pub(super) static ROW: FormatRow = FormatRow {
    name: "OpenAI embeddings",
    label: "embeddings",
    operation: "embeddings",
    path: "embeddings",
    kind: RequestKind::Embeddings,
    family: ApiFamily::OpenAi,
    read_response,
    error_body: error_as_it_is,
    error_event: chat_completions::error_event,
    user_text: None,
    tool_call_ids: chat_completions::tool_call_ids,
    probe_request: chat_completions::probe_request,
    stream: None,
};

/// Reads a whole body.
fn read_response(body: &[u8]) -> ResponseBody {
    let Some(answer) = PartialJson::read(body) else {
        return ResponseBody::Unreadable;
    };
    if is_error(&answer) {
        return ResponseBody::Error;
    }
    let Some(data) = answer.get("data").and_then(PartialJson::as_list) else {
        return ResponseBody::Unreadable;
    };
    // A vector is a list of numbers, or their bytes in base64.
    if !data.is_empty() && data.iter().all(|row| is_filled(row.get("embedding"))) {
        ResponseBody::Answer
    } else {
        ResponseBody::Empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_needs_its_vector() {
        for (body, whole) in [
            (
                r#"{"data":[{"embedding":[0.1]},{"embedding":"AAA="}]}"#,
                ResponseBody::Answer,
            ),
            (r#"{"data":[]}"#, ResponseBody::Empty),
            (
                r#"{"data":[{"embedding":[0.1]},{"embedding":[]}]}"#,
                ResponseBody::Empty,
            ),
            (r#"{"error":{"message":"m"}}"#, ResponseBody::Error),
            (r#"{"object":"list"}"#, ResponseBody::Unreadable),
            ("<html>", ResponseBody::Unreadable),
        ] {
            assert_eq!(read_response(body.as_bytes()), whole, "{body}");
        }
    }
}
