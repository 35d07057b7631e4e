//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Events, event, parsed, whole_value};

pub(super) fn events(model: &str, tokens: &[String]) -> Events {
    let message = json!({
        "id": "msg_wall", "type": "message", "role": "assistant", "model": model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 0},
    });
    let opening = [
        event(
            "message_start",
            &json!({"type": "message_start", "message": message}),
        ),
        event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        event("ping", &json!({"type": "ping"})),
    ];
    let delta = |token: &String| {
        let delta = json!({"type": "text_delta", "text": token});
        event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        )
    };
    let stop = json!({"stop_reason": "end_turn", "stop_sequence": null});
    let closing = [
        event(
            "content_block_stop",
            &json!({"type": "content_block_stop", "index": 0}),
        ),
        event(
            "message_delta",
            &json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": tokens.len()}}),
        ),
        event("message_stop", &json!({"type": "message_stop"})),
    ];
    Events {
        opening: opening.concat(),
        tokens: tokens.iter().map(delta).collect(),
        closing: closing.concat(),
    }
}

pub(super) fn whole(model: &str, tokens: &[String]) -> Value {
    json!({
        "id": "msg_wall", "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": tokens.concat()}],
        "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": tokens.len()},
    })
}

pub(super) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(super) fn text_of(body: &str, is_stream: bool) -> Result<String, String> {
    if !is_stream {
        let value = whole_value(body)?;
        let text = value.pointer("/content/0/text").and_then(Value::as_str);
        return text.map(str::to_owned).ok_or_else(|| body.to_owned());
    }
    let (mut text, mut done) = (String::new(), false);
    for value in parsed(body)? {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind == "error" {
            return Err(value.to_string());
        }
        done |= kind == "message_stop";
        text += value
            .pointer("/delta/text")
            .and_then(Value::as_str)
            .unwrap_or_default();
    }
    if done {
        Ok(text)
    } else {
        Err(format!("no message_stop after {text:?}"))
    }
}
