//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Events, data, parsed, whole_value};

fn chunk(model: &str, delta: &Value, finish: &Value) -> String {
    data(&json!({
        "id": "chatcmpl-wall", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }))
}

pub(super) fn events(model: &str, tokens: &[String]) -> Events {
    Events {
        opening: chunk(model, &json!({"role": "assistant", "content": ""}), &Value::Null),
        tokens: tokens
            .iter()
            .map(|token| chunk(model, &json!({"content": token}), &Value::Null))
            .collect(),
        closing: chunk(model, &json!({}), &"stop".into()) + "data: [DONE]\n\n",
    }
}

pub(super) fn whole(model: &str, tokens: &[String]) -> Value {
    json!({
        "id": "chatcmpl-wall", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{
            "index": 0, "message": {"role": "assistant", "content": tokens.concat()}, "finish_reason": "stop",
        }],
        "usage": {"prompt_tokens": 1, "completion_tokens": tokens.len(), "total_tokens": tokens.len() + 1},
    })
}

pub(super) fn text_of(body: &str, is_stream: bool) -> Result<String, String> {
    if !is_stream {
        let value = whole_value(body)?;
        let text = value
            .pointer("/choices/0/message/content")
            .and_then(Value::as_str);
        return text.map(str::to_owned).ok_or_else(|| body.to_owned());
    }
    let (mut text, mut done) = (String::new(), false);
    for value in parsed(body)? {
        if value.get("error").is_some() {
            return Err(value.to_string());
        }
        done |= value == "[DONE]";
        text += value
            .pointer("/choices/0/delta/content")
            .and_then(Value::as_str)
            .unwrap_or_default();
    }
    if done {
        Ok(text)
    } else {
        Err(format!("no [DONE] after {text:?}"))
    }
}
