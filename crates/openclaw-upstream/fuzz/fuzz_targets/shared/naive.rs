//! Server-sent events read as simply as can be, and what of them says that an answer is complete.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use openclaw_upstream::fuzzing::Parsed;
use openclaw_wire::WireFormat;
use serde_json::Value;

/// The format that a byte stands for.
pub fn format(byte: u8) -> WireFormat {
    [WireFormat::ChatCompletions, WireFormat::Messages, WireFormat::Responses][usize::from(byte) % 3]
}

/// `bytes` in pieces whose sizes follow from `seed`; one piece for 0, single bytes for 1.
pub fn pieces(bytes: &[u8], seed: u8) -> Vec<Bytes> {
    let mut rest = bytes;
    let mut state = u32::from(seed);
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let size = match seed {
            0 => rest.len(),
            1 => 1,
            _ => 1 + (state >> 16) as usize % 23,
        };
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(Bytes::copy_from_slice(piece));
        rest = after;
    }
    pieces
}

/// All events with data, the last one also without its empty line.
pub fn events(bytes: &[u8]) -> Vec<Parsed> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'\r' if text.get(at + 1) == Some(&b'\n') => at += 1,
            b'\r' | b'\n' => {}
            byte => {
                lines.last_mut().expect("there is a line").push(byte);
                at += 1;
                continue;
            }
        }
        lines.push(Vec::new());
        at += 1;
    }
    // The empty line after everything closes an event that has no other.
    lines.push(Vec::new());
    let (mut found, mut name, mut data) = (Vec::new(), None, None::<Vec<Vec<u8>>>);
    for line in lines {
        if line.is_empty() {
            let (name, data) = (name.take(), data.take());
            found.extend(data.map(|data| (name, data.join(&b'\n'))));
            continue;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (&line[..], &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value).to_vec();
        match field {
            b"data" => data.get_or_insert_default().push(value),
            b"event" => name = Some(value),
            _ => {}
        }
    }
    found
}

/// The JSON of an event as clients read it, who take half of a surrogate pair for a character that they cannot show.
pub fn json((_, data): &Parsed) -> Option<Value> {
    let text = std::str::from_utf8(data.trim_ascii()).ok()?;
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&with_whole_pairs(text))).ok()
}

/// The same JSON with `\ufffd` for every escaped surrogate that is no part of a pair.
fn with_whole_pairs(json: &str) -> String {
    let mut rest = json;
    let mut whole = String::new();
    while let Some(first) = rest.chars().next() {
        let kept = match (escaped_unit(rest), rest.get(6..).and_then(escaped_unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            // What is escaped begins no escape of its own.
            (None, _) if first == '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, _) => first.len_utf8(),
        };
        let (before, after) = rest.split_at(kept);
        whole.push_str(before);
        rest = after;
    }
    whole
}

/// The UTF-16 unit of the escape that a text begins with.
fn escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Whether one event alone says that an answer in this format is complete.
pub fn is_end(format: WireFormat, event: &Parsed) -> bool {
    let (name, data) = event;
    let json = json(event).unwrap_or_default();
    let kind = json.get("type").and_then(Value::as_str);
    match format {
        WireFormat::ChatCompletions => data.trim_ascii() == b"[DONE]",
        WireFormat::Messages => kind == Some("message_stop"),
        WireFormat::Responses => {
            let named = name.as_deref().and_then(|name| std::str::from_utf8(name).ok());
            let kind = if json.is_null() { None } else { kind.or(named) };
            matches!(kind, Some("response.completed" | "response.incomplete"))
        }
        WireFormat::CountTokens | WireFormat::Embeddings => false,
    }
}

/// Whether `events` let an answer count as complete (BL-89): an end, a reason for every choice, or tool calls that may
/// be whole.
pub fn may_be_complete(format: WireFormat, events: &[Parsed]) -> bool {
    if events.iter().any(|event| is_end(format, event)) {
        return true;
    }
    let all: Vec<Value> = events.iter().filter_map(json).collect();
    match format {
        WireFormat::ChatCompletions => has_reasons(&all) || has_whole_calls(&all),
        WireFormat::Messages => all.iter().any(|event| {
            event["type"] == "message_delta" && event.pointer("/delta/stop_reason").is_some_and(Value::is_string)
        }),
        WireFormat::CountTokens | WireFormat::Embeddings | WireFormat::Responses => false,
    }
}

fn choices(all: &[Value]) -> impl Iterator<Item = &Value> {
    all.iter().filter_map(|event| event.get("choices")?.as_array()).flatten()
}

fn index(value: &Value, other: u64) -> u64 {
    value.get("index").and_then(Value::as_u64).unwrap_or(other)
}

fn has_reasons(all: &[Value]) -> bool {
    let seen: BTreeSet<u64> = choices(all).map(|choice| index(choice, 0)).collect();
    let done = choices(all).filter(|choice| choice.get("finish_reason").is_some_and(Value::is_string));
    let done: BTreeSet<u64> = done.map(|choice| index(choice, 0)).collect();
    !seen.is_empty() && (seen == done || seen.len() > 100)
}

fn has_whole_calls(all: &[Value]) -> bool {
    let mut calls: BTreeMap<(u64, u64), String> = BTreeMap::new();
    for choice in choices(all) {
        let list = choice.pointer("/delta/tool_calls").and_then(Value::as_array);
        for (place, call) in list.into_iter().flatten().enumerate() {
            let text = call.pointer("/function/arguments").and_then(Value::as_str);
            let key = (index(choice, 0), index(call, place as u64));
            calls.entry(key).or_default().push_str(text.unwrap_or_default());
        }
    }
    let may_be_whole = |text: &String| text.contains(['}', ']']);
    !calls.is_empty() && (calls.values().all(may_be_whole) || calls.len() > 100)
}
