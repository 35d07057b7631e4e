//! Strict clients of each format.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::WireFormat;

/// What a strict client of the format puts together: texts and arguments by place; and whether it saw the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ClientView {
    pub(super) parts: BTreeMap<String, String>,
    pub(super) ended: bool,
}

impl ClientView {
    fn add(&mut self, part: &str, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        if !text.is_empty() {
            self.parts.entry(part.to_owned()).or_default().push_str(text);
        }
    }
}

/// What a client was sent: the events of the first answer, then what the other one added.
pub(super) fn client(wire: WireFormat, events: &[Value]) -> ClientView {
    match wire {
        WireFormat::ChatCompletions => chat_client(events),
        WireFormat::Messages => messages_client(events),
        _ => responses_client(events),
    }
}

fn chat_client(events: &[Value]) -> ClientView {
    let mut seen = ClientView::default();
    let (mut roles, mut call_ids) = (0, 0);
    for event in events {
        assert_eq!(event["id"], events[0]["id"], "one answer has one id");
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        roles += usize::from(delta.get("role").is_some());
        seen.add("text", &delta["content"]);
        let call = &delta["tool_calls"][0];
        call_ids += usize::from(call.get("id").is_some());
        seen.add("name", &call["function"]["name"]);
        seen.add("call", &call["function"]["arguments"]);
        assert!(!seen.ended, "nothing after the end");
        seen.ended = choice["finish_reason"] == "stop";
    }
    assert!(roles <= 1 && call_ids <= 1, "{events:?}");
    seen
}

fn messages_client(events: &[Value]) -> ClientView {
    let mut seen = ClientView::default();
    let mut open: Option<u64> = None;
    let mut kinds = Vec::new();
    for event in events {
        assert!(!seen.ended, "nothing after the end");
        let index = event["index"].as_u64();
        match kind_of(event) {
            "content_block_start" => {
                assert_eq!((open, index), (None, Some(kinds.len() as u64)), "{events:?}");
                open = index;
                kinds.push(event["content_block"]["type"].as_str().unwrap().to_owned());
                seen.add("name", &event["content_block"]["name"]);
            }
            "content_block_delta" => {
                assert_eq!(open, index, "{events:?}");
                seen.add("text", &event["delta"]["text"]);
                seen.add("call", &event["delta"]["partial_json"]);
            }
            "content_block_stop" => {
                assert_eq!(open.take(), index, "{events:?}");
            }
            "message_delta" => assert_eq!(open, None, "{events:?}"),
            "message_stop" => seen.ended = true,
            _ => {}
        }
    }
    seen
}

fn responses_client(events: &[Value]) -> ClientView {
    let mut seen = ClientView::default();
    let mut ids: Vec<Value> = Vec::new();
    let mut done = BTreeSet::new();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{events:?}");
        let index = event["output_index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        let kind = kind_of(event);
        if kind == "response.output_item.added" {
            assert_eq!(index, Some(ids.len()), "{events:?}");
            ids.push(event["item"]["id"].clone());
            seen.add("name", &event["item"]["name"]);
        } else if let Some(index) = index {
            let id = event.get("item_id").unwrap_or(&event["item"]["id"]);
            assert_eq!(*id, ids[index], "{events:?}");
            assert!(
                kind.ends_with("delta") || done.insert((kind.to_owned(), index)),
                "{events:?}"
            );
        }
        match kind {
            "response.output_text.delta" => seen.add("text", &event["delta"]),
            "response.function_call_arguments.delta" => seen.add("call", &event["delta"]),
            "response.completed" => seen.ended = true,
            _ => {}
        }
    }
    seen
}

fn kind_of(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}
