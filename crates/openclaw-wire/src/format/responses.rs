//! OpenAI's responses: the row of the format, and what its bodies and events are.

mod splice;
mod synthetic;
mod whole;

use std::borrow::Cow;

use serde_json::{Value, json};

use super::event::{
    ContentKind, ResponseBody, StreamEvent, is_error, is_error_event, is_filled, only_delta, unreadable,
};
use super::family::ApiFamily;
use super::row::{FormatRow, RequestKind, StreamEnd, StreamRow, SyntheticRow};
use super::user_text::UserTextPath;
use super::{PROBE, items, texts};
use crate::partial_json::PartialJson;
use crate::surrogates::value_of;

/// The row of the format.
pub(super) static ROW: FormatRow = FormatRow {
    name: "OpenAI responses",
    label: "responses",
    operation: "chat",
    path: "responses",
    kind: RequestKind::Conversation,
    family: ApiFamily::OpenAi,
    read_response,
    error_body,
    error_event,
    user_text: Some(UserTextPath {
        messages: "input",
        part: "input_text",
    }),
    tool_call_ids,
    probe_request,
    stream: Some(StreamRow {
        read_event,
        end: StreamEnd::FullAnswer,
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

/// Events whose `delta` (or other member) shows an answer.
#[rustfmt::skip]
const ANSWERS: &[(&str, &str)] = &[
    ("response.audio.delta",                           "delta"),
    ("response.audio.transcript.delta",                "delta"),
    ("response.code_interpreter_call_code.delta",      "delta"),
    ("response.custom_tool_call_input.delta",          "delta"),
    ("response.function_call_arguments.delta",         "delta"),
    ("response.image_generation_call.partial_image",   "partial_image_b64"),
    ("response.mcp_call_arguments.delta",              "delta"),
    ("response.output_text.delta",                     "delta"),
    ("response.output_text.done",                      "text"),
    ("response.refusal.delta",                         "delta"),
];
/// Events that show the model's thinking.
const THINKING: &[&str] = &[
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
];
/// Events that are the last of a complete answer, and hold all of it.
const ENDS: &[&str] = &["response.completed", "response.incomplete"];
/// States of an answer that is made later, in the background.
const LATER: &[&str] = &["in_progress", "queued"];

/// Reads one event of a stream.
fn read_event(name: Option<&[u8]>, data: &[u8]) -> StreamEvent {
    let text = data.trim_ascii();
    if text.is_empty() || text == b"[DONE]" {
        // Some servers close with the mark of another format; the answer has ended before it.
        return StreamEvent::Other;
    }
    let Some(event) = PartialJson::read(text) else {
        return unreadable(name);
    };
    let named = name.and_then(|name| std::str::from_utf8(name).ok());
    let kind = event
        .get("type")
        .and_then(PartialJson::as_str)
        .or(named)
        .unwrap_or_default();
    if kind == "response.failed"
        || kind == "error"
        || named == Some("error")
        || is_error_event(&event, "type")
    {
        return StreamEvent::Error;
    }
    if ENDS.contains(&kind) {
        return StreamEvent::End(event.get("response").map_or(ContentKind::Nothing, shows));
    }
    if kind == "response.output_item.added" || kind == "response.output_item.done" {
        return event
            .get("item")
            .map_or(StreamEvent::Other, |item| only_delta(item_shows(item)));
    }
    if let Some((_, member)) = ANSWERS.iter().find(|(answer, _)| *answer == kind) {
        return only_delta(if is_filled(event.get(member)) {
            ContentKind::Answer
        } else {
            ContentKind::Nothing
        });
    }
    if THINKING.contains(&kind) && is_filled(event.get("delta")) {
        return only_delta(ContentKind::Thinking);
    }
    StreamEvent::Other
}

/// Reads a whole body.
fn read_response(body: &[u8]) -> ResponseBody {
    let Some(answer) = PartialJson::read(body) else {
        return ResponseBody::Unreadable;
    };
    let status = answer
        .get("status")
        .and_then(PartialJson::as_str)
        .unwrap_or_default();
    if is_error(&answer) || status == "failed" {
        return ResponseBody::Error;
    }
    if answer.get("output").and_then(PartialJson::as_list).is_none() {
        return ResponseBody::Unreadable;
    }
    if LATER.contains(&status) || shows(&answer) == ContentKind::Answer {
        ResponseBody::Answer
    } else {
        ResponseBody::Empty
    }
}

/// An error event's data as an error body: the error of a failed response is inside it, that of an `error` event is
/// spread over it.
fn error_body(data: &[u8]) -> Cow<'_, [u8]> {
    let Some(event) = value_of(data) else {
        return Cow::Borrowed(data);
    };
    let inner = event.pointer("/response/error").filter(|error| !error.is_null());
    let error = match inner {
        Some(error) => error.clone(),
        None if event.get("error").is_none() && event.get("type") == Some(&Value::from("error")) => {
            json!({"code": event.get("code"), "message": event.get("message")})
        }
        None => return Cow::Borrowed(data),
    };
    Cow::Owned(json!({ "error": error }).to_string().into_bytes())
}

/// An error object as the event that ends a stream. Events are numbered from 0.
fn error_event(error: &Value, sent: u64) -> Value {
    let member = |name: &str| error.get(name).cloned().unwrap_or_default();
    json!({
        "type": "error", "code": member("code"), "message": member("message"), "param": member("param"),
        "sequence_number": sent,
    })
}

/// The ids of the calls in a request's input, and those that results name.
fn tool_call_ids(request: &Value) -> Vec<&str> {
    texts(items(request, "input").map(|item| item.get("call_id")))
}

/// The smallest request that shows whether a model answers.
fn probe_request(model: &str) -> Value {
    json!({"model": model, "stream": true, "store": false, "instructions": PROBE,
        "input": [{"role": "user", "content": [{"type": "input_text", "text": PROBE}]}]})
}

/// What a whole response shows.
fn shows(response: &PartialJson<'_>) -> ContentKind {
    let output = response.get("output").and_then(PartialJson::as_list);
    output
        .into_iter()
        .flatten()
        .map(item_shows)
        .max()
        .unwrap_or(ContentKind::Nothing)
}

/// What an item of the output shows: text or refusal of a message, or that something was called.
fn item_shows(item: &PartialJson<'_>) -> ContentKind {
    let any = |list: &str, member: &[&str]| {
        let parts = item.get(list).and_then(PartialJson::as_list);
        let has = |part: &PartialJson<'_>| member.iter().any(|name| is_filled(part.get(name)));
        parts.into_iter().flatten().any(has)
    };
    match item.get("type").and_then(PartialJson::as_str) {
        Some("message") if any("content", &["refusal", "text", "transcript"]) => ContentKind::Answer,
        Some("reasoning") if any("summary", &["text"]) || any("content", &["text"]) => ContentKind::Thinking,
        Some("message" | "reasoning") | None => ContentKind::Nothing,
        Some(_) => ContentKind::Answer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_first_content_of_a_stream_is() {
        for (data, expected) in [
            (
                r#"{"type":"response.created","response":{"error":null}}"#,
                StreamEvent::Other,
            ),
            (r#"{"type":"response.in_progress"}"#, StreamEvent::Other),
            (
                r#"{"type":"response.output_item.added","item":{"type":"message","content":[]}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"response.output_item.added","item":{"type":"function_call","name":"f","arguments":""}}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"response.content_part.added","part":{"type":"output_text","text":""}}"#,
                StreamEvent::Other,
            ),
            (
                r#"{"type":"response.output_text.delta","delta":"Hi"}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"response.output_text.delta","delta":""}"#,
                only_delta(ContentKind::Nothing),
            ),
            (
                r#"{"type":"response.function_call_arguments.delta","delta":"{"}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"response.refusal.delta","delta":"no"}"#,
                only_delta(ContentKind::Answer),
            ),
            (
                r#"{"type":"response.reasoning_summary_text.delta","delta":"hm"}"#,
                only_delta(ContentKind::Thinking),
            ),
            (
                r#"{"type":"response.completed","response":{"output":[]}}"#,
                StreamEvent::End(ContentKind::Nothing),
            ),
            (
                r#"{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"a"}]}]}}"#,
                StreamEvent::End(ContentKind::Answer),
            ),
            (
                r#"{"type":"response.incomplete","response":{"output":[{"type":"reasoning","summary":[{"text":"a"}]}]}}"#,
                StreamEvent::End(ContentKind::Thinking),
            ),
            (
                r#"{"type":"response.failed","response":{"error":{"code":"server_error"}}}"#,
                StreamEvent::Error,
            ),
            (
                r#"{"type":"error","code":"rate_limit_exceeded","message":"m"}"#,
                StreamEvent::Error,
            ),
            (
                r#"{"type":"response.completed","error":false,"response":{"output":[]}}"#,
                StreamEvent::End(ContentKind::Nothing),
            ),
            (r#"{"error":""}"#, StreamEvent::Error),
            ("[DONE]", StreamEvent::Other),
            ("no json", StreamEvent::Malformed),
        ] {
            assert_eq!(read_event(None, data.as_bytes()), expected, "{data}");
        }
        assert_eq!(read_event(Some(b"error"), b"{}"), StreamEvent::Error);
        let named = read_event(Some(b"response.output_text.delta"), br#"{"delta":"Hi"}"#);
        assert_eq!(named, only_delta(ContentKind::Answer));
    }

    #[test]
    fn whole_answers() {
        for (body, whole) in [
            (
                r#"{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}"#,
                ResponseBody::Answer,
            ),
            (
                r#"{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}"#,
                ResponseBody::Answer,
            ),
            (
                r#"{"status":"completed","output":[{"type":"function_call","name":"f"}]}"#,
                ResponseBody::Answer,
            ),
            (
                r#"{"status":"queued","error":{},"output":[]}"#,
                ResponseBody::Answer,
            ),
            (
                r#"{"status":"incomplete","output":[{"type":"reasoning","summary":[]}]}"#,
                ResponseBody::Empty,
            ),
            (
                r#"{"status":"failed","output":[],"error":{"code":"server_error"}}"#,
                ResponseBody::Error,
            ),
            (r#"{"choices":[]}"#, ResponseBody::Unreadable),
            ("<html>", ResponseBody::Unreadable),
        ] {
            assert_eq!(read_response(body.as_bytes()), whole, "{body}");
        }
    }

    #[test]
    fn errors_are_found_wherever_they_stand() {
        for (data, body) in [
            (
                r#"{"type":"response.failed","response":{"error":{"code":"c"}}}"#,
                r#"{"error":{"code":"c"}}"#,
            ),
            (
                r#"{"type":"error","code":"c","message":"m"}"#,
                r#"{"error":{"code":"c","message":"m"}}"#,
            ),
            (
                r#"{"type":"error","error":{"code":"c"}}"#,
                r#"{"type":"error","error":{"code":"c"}}"#,
            ),
            (
                r#"{"type":"error","message":"\ud83d"}"#,
                "{\"error\":{\"code\":null,\"message\":\"\u{fffd}\"}}",
            ),
            (r#"{"type":"other"}"#, r#"{"type":"other"}"#),
            ("no json", "no json"),
        ] {
            assert_eq!(error_body(data.as_bytes()), body.as_bytes(), "{data}");
        }
    }
}
