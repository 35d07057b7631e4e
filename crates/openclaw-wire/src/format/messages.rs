//! Reads Anthropic's messages, whole or as stream events: is this content, an end, an error?

mod whole;

use bytes::Bytes;

use super::{Delta, Piece, Shows, Whole, is_error, is_error_event, is_filled, shown, unreadable};
use crate::partial_json::Sketch;

pub(super) use whole::events as events_of_whole;

/// The event that ends an answer.
pub(super) const STOP: Bytes =
    Bytes::from_static(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");

/// Members of a delta that show something, by the block they belong to: text, tool input, thinking.
const ANSWER_MEMBERS: &[&str] = &["partial_json", "text"];
/// Blocks that are the model's thinking.
const THINKING_BLOCKS: &[&str] = &["redacted_thinking", "thinking"];

/// Reads one event of a stream.
pub(super) fn read_piece(name: Option<&[u8]>, data: &[u8]) -> Piece {
    let text = data.trim_ascii();
    if text.is_empty() {
        return Piece::Other;
    }
    let Some(event) = Sketch::read(text) else {
        return unreadable(name);
    };
    if name == Some(b"error") || is_error_event(&event, "type") {
        return Piece::Error;
    }
    match event.get("type").and_then(Sketch::as_str) {
        Some("content_block_start") => event
            .get("content_block")
            .map_or(Piece::Other, |block| shown(shows(block))),
        Some("content_block_delta") => event.get("delta").map_or(Piece::Other, |delta| {
            Piece::Deltas(vec![Delta {
                choice: 0,
                shows: delta_shows(delta),
                arguments: tool_input(&event, delta).into_iter().collect(),
                finished: false,
            }])
        }),
        Some("message_delta") => {
            let reason = event.get("delta").and_then(|delta| delta.get("stop_reason"));
            let reason = reason.and_then(Sketch::as_str);
            Piece::Deltas(vec![Delta {
                choice: 0,
                shows: refusal(reason),
                arguments: Vec::new(),
                finished: reason.is_some(),
            }])
        }
        Some("message_stop") => Piece::End(Shows::Nothing),
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
    let Some(content) = answer.get("content").and_then(Sketch::as_list) else {
        return Whole::Unreadable;
    };
    let reason = answer.get("stop_reason").and_then(Sketch::as_str);
    let shown = content.iter().map(shows).chain([refusal(reason)]).max();
    if shown == Some(Shows::Answer) {
        Whole::Answer
    } else {
        Whole::Empty
    }
}

/// Reads a whole count of tokens.
pub(super) fn read_count(body: &[u8]) -> Whole {
    match Sketch::read(body) {
        Some(answer) if is_error(&answer) => Whole::Error,
        Some(answer) if answer.get("input_tokens").and_then(Sketch::as_u64).is_some() => Whole::Answer,
        Some(_) | None => Whole::Unreadable,
    }
}

/// What a block shows; a tool that is called shows its name.
fn shows(block: &Sketch<'_>) -> Shows {
    match block.get("type").and_then(Sketch::as_str) {
        Some("text") if !is_filled(block.get("text")) => Shows::Nothing,
        Some(kind) if THINKING_BLOCKS.contains(&kind) => {
            if is_filled(block.get("thinking")) || is_filled(block.get("data")) {
                Shows::Thinking
            } else {
                Shows::Nothing
            }
        }
        Some(_) => Shows::Answer,
        None => Shows::Nothing,
    }
}

/// A piece of the input of a tool, and the block that it belongs to.
fn tool_input(event: &Sketch<'_>, delta: &Sketch<'_>) -> Option<(u64, String)> {
    let text = delta.get("partial_json")?.as_str()?;
    let block = event.get("index").and_then(Sketch::as_u64).unwrap_or_default();
    Some((block, text.to_owned()))
}

fn delta_shows(delta: &Sketch<'_>) -> Shows {
    if ANSWER_MEMBERS.iter().any(|member| is_filled(delta.get(member))) {
        Shows::Answer
    } else if is_filled(delta.get("thinking")) {
        Shows::Thinking
    } else {
        Shows::Nothing
    }
}

/// A refusal is an answer, though an empty one: another model must not be asked to say what this one refused (BL-97).
fn refusal(stop_reason: Option<&str>) -> Shows {
    if stop_reason == Some("refusal") {
        Shows::Answer
    } else {
        Shows::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(data: &str) -> Piece {
        read_piece(None, data.as_bytes())
    }

    #[test]
    fn what_the_first_content_of_a_stream_is() {
        for (data, expected) in [
            (
                r#"{"type":"message_start","message":{"content":[]}}"#,
                Piece::Other,
            ),
            (r#"{"type":"ping"}"#, Piece::Other),
            (
                r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#,
                shown(Shows::Nothing),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}"#,
                shown(Shows::Nothing),
            ),
            (
                r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
                shown(Shows::Answer),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}"#,
                shown(Shows::Answer),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":""}}"#,
                shown(Shows::Nothing),
            ),
            (
                r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
                Piece::Deltas(vec![Delta {
                    choice: 0,
                    shows: Shows::Answer,
                    arguments: vec![(3, "{".to_owned())],
                    finished: false,
                }]),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
                shown(Shows::Thinking),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}"#,
                shown(Shows::Nothing),
            ),
            (r#"{"type":"content_block_stop","index":0}"#, Piece::Other),
            (r#"{"type":"message_stop"}"#, Piece::End(Shows::Nothing)),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Piece::Error,
            ),
            (
                r#"{"type":"message_stop","error":{}}"#,
                Piece::End(Shows::Nothing),
            ),
            (r#"{"error":{}}"#, Piece::Error),
            ("no json", Piece::Malformed),
            (" ", Piece::Other),
        ] {
            assert_eq!(piece(data), expected, "{data}");
        }
        assert_eq!(read_piece(Some(b"error"), b"{}"), Piece::Error);
    }

    #[test]
    fn a_stop_reason_finishes_and_a_refusal_is_an_answer() {
        for (reason, shows, finished) in [
            ("\"end_turn\"", Shows::Nothing, true),
            ("\"refusal\"", Shows::Answer, true),
            ("null", Shows::Nothing, false),
        ] {
            let data = format!(r#"{{"type":"message_delta","delta":{{"stop_reason":{reason}}}}}"#);
            let Piece::Deltas(deltas) = piece(&data) else {
                panic!("{data}");
            };
            assert_eq!((deltas[0].shows, deltas[0].finished), (shows, finished), "{data}");
        }
    }

    #[test]
    fn whole_answers() {
        for (body, whole) in [
            (r#"{"content":[{"type":"text","text":"Hi"}]}"#, Whole::Answer),
            (
                r#"{"content":[{"type":"tool_use","name":"f","input":{}}]}"#,
                Whole::Answer,
            ),
            (r#"{"content":[],"stop_reason":"refusal"}"#, Whole::Answer),
            (
                r#"{"content":[{"type":"text","text":"Hi"}],"error":""}"#,
                Whole::Answer,
            ),
            (r#"{"content":[],"stop_reason":"end_turn"}"#, Whole::Empty),
            (
                r#"{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":""}]}"#,
                Whole::Empty,
            ),
            (r#"{"type":"error","error":{"type":"api_error"}}"#, Whole::Error),
            (r#"{"choices":[]}"#, Whole::Unreadable),
            ("<html>", Whole::Unreadable),
        ] {
            assert_eq!(read_whole(body.as_bytes()), whole, "{body}");
        }
        assert_eq!(read_count(br#"{"input_tokens":3}"#), Whole::Answer);
        assert_eq!(read_count(br#"{"type":"error","error":{}}"#), Whole::Error);
        assert_eq!(read_count(b"{}"), Whole::Unreadable);
    }
}
