//! Answers as providers would stream them.

use serde_json::{Value, json};

use super::WireFormat;

/// An answer as one provider would stream it.
#[derive(Debug, Clone)]
pub(super) struct ScriptedAnswer {
    pub(super) id: &'static str,
    pub(super) thinking: Option<&'static str>,
    pub(super) text: String,
    /// Arguments of a tool call after the text.
    pub(super) call: Option<String>,
    /// How many characters the pieces of each text have, in turns.
    pub(super) pieces: Vec<usize>,
}

impl ScriptedAnswer {
    fn pieces_of(&self, text: &str) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let (mut rest, mut sizes) = (characters.as_slice(), self.pieces.iter().cycle());
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            pieces.push(piece.iter().collect());
            rest = after;
        }
        pieces
    }

    /// All events, the last one being the end.
    pub(super) fn events(&self, wire: WireFormat) -> Vec<Value> {
        match wire {
            WireFormat::ChatCompletions => self.chat_completions(),
            WireFormat::Messages => self.messages(),
            _ => self.responses(),
        }
    }

    fn chat_completions(&self) -> Vec<Value> {
        let chunk = |delta: Value, finish: Value| {
            json!({"id": self.id, "created": self.id.len(), "model": self.id,
                   "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        };
        let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
        events.extend(
            self.thinking
                .map(|text| chunk(json!({"reasoning": text}), Value::Null)),
        );
        let texts = self.pieces_of(&self.text).into_iter();
        events.extend(texts.map(|text| chunk(json!({"content": text}), Value::Null)));
        if let Some(arguments) = &self.call {
            let call = |call: Value| chunk(json!({"tool_calls": [call]}), Value::Null);
            let begin = json!({"index": 0, "id": self.id, "type": "function", "function": {"name": "look", "arguments": ""}});
            events.push(call(begin));
            for piece in self.pieces_of(arguments) {
                events.push(call(json!({"index": 0, "function": {"arguments": piece}})));
            }
        }
        events.push(chunk(json!({}), "stop".into()));
        events
    }

    fn messages(&self) -> Vec<Value> {
        let mut events = vec![
            json!({"type": "message_start", "message": {"id": self.id}}),
            json!({"type": "ping"}),
        ];
        let mut blocks = Vec::new();
        if let Some(text) = self.thinking {
            let deltas = vec![json!({"type": "thinking_delta", "thinking": text})];
            blocks.push((json!({"type": "thinking", "thinking": ""}), deltas));
        }
        let deltas = |text: &str, kind: &str, member: &str| {
            let pieces = self.pieces_of(text).into_iter();
            pieces
                .map(|piece| json!({"type": kind, member: piece}))
                .collect::<Vec<_>>()
        };
        blocks.push((
            json!({"type": "text", "text": ""}),
            deltas(&self.text, "text_delta", "text"),
        ));
        if let Some(arguments) = &self.call {
            let block = json!({"type": "tool_use", "id": self.id, "name": "look", "input": {}});
            blocks.push((block, deltas(arguments, "input_json_delta", "partial_json")));
        }
        for (index, (block, deltas)) in blocks.into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            let deltas = deltas.into_iter();
            events.extend(
                deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
            );
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
        events.push(json!({"type": "message_stop"}));
        events
    }

    fn responses(&self) -> Vec<Value> {
        let mut events = vec![json!({"type": "response.created", "response": {"id": self.id}})];
        let mut output = Vec::new();
        let mut add = |kind: &str, item: Value, parts: Vec<Value>| {
            let (index, id) = (output.len(), format!("{}-{}", self.id, output.len()));
            let mut item = item;
            item["id"] = id.as_str().into();
            item["type"] = kind.into();
            let mut events =
                vec![json!({"type": "response.output_item.added", "output_index": index, "item": item})];
            for mut part in parts {
                part["output_index"] = index.into();
                part["item_id"] = id.as_str().into();
                events.push(part);
            }
            events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
            output.push(item);
            events
        };
        if let Some(text) = self.thinking {
            let delta = json!({"type": "response.reasoning_text.delta", "delta": text});
            events.extend(add("reasoning", json!({}), vec![delta]));
        }
        let mut parts = vec![json!({"type": "response.content_part.added", "content_index": 0})];
        let texts = self.pieces_of(&self.text).into_iter();
        parts
            .extend(texts.map(
                |text| json!({"type": "response.output_text.delta", "content_index": 0, "delta": text}),
            ));
        parts.push(json!({"type": "response.output_text.done", "content_index": 0, "text": self.text}));
        events.extend(add("message", json!({}), parts));
        if let Some(arguments) = &self.call {
            let pieces = self.pieces_of(arguments).into_iter();
            let deltas =
                pieces.map(|piece| json!({"type": "response.function_call_arguments.delta", "delta": piece}));
            events.extend(add(
                "function_call",
                json!({"name": "look", "call_id": self.id}),
                deltas.collect(),
            ));
        }
        events.push(json!({"type": "response.completed", "response": {"id": self.id, "output": output}}));
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = number.into();
        }
        events
    }
}
