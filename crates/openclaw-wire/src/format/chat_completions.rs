//! OpenAI's chat completions: the row of the format, and what its bodies and chunks are.

mod notice;
mod splice;
mod synthetic;

use serde_json::{Value, json};

use super::event::{
    ContentKind, Delta, ResponseBody, StreamEvent, error_as_it_is, is_error, is_error_event, is_filled,
    unreadable,
};
use super::family::ApiFamily;
use super::row::{FormatRow, NoticeRow, RequestKind, StreamEnd, StreamRow, SyntheticRow};
use super::user_text::UserTextPath;
use super::{PROBE, items, texts};

/// The row of the format.
pub(super) static ROW: FormatRow = FormatRow {
    name: "OpenAI chat completions",
    label: "chat_completions",
    operation: "chat",
    path: "chat/completions",
    kind: RequestKind::Conversation,
    family: ApiFamily::OpenAi,
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
        end: StreamEnd::Mark(
            b"data: [DONE]

",
        ),
        named_events: false,
        may_end_with_calls: true,
        events_of_response,
        tracker: splice::tracker,
        synthetic: SyntheticRow {
            whole: synthetic::whole,
            events: synthetic::events,
        },
        notice: Some(NoticeRow {
            in_response: notice::in_response,
            event_before: notice::event_before,
        }),
    }),
};

use crate::partial_json::PartialJson;

/// Members of a message or a delta that show something to a reader.
///
/// A closed list: a member that is missing here delays the first content of a stream, while a member too many
/// would give up failover for something that no reader sees (a role, an id, usage).
const ANSWER_MEMBERS: &[&str] = &[
    "audio",
    "content",
    "function_call",
    "images",
    "refusal",
    "tool_calls",
];

/// Members that show the model's thinking. They are worth showing live, but they are not an answer.
const THINKING_MEMBERS: &[&str] = &["reasoning", "reasoning_content", "reasoning_details", "thinking"];

/// Reads the data of one event of a stream.
fn read_event(name: Option<&[u8]>, data: &[u8]) -> StreamEvent {
    let text = data.trim_ascii();
    if text == b"[DONE]" {
        return StreamEvent::End(ContentKind::Nothing);
    }
    if text.is_empty() {
        return StreamEvent::Other;
    }
    let Some(chunk) = PartialJson::read(text) else {
        return unreadable(name);
    };
    if name == Some(b"error") || is_error_event(&chunk, "choices") {
        return StreamEvent::Error;
    }
    match chunk.get("choices").and_then(PartialJson::as_list) {
        Some(choices) if choices.iter().any(is_error_choice) => StreamEvent::Error,
        Some(choices) if !choices.is_empty() => StreamEvent::Deltas(choices.iter().map(delta).collect()),
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
    let Some(choices) = answer.get("choices").and_then(PartialJson::as_list) else {
        return ResponseBody::Unreadable;
    };
    if choices.iter().any(is_error_choice) {
        return ResponseBody::Error;
    }
    let is_answer = |choice: &PartialJson<'_>| {
        let message = choice.get("message").unwrap_or(&PartialJson::Null);
        shows(message, choice) == ContentKind::Answer
    };
    if choices.iter().any(is_answer) {
        ResponseBody::Answer
    } else {
        ResponseBody::Empty
    }
}

/// The one chunk that says what a whole completion says; none when it is no completion.
fn chunk_of_whole(mut answer: Value) -> Option<Value> {
    let members = answer.as_object_mut()?;
    members.insert("object".to_owned(), "chat.completion.chunk".into());
    for choice in members.get_mut("choices")?.as_array_mut()? {
        let Some(choice) = choice.as_object_mut() else {
            continue;
        };
        let Some(mut message) = choice.remove("message") else {
            continue;
        };
        let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for (index, call) in calls.into_iter().flatten().enumerate() {
            if let Some(call) = call.as_object_mut() {
                call.entry("index").or_insert_with(|| index.into());
            }
        }
        choice.insert("delta".to_owned(), message);
        choice.entry("finish_reason").or_insert_with(|| "stop".into());
    }
    Some(answer)
}

/// The same as all events but the mark at the end.
fn events_of_response(answer: Value) -> Option<Vec<Value>> {
    Some(vec![chunk_of_whole(answer)?])
}

/// An error object as the event that ends a stream.
pub(super) fn error_event(error: &Value, _: u64) -> Value {
    json!({ "error": error })
}

/// The ids of the calls in a request's messages, and those that results name.
pub(super) fn tool_call_ids(request: &Value) -> Vec<&str> {
    texts(items(request, "messages").flat_map(|message| {
        let calls = items(message, "tool_calls").map(|call| call.get("id"));
        calls.chain([message.get("tool_call_id")])
    }))
}

/// The smallest request that shows whether a model answers.
pub(super) fn probe_request(model: &str) -> Value {
    json!({"model": model, "stream": true, "messages": [{"role": "user", "content": PROBE}]})
}

fn is_error_choice(choice: &PartialJson<'_>) -> bool {
    is_error(choice) || finish_reason(choice) == Some("error")
}

fn finish_reason<'a>(choice: &'a PartialJson<'_>) -> Option<&'a str> {
    choice.get("finish_reason").and_then(PartialJson::as_str)
}

fn delta(choice: &PartialJson<'_>) -> Delta {
    let delta = choice.get("delta").unwrap_or(&PartialJson::Null);
    let calls = delta.get("tool_calls").and_then(PartialJson::as_list);
    let arguments = calls.into_iter().flatten().enumerate().map(|(position, call)| {
        let index = call.get("index").and_then(PartialJson::as_u64);
        let text = call
            .get("function")
            .and_then(|function| function.get("arguments"))
            .and_then(PartialJson::as_str)
            .unwrap_or_default();
        (index.unwrap_or(position as u64), text.to_owned())
    });
    Delta {
        choice: choice
            .get("index")
            .and_then(PartialJson::as_u64)
            .unwrap_or_default(),
        content: shows(delta, choice),
        arguments: arguments.collect(),
        finished: finish_reason(choice).is_some(),
    }
}

/// What `message` (a message or delta of `choice`) shows.
///
/// A choice stopped by the provider's content filter is an answer, though an empty one: another model must
/// not be asked to say what this one refused (BL-97).
fn shows(message: &PartialJson<'_>, choice: &PartialJson<'_>) -> ContentKind {
    let has = |members: &[&str]| members.iter().any(|member| is_filled(message.get(member)));
    if has(ANSWER_MEMBERS) || is_filled(choice.get("text")) || finish_reason(choice) == Some("content_filter")
    {
        ContentKind::Answer
    } else if has(THINKING_MEMBERS) {
        ContentKind::Thinking
    } else {
        ContentKind::Nothing
    }
}

#[cfg(test)]
mod tests;
