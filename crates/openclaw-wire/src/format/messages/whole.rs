//! A whole message as the events that would have brought it (BL-89).

use serde_json::{Map, Value, json};

/// What blocks say in deltas: the kind of the block, its member, the kind of the delta. The rest of a block stands in the
/// event that begins it.
#[rustfmt::skip]
static SENT_IN_DELTAS: &[(&str, &str, &str)] = &[
    ("text",     "text",      "text_delta"),
    ("thinking", "thinking",  "thinking_delta"),
    ("thinking", "signature", "signature_delta"),
];
/// Blocks that call a tool.
const TOOLS: &[&str] = &["mcp_tool_use", "server_tool_use", "tool_use"];

/// The events of `message`, the last of which ends it; none when it is no message.
pub(super) fn events(mut message: Value) -> Option<Vec<Value>> {
    let members = message.as_object_mut()?;
    let Value::Array(blocks) = members.get_mut("content").map(Value::take)? else {
        return None;
    };
    members.insert("content".to_owned(), json!([]));
    let mut end = Map::new();
    for name in ["stop_reason", "stop_sequence"] {
        let value = members.insert(name.to_owned(), Value::Null);
        end.insert(name.to_owned(), value.unwrap_or_default());
    }
    let mut last = json!({"type": "message_delta", "delta": end});
    if let Some(usage) = members.get("usage") {
        last["usage"] = usage.clone();
    }
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, block) in blocks.into_iter().enumerate() {
        events.extend(of_block(index, block));
    }
    events.extend([last, json!({"type": "message_stop"})]);
    Some(events)
}

fn of_block(index: usize, mut block: Value) -> Vec<Value> {
    let kind = block["type"].as_str().unwrap_or_default().to_owned();
    let mut deltas = Vec::new();
    for (_, member, delta) in SENT_IN_DELTAS.iter().filter(|(of, ..)| *of == kind) {
        if let Some(text @ Value::String(_)) = block.get_mut(*member) {
            let text = std::mem::replace(text, "".into());
            deltas.push(json!({"type": delta, *member: text}));
        }
    }
    if TOOLS.contains(&kind.as_str())
        && let Some(input) = block.get_mut("input")
    {
        let input = std::mem::replace(input, json!({}));
        deltas.push(json!({"type": "input_json_delta", "partial_json": input.to_string()}));
    }
    let mut events = vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::WireFormat;

    #[test]
    fn every_block_is_begun_told_and_closed() {
        let message = json!({
            "id": "m", "type": "message", "role": "assistant", "model": "large",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "Hi", "citations": [{"cited_text": "c"}]},
                {"type": "tool_use", "id": "t", "name": "look", "input": {"at": [1]}},
                {"type": "tool_use", "id": "u", "name": "wait", "input": {}},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 3, "output_tokens": 7},
        });
        let events = WireFormat::Messages
            .events_of_response(message.to_string().as_bytes())
            .unwrap();
        insta::assert_snapshot!("message", String::from_utf8(events.concat()).unwrap());
    }

    #[test]
    fn what_is_no_message_has_no_events() {
        for body in ["[]", "{}", r#"{"content":"Hi"}"#] {
            assert_eq!(events(serde_json::from_str(body).unwrap()), None, "{body}");
        }
    }
}
