//! Reads chat completions, whole or as stream chunks: is this content, an end, an error?

use serde_json::Value;

use super::{Delta, Piece, Shows, Whole, is_error, is_error_event, is_filled, unreadable};
use crate::partial_json::Sketch;

/// Members of a message or a delta that show something to the person who waits.
///
/// A closed list: a member that is missing here delays the first content of a stream, while a member too many
/// would give up failover for something nobody sees (a role, an id, usage).
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
pub(super) fn read_piece(name: Option<&[u8]>, data: &[u8]) -> Piece {
    let text = data.trim_ascii();
    if text == b"[DONE]" {
        return Piece::End(Shows::Nothing);
    }
    if text.is_empty() {
        return Piece::Other;
    }
    let Some(chunk) = Sketch::read(text) else {
        return unreadable(name);
    };
    if name == Some(b"error") || is_error_event(&chunk, "choices") {
        return Piece::Error;
    }
    match chunk.get("choices").and_then(Sketch::as_list) {
        Some(choices) if choices.iter().any(is_error_choice) => Piece::Error,
        Some(choices) if !choices.is_empty() => Piece::Deltas(choices.iter().map(delta).collect()),
        _ => Piece::Other,
    }
}

/// Reads a whole body.
pub(super) fn read_whole(body: &[u8]) -> Whole {
    let Some(answer) = Sketch::read(body) else {
        return Whole::Unreadable;
    };
    if is_error(&answer) {
        return Whole::Error;
    }
    let Some(choices) = answer.get("choices").and_then(Sketch::as_list) else {
        return Whole::Unreadable;
    };
    if choices.iter().any(is_error_choice) {
        return Whole::Error;
    }
    let is_answer = |choice: &Sketch<'_>| {
        let message = choice.get("message").unwrap_or(&Sketch::Null);
        shows(message, choice) == Shows::Answer
    };
    if choices.iter().any(is_answer) {
        Whole::Answer
    } else {
        Whole::Empty
    }
}

/// The one chunk that says what a whole completion says; none when it is no completion.
pub(super) fn chunk_of_whole(mut answer: Value) -> Option<Value> {
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

fn is_error_choice(choice: &Sketch<'_>) -> bool {
    is_error(choice) || finish_reason(choice) == Some("error")
}

fn finish_reason<'a>(choice: &'a Sketch<'_>) -> Option<&'a str> {
    choice.get("finish_reason").and_then(Sketch::as_str)
}

fn delta(choice: &Sketch<'_>) -> Delta {
    let delta = choice.get("delta").unwrap_or(&Sketch::Null);
    let calls = delta.get("tool_calls").and_then(Sketch::as_list);
    let arguments = calls.into_iter().flatten().enumerate().map(|(position, call)| {
        let index = call.get("index").and_then(Sketch::as_u64);
        let text = call
            .get("function")
            .and_then(|function| function.get("arguments"))
            .and_then(Sketch::as_str)
            .unwrap_or_default();
        (index.unwrap_or(position as u64), text.to_owned())
    });
    Delta {
        choice: choice.get("index").and_then(Sketch::as_u64).unwrap_or_default(),
        shows: shows(delta, choice),
        arguments: arguments.collect(),
        finished: finish_reason(choice).is_some(),
    }
}

/// What `message` (a message or delta of `choice`) shows.
///
/// A choice stopped by the provider's content filter is an answer, though an empty one: another model must
/// not be asked to say what this one refused (BL-97).
fn shows(message: &Sketch<'_>, choice: &Sketch<'_>) -> Shows {
    let has = |members: &[&str]| members.iter().any(|member| is_filled(message.get(member)));
    if has(ANSWER_MEMBERS) || is_filled(choice.get("text")) || finish_reason(choice) == Some("content_filter")
    {
        Shows::Answer
    } else if has(THINKING_MEMBERS) {
        Shows::Thinking
    } else {
        Shows::Nothing
    }
}

#[cfg(test)]
mod tests;
