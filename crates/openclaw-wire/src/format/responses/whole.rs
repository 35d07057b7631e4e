//! A whole response as the events that would have brought it (BL-89).

use serde_json::{Value, json};

/// The last event, by the state of the response.
const ENDS: &[(&str, &str)] = &[
    ("completed", "response.completed"),
    ("incomplete", "response.incomplete"),
];
/// What is told in deltas: the kind of a part or item, the member that holds it, and the event that brings it.
#[rustfmt::skip]
static SENT_IN_DELTAS: &[(&str, &str, &str)] = &[
    ("output_text",   "text",      "response.output_text"),
    ("refusal",       "refusal",   "response.refusal"),
    ("function_call", "arguments", "response.function_call_arguments"),
];

/// The events of `response`, the last of which holds it whole; none when it is no response that is over.
pub(super) fn events(response: Value) -> Option<Vec<Value>> {
    let status = response
        .get("status")
        .and_then(Value::as_str)
        .unwrap_or("completed");
    let (_, end) = ENDS.iter().find(|(known, _)| *known == status)?;
    let output = response.get("output")?.as_array()?;
    let mut begun = response.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (output_index, item) in output.iter().enumerate() {
        events.extend(of_item(output_index, item));
    }
    let mut last = json!({"type": end});
    last["response"] = response;
    events.push(last);
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = number.into();
    }
    Some(events)
}

fn of_item(output_index: usize, item: &Value) -> Vec<Value> {
    let mut begun = item.clone();
    if begun.get("status").is_some() {
        begun["status"] = "in_progress".into();
    }
    let place = json!({"item_id": item.get("id"), "output_index": output_index});
    let mut told = deltas(&mut begun, &place);
    if let Some(parts) = begun.get_mut("content").and_then(Value::as_array_mut) {
        for (content_index, part) in std::mem::take(parts).iter().enumerate() {
            told.extend(of_part(content_index, part, &place));
        }
    }
    let mut events =
        vec![json!({"type": "response.output_item.added", "output_index": output_index, "item": begun})];
    events.extend(told);
    events.push(json!({"type": "response.output_item.done", "output_index": output_index, "item": item}));
    events
}

fn of_part(content_index: usize, part: &Value, place: &Value) -> Vec<Value> {
    let mut place = place.clone();
    place["content_index"] = content_index.into();
    let mut begun = part.clone();
    let told = deltas(&mut begun, &place);
    let mut events = vec![at(&place, "response.content_part.added", "part", begun)];
    events.extend(told);
    events.push(at(&place, "response.content_part.done", "part", part.clone()));
    events
}

/// What `whole`, a part or an item, tells in deltas; it is left as it was before them.
fn deltas(whole: &mut Value, place: &Value) -> Vec<Value> {
    let kind = whole.get("type").and_then(Value::as_str);
    let Some((_, member, event)) = SENT_IN_DELTAS.iter().find(|(of, ..)| Some(*of) == kind) else {
        return Vec::new();
    };
    match whole.get_mut(*member) {
        Some(text @ Value::String(_)) => {
            let text = std::mem::replace(text, "".into());
            vec![
                at(place, &format!("{event}.delta"), "delta", text.clone()),
                at(place, &format!("{event}.done"), member, text),
            ]
        }
        _ => Vec::new(),
    }
}

/// An event about `place` with one member more.
fn at(place: &Value, kind: &str, member: &str, value: Value) -> Value {
    let mut event = json!({"type": kind});
    if let (Some(event), Some(place)) = (event.as_object_mut(), place.as_object()) {
        event.extend(place.clone());
        event.insert(member.to_owned(), value);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::WireFormat;

    #[test]
    fn every_item_is_begun_told_and_closed() {
        let response = json!({
            "id": "r", "object": "response", "status": "completed", "model": "large", "error": null,
            "output": [
                {"id": "0", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"id": "1", "type": "message", "role": "assistant", "status": "completed", "content": [
                    {"type": "output_text", "text": "Hi", "annotations": []}, {"type": "refusal", "refusal": "no"}]},
                {"id": "2", "type": "function_call", "call_id": "c", "name": "look", "arguments": "{\"at\":1}"},
            ],
            "usage": {"total_tokens": 3},
        });
        let events = WireFormat::Responses
            .events_of_response(response.to_string().as_bytes())
            .unwrap();
        insta::assert_snapshot!("response", String::from_utf8(events.concat()).unwrap());
    }

    #[test]
    fn the_state_names_the_end_and_what_is_made_later_has_none() {
        for (status, end) in [
            (json!({"output": []}), Some("response.completed")),
            (
                json!({"output": [], "status": "incomplete"}),
                Some("response.incomplete"),
            ),
            (json!({"output": [], "status": "queued"}), None),
            (json!({"output": [], "status": "cancelled"}), None),
            (json!({"status": "completed"}), None),
        ] {
            let found = events(status.clone()).and_then(|mut events| events.pop());
            let found = found.as_ref().and_then(|event| event["type"].as_str());
            assert_eq!(found, end, "{status}");
        }
    }
}
