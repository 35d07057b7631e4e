//! A message that no model wrote.

use serde_json::{Value, json};

use super::super::synthetic::SyntheticAnswer;

/// The whole message.
pub(super) fn whole(answer: &SyntheticAnswer<'_>) -> Value {
    message(
        answer,
        &json!([{ "type": "text", "text": answer.text }]),
        Some("end_turn"),
    )
}

/// The same as a stream.
pub(super) fn events(answer: &SyntheticAnswer<'_>) -> Vec<Value> {
    vec![
        json!({ "type": "message_start", "message": message(answer, &json!([]), None) }),
        json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
        json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": answer.text } }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta", "delta": { "stop_reason": "end_turn", "stop_sequence": null },
            "usage": { "output_tokens": 0 },
        }),
        json!({ "type": "message_stop" }),
    ]
}

/// No model was asked, so nothing was used.
fn message(answer: &SyntheticAnswer<'_>, content: &Value, stop_reason: Option<&str>) -> Value {
    json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": { "input_tokens": 0, "output_tokens": 0 },
    })
}
