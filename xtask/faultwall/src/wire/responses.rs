//! OpenAI's responses.

use serde_json::{Value, json};

use super::{Events, event, parsed, whole_value};

fn response(model: &str, status: &str, output: &Value) -> Value {
    json!({
        "id": "resp_wall", "object": "response", "created_at": 1, "status": status, "model": model, "error": null,
        "incomplete_details": null, "instructions": null, "metadata": {}, "parallel_tool_calls": true,
        "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0, "output": output,
        "usage": {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        },
    })
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

fn item(status: &str, content: &Value) -> Value {
    json!({"id": "msg_wall", "type": "message", "role": "assistant", "status": status, "content": content})
}

pub(super) fn events(model: &str, tokens: &[String]) -> Events {
    let mut number = 0;
    let mut numbered = |name: &str, mut value: Value| {
        value["type"] = name.into();
        value["sequence_number"] = number.into();
        number += 1;
        event(name, &value)
    };
    let at = json!({"item_id": "msg_wall", "output_index": 0, "content_index": 0});
    let with = |name: &str, value: Value| {
        let mut with = at.clone();
        with[name] = value;
        with
    };
    let created = response(model, "in_progress", &json!([]));
    let opening = [
        numbered("response.created", json!({"response": created})),
        numbered("response.in_progress", json!({"response": created})),
        numbered(
            "response.output_item.added",
            json!({"output_index": 0, "item": item("in_progress", &json!([]))}),
        ),
        numbered("response.content_part.added", with("part", part(""))),
    ];
    let deltas = tokens
        .iter()
        .map(|token| numbered("response.output_text.delta", with("delta", token.as_str().into())));
    let tokens_sent: Vec<String> = deltas.collect();
    let text = tokens.concat();
    let done = item("completed", &json!([part(&text)]));
    let closing = [
        numbered("response.output_text.done", with("text", text.as_str().into())),
        numbered("response.content_part.done", with("part", part(&text))),
        numbered(
            "response.output_item.done",
            json!({"output_index": 0, "item": done}),
        ),
        numbered(
            "response.completed",
            json!({"response": response(model, "completed", &json!([done]))}),
        ),
    ];
    Events {
        opening: opening.concat(),
        tokens: tokens_sent,
        closing: closing.concat(),
    }
}

pub(super) fn whole(model: &str, tokens: &[String]) -> Value {
    let done = item("completed", &json!([part(&tokens.concat())]));
    response(model, "completed", &json!([done]))
}

pub(super) fn error_event(model: &str, kind: &str, message: &str) -> String {
    let mut failed = response(model, "failed", &json!([]));
    failed["error"] = json!({"code": kind, "message": message});
    let data = json!({"type": "response.failed", "sequence_number": 0, "response": failed});
    event("response.failed", &data)
}

pub(super) fn text_of(body: &str, is_stream: bool) -> Result<String, String> {
    let text_in = |response: &Value| {
        let text = response
            .pointer("/output/0/content/0/text")
            .and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| response.to_string())
    };
    if !is_stream {
        return text_in(&whole_value(body)?);
    }
    let mut text = String::new();
    for value in parsed(body)? {
        match value.get("type").and_then(Value::as_str).unwrap_or_default() {
            "error" | "response.failed" => return Err(value.to_string()),
            "response.output_text.delta" => {
                text += value.get("delta").and_then(Value::as_str).unwrap_or_default();
            }
            "response.completed" => {
                let all = text_in(&value["response"])?;
                return if all == text {
                    Ok(text)
                } else {
                    Err(format!("{all:?} after {text:?}"))
                };
            }
            _ => {}
        }
    }
    Err(format!("no response.completed after {text:?}"))
}
