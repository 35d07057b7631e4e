//! Puts a line for people before the text of an answer (S-10.1, S-10.5).

use serde_json::{Map, Value, json};

/// Members of a chunk that name the answer; the rest is about what the chunk itself adds.
const NAMING: &[&str] = &["created", "id", "model", "object", "system_fingerprint"];

/// A whole completion with `line` before its text; none when its first choice has no text.
pub(super) fn in_response(mut answer: Value, line: &str) -> Option<Value> {
    let content = answer.pointer_mut("/choices/0/message/content")?;
    let text = content.as_str().filter(|text| !text.is_empty())?;
    *content = format!("{line}\n\n{text}").into();
    Some(answer)
}

/// The event to send before a stream's event, if that is the first with text for the first choice.
pub(super) fn event_before(chunk: &Value, line: &str) -> Option<Value> {
    let choices = chunk.get("choices")?.as_array()?;
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
    let text = choices
        .iter()
        .find(is_first)?
        .pointer("/delta/content")?
        .as_str()?;
    if text.is_empty() {
        return None;
    }
    let mut own = Map::new();
    for name in NAMING {
        if let Some(value) = chunk.get(*name) {
            own.insert((*name).to_owned(), value.clone());
        }
    }
    let delta = json!({"role": "assistant", "content": format!("{line}\n\n")});
    let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
    own.insert("choices".to_owned(), Value::Array(vec![choice]));
    Some(Value::Object(own))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::format::WireFormat;

    fn before_text(body: &[u8], line: &str) -> Option<Bytes> {
        WireFormat::ChatCompletions.response_with_notice(body, line)
    }

    fn event_before(event: &[u8], line: &str) -> Option<Bytes> {
        WireFormat::ChatCompletions.notice_before(event, line)
    }

    #[test]
    fn only_text_gets_the_line() {
        let body =
            |content: &str| format!(r#"{{"id":"1","choices":[{{"message":{{"content":{content}}}}}]}}"#);
        let told = before_text(body("\"Hi\"").as_bytes(), "L").unwrap();
        assert_eq!(told, body(r#""L\n\nHi""#));
        for content in ["null", "\"\"", "[1]"] {
            assert_eq!(before_text(body(content).as_bytes(), "L"), None, "{content}");
        }
        assert_eq!(before_text(b"no json", "L"), None);
        let half = before_text(body(r#""Hi \ud83d""#).as_bytes(), "L").unwrap();
        assert_eq!(half, body("\"L\\n\\nHi \u{fffd}\""));
    }

    #[test]
    fn the_event_names_the_same_answer_and_shows_nothing_else() {
        let event =
            r#"{"id":"1","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":{"a":1}}"#;
        let told = event_before(format!("data: {event}\n\n").as_bytes(), "L").unwrap();
        assert_eq!(
            std::str::from_utf8(&told).unwrap(),
            "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\
             \"content\":\"L\\n\\n\"},\"finish_reason\":null}]}\n\n"
        );
        for delta in [
            r#"{"content":""}"#,
            r#"{"role":"assistant"}"#,
            r#"{"tool_calls":[{"index":0}]}"#,
            r#"{"reasoning":"h"}"#,
        ] {
            let event = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n");
            assert_eq!(event_before(event.as_bytes(), "L"), None, "{delta}");
        }
        let half = br#"data: {"choices":[{"delta":{"content":"Hi \ud83d"}}]}"#;
        assert!(
            event_before(&[half, &b"\n\n"[..]].concat(), "L").is_some(),
            "the first text is that"
        );
        assert_eq!(event_before(b": ping\n\n", "L"), None);
        assert_eq!(event_before(b"data: [DONE]\n\n", "L"), None);
    }
}
