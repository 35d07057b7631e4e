//! Two answers in any pieces, the first cut anywhere: a strict client of each format sees one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// An answer as one provider would stream it.
#[derive(Debug, Clone)]
struct Told {
    id: &'static str,
    thinking: Option<&'static str>,
    text: String,
    /// Arguments of a tool call after the text.
    call: Option<String>,
    pieces: Vec<usize>,
}

impl Told {
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
    fn events(&self, wire: Wire) -> Vec<Value> {
        match wire {
            Wire::ChatCompletions => self.chat_completions(),
            Wire::Messages => self.messages(),
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

/// What a strict client of the format puts together: texts and arguments by place; and whether it saw the end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    parts: BTreeMap<String, String>,
    ended: bool,
}

impl Seen {
    fn add(&mut self, part: &str, text: &Value) {
        let text = text.as_str().unwrap_or_default();
        if !text.is_empty() {
            self.parts.entry(part.to_owned()).or_default().push_str(text);
        }
    }
}

/// What a client was sent: the events of the first answer, then what the other one added.
fn client(wire: Wire, events: &[Value]) -> Seen {
    match wire {
        Wire::ChatCompletions => chat_client(events),
        Wire::Messages => messages_client(events),
        _ => responses_client(events),
    }
}

fn chat_client(events: &[Value]) -> Seen {
    let mut seen = Seen::default();
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

fn messages_client(events: &[Value]) -> Seen {
    let mut seen = Seen::default();
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

fn responses_client(events: &[Value]) -> Seen {
    let mut seen = Seen::default();
    let mut ids: Vec<Value> = Vec::new();
    let mut done = std::collections::BTreeSet::new();
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

fn raw(wire: Wire, event: &Value) -> Bytes {
    wire.event(event)
}

fn events_in(bytes: &[u8]) -> Vec<Value> {
    let mut parser = SseParser::new(1 << 20);
    parser.push(bytes);
    let mut events = Vec::new();
    while let Some(event) = parser.next_event().unwrap() {
        let event: Value = serde_json::from_slice(&event.data.unwrap()).unwrap();
        events.push(event);
    }
    events
}

/// Everything a client sees of `first`, cut after some events, and of the answers that take over; each but the last is
/// cut as well.
fn spliced(wire: Wire, answers: &[(Told, usize)], last: &Told) -> Result<Vec<Value>, Differs> {
    let mut splice = Splice::new(wire).unwrap();
    let mut sent = Vec::new();
    for (told, cut) in answers {
        let events = told.events(wire);
        for event in &events[..(*cut).min(events.len() - 2)] {
            let new = splice.take(raw(wire, event))?;
            let new_events = events_in(&new.bytes);
            assert_eq!(new.events, new_events.len() as u64);
            sent.extend(new_events);
        }
        splice = splice.follow().unwrap();
    }
    let events = last.events(wire);
    let (end, events) = events.split_last().unwrap();
    for event in events {
        sent.extend(events_in(&splice.take(raw(wire, event))?.bytes));
    }
    let end = match wire {
        Wire::ChatCompletions => {
            sent.extend(events_in(&splice.take(raw(wire, end))?.bytes));
            let done = splice.end(Bytes::from_static(b"data: [DONE]\n\n"))?;
            assert_eq!(done.bytes, &b"data: [DONE]\n\n"[..]);
            return Ok(sent);
        }
        _ => splice.end(raw(wire, end))?,
    };
    sent.extend(events_in(&end.bytes));
    Ok(sent)
}

const WIRES: [Wire; 3] = [Wire::ChatCompletions, Wire::Messages, Wire::Responses];

fn told(id: &'static str, text: String, call: Option<String>) -> impl Strategy<Value = Told> {
    let thinking = prop::option::of(Just(id));
    let pieces = prop::collection::vec(1_usize..9, 1..4);
    (thinking, pieces).prop_map(move |(thinking, pieces)| Told {
        id,
        thinking,
        text: text.clone(),
        call: call.clone(),
        pieces,
    })
}

fn same_answers() -> impl Strategy<Value = (Told, Told, Told)> {
    ("[a-zß漢 ]{1,24}", prop::option::of("[a-z{}\":]{1,12}")).prop_flat_map(|(text, call)| {
        (
            told("first", text.clone(), call.clone()),
            told("second", text.clone(), call.clone()),
            told("third", text, call),
        )
    })
}

proptest! {
    #[test]
    fn bl_92_two_answers_that_say_the_same_are_seen_as_one((first, second, third) in same_answers(), cut in 1_usize..40, again in 0_usize..40) {
        for wire in WIRES {
            let mut expected = client(wire, &first.events(wire));
            expected.ended = true;
            let one = spliced(wire, &[(first.clone(), cut)], &third).unwrap();
            prop_assert_eq!(client(wire, &one), Seen { parts: expected.parts.clone(), ended: true }, "{:?}", wire);
            let two = spliced(wire, &[(first.clone(), cut), (second.clone(), again)], &third).unwrap();
            prop_assert_eq!(client(wire, &two), Seen { parts: expected.parts.clone(), ended: true }, "{:?}", wire);
        }
    }

    #[test]
    fn an_answer_that_says_something_else_is_never_mixed_in((first, mut second, _) in same_answers(), cut in 1_usize..40) {
        second.text = format!("X{}", second.text);
        for wire in WIRES {
            let events = first.events(wire);
            let before = client_open(wire, &events[..cut.min(events.len() - 2)]);
            match spliced(wire, &[(first.clone(), cut)], &second) {
                // Nothing was said yet that could differ.
                Ok(sent) => {
                    prop_assert!(before.parts.is_empty());
                    prop_assert_eq!(&client(wire, &sent).parts["text"], &second.text);
                }
                Err(Differs) => prop_assert!(!before.parts.is_empty()),
            }
        }
    }
}

/// As [`client`], for a stream that is not over.
fn client_open(wire: Wire, events: &[Value]) -> Seen {
    client(wire, events)
}

#[test]
fn a_shorter_answer_and_one_that_cannot_be_compared_differ() {
    let long = Told {
        id: "long",
        thinking: None,
        text: "to be or not".to_owned(),
        call: None,
        pieces: vec![3],
    };
    let short = Told {
        text: "to be".to_owned(),
        ..long.clone()
    };
    for wire in WIRES {
        assert_eq!(
            spliced(wire, &[(long.clone(), 99)], &short),
            Err(Differs),
            "{wire:?}"
        );
    }
    for (wire, event) in [
        (
            Wire::ChatCompletions,
            json!({"choices": [{"delta": {"audio": {"data": "x"}}}]}),
        ),
        (
            Wire::Messages,
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use"}}),
        ),
        (
            Wire::Responses,
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "web_search_call"}}),
        ),
        (Wire::ChatCompletions, json!({"choices": [{"text": "Hel"}]})),
        // Text whose block or item was never begun.
        (
            Wire::Messages,
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
        ),
        (
            Wire::Responses,
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
        ),
    ] {
        let mut splice = Splice::new(wire).unwrap();
        splice.take(raw(wire, &event)).unwrap();
        let mut splice = splice.follow().unwrap();
        assert_eq!(splice.take(raw(wire, &event)), Err(Differs), "{wire:?}");
        if wire != Wire::ChatCompletions {
            let mut other = Splice::new(wire).unwrap().follow().unwrap();
            assert_eq!(other.take(raw(wire, &event)), Err(Differs), "{wire:?}");
        }
    }
}

#[test]
fn too_much_to_be_remembered_is_not_followed() {
    let wire = Wire::ChatCompletions;
    let event = json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]});
    let mut first = Splice::new(wire).unwrap();
    let mut second = Splice::new(wire).unwrap().follow().unwrap();
    for _ in 0..20 {
        first.take(raw(wire, &event)).unwrap();
        let new = second.take(raw(wire, &event)).unwrap();
        assert!(
            new.events == 1 && new.bytes.len() > 1 << 20,
            "the client gets it all the same"
        );
    }
    for splice in [first, second] {
        assert!(splice.dialect.kept() <= MAX_KEPT + (1 << 20));
        assert!(splice.follow().is_none());
    }
}

#[test]
fn what_cannot_be_taken_apart_is_neither_followed_nor_left_out() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for member in ["1e999", &deep] {
        let text =
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"Hel\"}}}}],\"x\":{member}}}\n\n");
        let event = Bytes::from(text);
        let mut first = Splice::new(Wire::ChatCompletions).unwrap();
        assert_eq!(first.take(event.clone()).unwrap().bytes, event);
        assert!(first.follow().is_none(), "{member}");
        let mut second = Splice::new(Wire::ChatCompletions).unwrap().follow().unwrap();
        assert_eq!(second.take(event), Err(Differs), "{member}");
    }
}

#[test]
fn a_byte_order_mark_within_a_stream_makes_a_line_that_nobody_reads() {
    let event = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
    let plain = raw(Wire::ChatCompletions, &event);
    let marked = Bytes::from(["\u{feff}".as_bytes(), &plain].concat());
    let mut splice = Splice::new(Wire::ChatCompletions).unwrap();
    splice.take(marked).unwrap();
    let mut splice = splice.follow().unwrap();
    let new = splice.take(plain).unwrap();
    assert_eq!(new.events, 1, "the client has not seen it yet");
}

#[test]
fn what_a_tool_is_given_at_once_is_compared_like_what_comes_in_pieces() {
    let block = |input: Value| {
        let block = json!({"type": "tool_use", "id": "t", "name": "look", "input": input});
        json!({"type": "content_block_start", "index": 0, "content_block": block})
    };
    let piece = |text: &str| {
        let delta = json!({"type": "input_json_delta", "partial_json": text});
        json!({"type": "content_block_delta", "index": 0, "delta": delta})
    };
    let item = |arguments: &str| {
        let item = json!({"type": "function_call", "id": "i", "name": "look", "arguments": arguments});
        json!({"type": "response.output_item.added", "output_index": 0, "item": item})
    };
    for (wire, sent, other, expected) in [
        (
            Wire::Messages,
            vec![block(json!({"a": 1}))],
            block(json!({"a": 1})),
            Ok(vec![]),
        ),
        (
            Wire::Messages,
            vec![block(json!({"a": 1}))],
            block(json!({"a": 2})),
            Err(Differs),
        ),
        (
            Wire::Messages,
            vec![block(json!({})), piece("{\"a\"")],
            block(json!({"a": 1})),
            Ok(vec![piece(":1}")]),
        ),
        (Wire::Responses, vec![item("{}")], item("{}"), Ok(vec![])),
        (Wire::Responses, vec![item("{}")], item("[]"), Err(Differs)),
    ] {
        let mut splice = Splice::new(wire).unwrap();
        for event in &sent {
            splice.take(raw(wire, event)).unwrap();
        }
        let new = splice.follow().unwrap().take(raw(wire, &other));
        assert_eq!(new.map(|new| events_in(&new.bytes)), expected, "{sent:?} {other}");
    }
}

#[test]
fn formats_without_streams_have_nothing_to_splice() {
    assert!(Splice::new(Wire::Embeddings).is_none() && Splice::new(Wire::CountTokens).is_none());
}
