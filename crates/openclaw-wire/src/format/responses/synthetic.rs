//! A response that no model wrote.

use serde_json::{Value, json};

use super::super::synthetic::SyntheticAnswer;

/// The whole response.
pub(super) fn whole(answer: &SyntheticAnswer<'_>) -> Value {
    response(
        answer,
        "completed",
        &json!([item(answer, "completed", &json!([part(answer.text)]))]),
    )
}

/// The same as a stream.
pub(super) fn events(answer: &SyntheticAnswer<'_>) -> Vec<Value> {
    let item_id = item_id(answer);
    let begun = response(answer, "in_progress", &json!([]));
    let events = [
        json!({ "type": "response.created", "response": begun }),
        json!({ "type": "response.in_progress", "response": begun }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": item(answer, "in_progress", &json!([])) }),
        json!({
            "type": "response.content_part.added", "item_id": item_id, "output_index": 0, "content_index": 0,
            "part": part(""),
        }),
        json!({
            "type": "response.output_text.delta", "item_id": item_id, "output_index": 0, "content_index": 0,
            "delta": answer.text, "logprobs": [],
        }),
        json!({
            "type": "response.output_text.done", "item_id": item_id, "output_index": 0, "content_index": 0,
            "text": answer.text, "logprobs": [],
        }),
        json!({
            "type": "response.content_part.done", "item_id": item_id, "output_index": 0, "content_index": 0,
            "part": part(answer.text),
        }),
        json!({
            "type": "response.output_item.done", "output_index": 0,
            "item": item(answer, "completed", &json!([part(answer.text)])),
        }),
        json!({ "type": "response.completed", "response": whole(answer) }),
    ];
    let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
        event["sequence_number"] = number.into();
        event
    });
    numbered.collect()
}

fn item_id(answer: &SyntheticAnswer<'_>) -> String {
    format!("msg_{}", answer.id)
}

fn item(answer: &SyntheticAnswer<'_>, status: &str, content: &Value) -> Value {
    json!({ "id": item_id(answer), "type": "message", "role": "assistant", "status": status, "content": content })
}

fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// No model was asked, so nothing was used.
fn response(answer: &SyntheticAnswer<'_>, status: &str, output: &Value) -> Value {
    json!({
        "id": format!("resp_{}", answer.id), "object": "response", "created_at": answer.created, "status": status,
        "model": answer.model, "output": output, "error": null, "incomplete_details": null, "instructions": null,
        "metadata": {}, "parallel_tool_calls": true, "temperature": null, "tool_choice": "auto", "tools": [],
        "top_p": null,
        "usage": {
            "input_tokens": 0, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 0, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 0,
        },
    })
}
