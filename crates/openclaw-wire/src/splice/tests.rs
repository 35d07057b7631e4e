//! Two answers in any pieces, the first cut anywhere: a strict client of each format sees one.

mod scripted_answer;
mod strict_client;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use scripted_answer::ScriptedAnswer;
use strict_client::{ClientView, client};

fn raw(wire: WireFormat, event: &Value) -> Bytes {
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
fn spliced(
    wire: WireFormat,
    answers: &[(ScriptedAnswer, usize)],
    last: &ScriptedAnswer,
) -> Result<Vec<Value>, Mismatch> {
    let mut splice = Splice::new(wire).unwrap();
    let mut sent = Vec::new();
    for (told, cut) in answers {
        let events = told.events(wire);
        for event in &events[..(*cut).min(events.len() - 2)] {
            let new = splice.push(raw(wire, event))?;
            let new_events = events_in(&new.bytes);
            assert_eq!(new.events, new_events.len() as u64);
            sent.extend(new_events);
        }
        splice = splice.take_over().unwrap();
    }
    let events = last.events(wire);
    let (end, events) = events.split_last().unwrap();
    for event in events {
        sent.extend(events_in(&splice.push(raw(wire, event))?.bytes));
    }
    let end = match wire {
        WireFormat::ChatCompletions => {
            sent.extend(events_in(&splice.push(raw(wire, end))?.bytes));
            let done = splice.finish(Bytes::from_static(b"data: [DONE]\n\n"))?;
            assert_eq!(done.bytes, &b"data: [DONE]\n\n"[..]);
            return Ok(sent);
        }
        _ => splice.finish(raw(wire, end))?,
    };
    sent.extend(events_in(&end.bytes));
    Ok(sent)
}

const WIRES: [WireFormat; 3] = [
    WireFormat::ChatCompletions,
    WireFormat::Messages,
    WireFormat::Responses,
];

fn told(id: &'static str, text: String, call: Option<String>) -> impl Strategy<Value = ScriptedAnswer> {
    let thinking = prop::option::of(Just(id));
    let pieces = prop::collection::vec(1_usize..9, 1..4);
    (thinking, pieces).prop_map(move |(thinking, pieces)| ScriptedAnswer {
        id,
        thinking,
        text: text.clone(),
        call: call.clone(),
        pieces,
    })
}

fn same_answers() -> impl Strategy<Value = (ScriptedAnswer, ScriptedAnswer, ScriptedAnswer)> {
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
            prop_assert_eq!(client(wire, &one), ClientView { parts: expected.parts.clone(), ended: true }, "{:?}", wire);
            let two = spliced(wire, &[(first.clone(), cut), (second.clone(), again)], &third).unwrap();
            prop_assert_eq!(client(wire, &two), ClientView { parts: expected.parts.clone(), ended: true }, "{:?}", wire);
        }
    }

    #[test]
    fn an_answer_that_says_something_else_is_never_mixed_in((first, mut second, _) in same_answers(), cut in 1_usize..40) {
        second.text = format!("X{}", second.text);
        for wire in WIRES {
            let events = first.events(wire);
            let before = client(wire, &events[..cut.min(events.len() - 2)]);
            match spliced(wire, &[(first.clone(), cut)], &second) {
                // Nothing was said yet that could differ.
                Ok(sent) => {
                    prop_assert!(before.parts.is_empty());
                    prop_assert_eq!(&client(wire, &sent).parts["text"], &second.text);
                }
                Err(Mismatch) => prop_assert!(!before.parts.is_empty()),
            }
        }
    }
}

#[test]
fn a_shorter_answer_and_one_that_cannot_be_compared_differ() {
    let long = ScriptedAnswer {
        id: "long",
        thinking: None,
        text: "to be or not".to_owned(),
        call: None,
        pieces: vec![3],
    };
    let short = ScriptedAnswer {
        text: "to be".to_owned(),
        ..long.clone()
    };
    for wire in WIRES {
        assert_eq!(
            spliced(wire, &[(long.clone(), 99)], &short),
            Err(Mismatch),
            "{wire:?}"
        );
    }
    for (wire, event) in [
        (
            WireFormat::ChatCompletions,
            json!({"choices": [{"delta": {"audio": {"data": "x"}}}]}),
        ),
        (
            WireFormat::Messages,
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "server_tool_use"}}),
        ),
        (
            WireFormat::Messages,
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "text": "Hel"}}),
        ),
        (
            WireFormat::Responses,
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "web_search_call"}}),
        ),
        (WireFormat::ChatCompletions, json!({"choices": [{"text": "Hel"}]})),
        // Text whose block or item was never begun.
        (
            WireFormat::Messages,
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
        ),
        (
            WireFormat::Responses,
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
        ),
    ] {
        let mut splice = Splice::new(wire).unwrap();
        splice.push(raw(wire, &event)).unwrap();
        let mut splice = splice.take_over().unwrap();
        assert_eq!(splice.push(raw(wire, &event)), Err(Mismatch), "{wire:?}");
        if wire != WireFormat::ChatCompletions {
            let mut other = Splice::new(wire).unwrap().take_over().unwrap();
            assert_eq!(other.push(raw(wire, &event)), Err(Mismatch), "{wire:?}");
        }
    }
}

#[test]
fn too_much_to_be_remembered_is_not_followed() {
    let wire = WireFormat::ChatCompletions;
    let event = json!({"choices": [{"delta": {"content": "x".repeat(1 << 20)}}]});
    let mut first = Splice::new(wire).unwrap();
    let mut second = Splice::new(wire).unwrap().take_over().unwrap();
    for _ in 0..20 {
        first.push(raw(wire, &event)).unwrap();
        let new = second.push(raw(wire, &event)).unwrap();
        assert!(
            new.events == 1 && new.bytes.len() > 1 << 20,
            "the client gets it all the same"
        );
    }
    for splice in [first, second] {
        assert!(splice.tracker.kept() <= MAX_KEPT + (1 << 20));
        assert!(splice.take_over().is_none());
    }
}

#[test]
fn what_cannot_be_taken_apart_is_neither_followed_nor_left_out() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for member in ["1e999", &deep] {
        let text =
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"Hel\"}}}}],\"x\":{member}}}\n\n");
        let event = Bytes::from(text);
        let mut first = Splice::new(WireFormat::ChatCompletions).unwrap();
        assert_eq!(first.push(event.clone()).unwrap().bytes, event);
        assert!(first.take_over().is_none(), "{member}");
        let mut second = Splice::new(WireFormat::ChatCompletions)
            .unwrap()
            .take_over()
            .unwrap();
        assert_eq!(second.push(event), Err(Mismatch), "{member}");
    }
}

/// Whatever a provider puts where an object is expected, in every format.
#[test]
fn what_is_no_object_is_survived() {
    let odd = [json!(0), json!("x"), json!([1]), json!(true), Value::Null];
    let shapes: [fn(&Value) -> Value; 12] = [
        Value::clone,
        |odd| json!({"choices": odd}),
        |odd| json!({"choices": [odd], "usage": {"total_tokens": 3}}),
        |odd| json!({"choices": [{"index": odd, "delta": odd, "finish_reason": odd}]}),
        |odd| json!({"choices": [{"delta": {"tool_calls": [odd, {"index": 0, "function": odd}]}}]}),
        |odd| json!({"type": "message_start", "message": odd}),
        |odd| json!({"type": "content_block_start", "index": 0, "content_block": odd}),
        |odd| json!({"type": "content_block_delta", "index": 0, "delta": odd}),
        |odd| json!({"type": "message_delta", "delta": odd, "usage": odd}),
        |odd| json!({"type": "response.created", "response": odd}),
        |odd| json!({"type": "response.output_item.added", "output_index": 0, "item": odd}),
        |odd| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": odd, "delta": odd}),
    ];
    for wire in WIRES {
        for odd in &odd {
            let events: Vec<Bytes> = shapes.iter().map(|shape| raw(wire, &shape(odd))).collect();
            let mut first = Splice::new(wire).unwrap();
            for event in &events {
                first.push(event.clone()).unwrap();
            }
            for event in events {
                // Each by itself, since an answer that differs ends.
                let mut second = Splice::new(wire).unwrap().take_over().unwrap();
                drop(second.push(event));
            }
        }
    }
}

#[test]
fn a_byte_order_mark_within_a_stream_makes_a_line_that_no_client_reads() {
    let event = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
    let plain = raw(WireFormat::ChatCompletions, &event);
    let marked = Bytes::from(["\u{feff}".as_bytes(), &plain].concat());
    let mut splice = Splice::new(WireFormat::ChatCompletions).unwrap();
    splice.push(marked).unwrap();
    let mut splice = splice.take_over().unwrap();
    let new = splice.push(plain).unwrap();
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
            WireFormat::Messages,
            vec![block(json!({"a": 1}))],
            block(json!({"a": 1})),
            Ok(vec![]),
        ),
        (
            WireFormat::Messages,
            vec![block(json!({"a": 1}))],
            block(json!({"a": 2})),
            Err(Mismatch),
        ),
        (
            WireFormat::Messages,
            vec![block(json!({})), piece("{\"a\"")],
            block(json!({"a": 1})),
            Ok(vec![piece(":1}")]),
        ),
        (WireFormat::Responses, vec![item("{}")], item("{}"), Ok(vec![])),
        (WireFormat::Responses, vec![item("{}")], item("[]"), Err(Mismatch)),
    ] {
        let mut splice = Splice::new(wire).unwrap();
        for event in &sent {
            splice.push(raw(wire, event)).unwrap();
        }
        let new = splice.take_over().unwrap().push(raw(wire, &other));
        assert_eq!(new.map(|new| events_in(&new.bytes)), expected, "{sent:?} {other}");
    }
}

#[test]
fn a_refusal_is_not_repeated_by_a_text_of_the_same_words() {
    let begin = json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}});
    let says = |kind: &str| json!({"type": kind, "output_index": 0, "content_index": 0, "delta": "No."});
    let mut splice = Splice::new(WireFormat::Responses).unwrap();
    for event in [&begin, &says("response.refusal.delta")] {
        splice.push(raw(WireFormat::Responses, event)).unwrap();
    }
    let mut splice = splice.take_over().unwrap();
    splice.push(raw(WireFormat::Responses, &begin)).unwrap();
    let new = splice.push(raw(WireFormat::Responses, &says("response.output_text.delta")));
    assert_eq!(new.unwrap().events, 0, "it has not said the same yet");
    let end = json!({"type": "response.completed", "response": {}});
    assert_eq!(splice.finish(raw(WireFormat::Responses, &end)), Err(Mismatch));
}

#[test]
fn formats_without_streams_have_nothing_to_splice() {
    assert!(Splice::new(WireFormat::Embeddings).is_none() && Splice::new(WireFormat::CountTokens).is_none());
}
