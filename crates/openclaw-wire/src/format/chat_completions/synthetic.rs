//! A chat completion that no model wrote.

use serde_json::{Value, json};

use super::super::synthetic::SyntheticAnswer;

/// The whole completion.
pub(super) fn whole(answer: &SyntheticAnswer<'_>) -> Value {
    json!({
        "id": answer.id, "object": "chat.completion", "created": answer.created, "model": answer.model,
        "choices": [{
            "index": 0, "message": { "role": "assistant", "content": answer.text, "refusal": null },
            "logprobs": null, "finish_reason": "stop",
        }],
        "usage": usage(),
    })
}

/// The same as a stream.
pub(super) fn events(answer: &SyntheticAnswer<'_>) -> Vec<Value> {
    let chunk = |delta: &Value, finish: Option<&str>| {
        json!({
            "id": answer.id, "object": "chat.completion.chunk", "created": answer.created, "model": answer.model,
            "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }],
        })
    };
    let text = chunk(&json!({ "role": "assistant", "content": answer.text }), None);
    let end = chunk(&json!({}), Some("stop"));
    vec![text, end]
}

/// No model was asked, so nothing was used.
fn usage() -> Value {
    json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 })
}
