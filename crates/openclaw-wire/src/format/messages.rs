//! Anthropic's messages: the row of the format, and what its bodies and events are.

mod splice;
mod synthetic;
mod whole;

use serde_json::{Value, json};

use super::event::{
    ContentKind, Delta, ResponseBody, StreamEvent, error_as_it_is, is_error, is_error_event, is_filled,
    only_delta, unreadable,
};
use super::family::{ApiFamily, anthropic_error};
use super::row::{FormatRow, RequestKind, StreamEnd, StreamRow, SyntheticRow};
use super::user_text::UserTextPath;
use super::{PROBE, items, texts};

/// The row of the format.
pub(super) static ROW: FormatRow = FormatRow {
    name: "Anthropic messages",
    label: "messages",
    operation: "chat",
    path: "messages",
    kind: RequestKind::Conversation,
    family: ApiFamily::Anthropic,
    read_response,
    error_body: error_as_it_is,
    error_event,
    user_text: Some(UserTextPath {
        messages: "messages",
        part: "text",
    }),
    tool_call_ids,
    probe_request,
    stream: Some(StreamRow {
        read_event,
        end: StreamEnd::Event(
            b"event: message_stop
data: {\"type\":\"message_stop\"}

",
        ),
        named_events: true,
        may_end_with_calls: false,
        events_of_response: whole::events,
        tracker: splice::tracker,
        synthetic: SyntheticRow {
            whole: synthetic::whole,
            events: synthetic::events,
        },
        notice: None,
    }),
};
use crate::partial_json::PartialJson;

/// Members of a delta that show something, by the block they belong to: text, tool input, thinking.
const ANSWER_MEMBERS: &[&str] = &["partial_json", "text"];
/// Blocks that are the model's thinking.
const THINKING_BLOCKS: &[&str] = &["redacted_thinking", "thinking"];

/// Reads one event of a stream.
fn read_event(name: Option<&[u8]>, data: &[u8]) -> StreamEvent {
    let text = data.trim_ascii();
    if text.is_empty() {
        return StreamEvent::Other;
    }
    let Some(event) = PartialJson::read(text) else {
        return unreadable(name);
    };
    if name == Some(b"error") || is_error_event(&event, "type") {
        return StreamEvent::Error;
    }
    match event.get("type").and_then(PartialJson::as_str) {
        Some("content_block_start") => event
            .get("content_block")
            .map_or(StreamEvent::Other, |block| only_delta(shows(block))),
        Some("content_block_delta") => event.get("delta").map_or(StreamEvent::Other, |delta| {
            StreamEvent::Deltas(vec![Delta {
                choice: 0,
                content: delta_shows(delta),
                arguments: tool_input(&event, delta).into_iter().collect(),
                finished: false,
            }])
        }),
        Some("message_delta") => {
            let reason = event.get("delta").and_then(|delta| delta.get("stop_reason"));
            let reason = reason.and_then(PartialJson::as_str);
            StreamEvent::Deltas(vec![Delta {
                choice: 0,
                content: refusal(reason),
                arguments: Vec::new(),
                finished: reason.is_some(),
            }])
        }
        Some("message_stop") => StreamEvent::End(ContentKind::Nothing),
        _ => StreamEvent::Other,
    }
}

/// Reads a whole body.
fn read_response(body: &[u8]) -> ResponseBody {
    let Some(answer) = PartialJson::read(body) else {
        return ResponseBody::Unreadable;
    };
    if is_error(&answer) {
        return ResponseBody::Error;
    }
    let Some(content) = answer.get("content").and_then(PartialJson::as_list) else {
        return ResponseBody::Unreadable;
    };
    let reason = answer.get("stop_reason").and_then(PartialJson::as_str);
    let shown = content.iter().map(shows).chain([refusal(reason)]).max();
    if shown == Some(ContentKind::Answer) {
        ResponseBody::Answer
    } else {
        ResponseBody::Empty
    }
}

/// An error object as the event that ends a stream.
pub(super) fn error_event(error: &Value, _: u64) -> Value {
    anthropic_error(error)
}

/// The ids of the calls in a request's blocks, and those that results name.
pub(super) fn tool_call_ids(request: &Value) -> Vec<&str> {
    let blocks = items(request, "messages").flat_map(|message| items(message, "content"));
    texts(
        blocks.map(|block| match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => block.get("id"),
            Some("tool_result") => block.get("tool_use_id"),
            Some(_) | None => None,
        }),
    )
}

/// The smallest request that shows whether a model answers.
pub(super) fn probe_request(model: &str) -> Value {
    let messages = json!([{"role": "user", "content": PROBE}]);
    json!({"model": model, "stream": true, "max_tokens": 16, "messages": messages})
}

/// What a block shows; a tool that is called shows its name.
fn shows(block: &PartialJson<'_>) -> ContentKind {
    match block.get("type").and_then(PartialJson::as_str) {
        Some("text") if !is_filled(block.get("text")) => ContentKind::Nothing,
        Some(kind) if THINKING_BLOCKS.contains(&kind) => {
            if is_filled(block.get("thinking")) || is_filled(block.get("data")) {
                ContentKind::Thinking
            } else {
                ContentKind::Nothing
            }
        }
        Some(_) => ContentKind::Answer,
        None => ContentKind::Nothing,
    }
}

/// A piece of the input of a tool, and the block that it belongs to.
fn tool_input(event: &PartialJson<'_>, delta: &PartialJson<'_>) -> Option<(u64, String)> {
    let text = delta.get("partial_json")?.as_str()?;
    let block = event
        .get("index")
        .and_then(PartialJson::as_u64)
        .unwrap_or_default();
    Some((block, text.to_owned()))
}

fn delta_shows(delta: &PartialJson<'_>) -> ContentKind {
    if ANSWER_MEMBERS.iter().any(|member| is_filled(delta.get(member))) {
        ContentKind::Answer
    } else if is_filled(delta.get("thinking")) {
        ContentKind::Thinking
    } else {
        ContentKind::Nothing
    }
}

/// A refusal is an answer, though an empty one: another model must not be asked to say what this one refused (BL-97).
fn refusal(stop_reason: Option<&str>) -> ContentKind {
    if stop_reason == Some("refusal") {
        ContentKind::Answer
    } else {
        ContentKind::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(data: &str) -> StreamEvent {
        read_event(None, data.as_bytes())
    }

    #[test]
    fn what_the_first_content_of_a_stream_is() {
        for (data, expected) in [
            (
                r#"{"type":"message_start","message":{"content":[]}}"#,
                StreamEvent::Other,
            ),
            (r#"{"type":"ping"}"#, StreamEvent::Other),
            (
                r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                StreamEvent::Deltas(vec![Delta {
                    choice: 0,
                    content: ContentKind::Answer,
                    arguments: vec![(3, "{".to_owned())],
                    finished: false,
                }]),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                only_delta(ContentKind::Thinking),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (r#"{"type":"content_block_stop","index":0}"#, StreamEvent::Other),
            (
                r#"{"type":"message_stop"}"#,
                StreamEvent::End(ContentKind::Nothing),
            ),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                StreamEvent::Error,
            ),
            (
                r#"{"type":"message_stop","error":{}}"#,
                StreamEvent::End(ContentKind::Nothing),
            ),
            (r#"{"error":{}}"#, StreamEvent::Error),
            ("no json", StreamEvent::Malformed),
            (" ", StreamEvent::Other),
        ] {
            assert_eq!(piece(data), expected, "{data}");
        }
        assert_eq!(read_event(Some(b"error"), b"{}"), StreamEvent::Error);
    }

    #[test]
    fn a_stop_reason_finishes_and_a_refusal_is_an_answer() {
        for (reason, shows, finished) in [
            ("\"end_turn\"", ContentKind::Nothing, true),
            ("\"refusal\"", ContentKind::Answer, true),
            ("null", ContentKind::Nothing, false),
        ] {
            let data = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":{reason}}}}}"#);
            let StreamEvent::Deltas(deltas) = piece(&data) else {
                panic!("{data}");
            };
            assert_eq!(
                (deltas[0].content, deltas[0].finished),
                (shows, finished),
                "{data}"
            );
        }
    }

    #[test]
    fn whole_answers() {
        for (body, whole) in [
            (
                r#"{"content":[{"type":"text","text":"Hi"}]}"#,
                ResponseBody::Answer,
            ),
            (
                r#"{"content":[{"type":"tool_use","name":"f","input":{}}]}"#,
                ResponseBody::Answer,
            ),
            (r#"{"content":[],"stop_reason":"refusal"}"#, ResponseBody::Answer),
            (
                r#"{"content":[{"type":"text","text":"Hi"}],"error":""}"#,
                ResponseBody::Answer,
            ),
            (r#"{"content":[],"stop_reason":"end_turn"}"#, ResponseBody::Empty),
            (
                r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":""}]}"#,
                ResponseBody::Empty,
            ),
            (
                r#"{"type":"error","error":{"type":"api_error"}}"#,
                ResponseBody::Error,
            ),
            (r#"{"choices":[]}"#, ResponseBody::Unreadable),
            ("<html>", ResponseBody::Unreadable),
        ] {
            assert_eq!(read_response(body.as_bytes()), whole, "{body}");
        }
    }
}
