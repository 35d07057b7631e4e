//! A chat completion.

use serde_json::{Value, json};

use super::OwnAnswer;

/// The whole completion.
pub(super) fn whole(answer: &OwnAnswer<'_>) -> Value {
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
pub(super) fn events(answer: &OwnAnswer<'_>) -> String {
    let chunk = |delta: &Value, finish: Option<&str>| {
        let chunk = json!({
            "id": answer.id, "object": "chat.completion.chunk", "created": answer.created, "model": answer.model,
            "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }],
        });
        format!("data: {chunk}\n\n")
    };
    let text = chunk(&json!({ "role": "assistant", "content": answer.text }), None);
    let end = chunk(&json!({}), Some("stop"));
    format!("{text}{end}data: [DONE]\n\n")
}

/// No model was asked, so nothing was used.
fn usage() -> Value {
    json!({ "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 })
}
