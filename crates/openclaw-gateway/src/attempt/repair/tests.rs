//! Refusals as providers word them, and what becomes of the request.

use serde_json::json;

use super::*;

fn refusal(text: &str) -> Failure {
    Failure {
        status: Some(400),
        body: Some(json!({"error": {"message": text}}).to_string().into_bytes()),
        ..Failure::default()
    }
}

fn body(request: &Value) -> RequestBody {
    RequestBody::try_new(Bytes::from(request.to_string())).unwrap()
}

fn repair(request: &Value, wire: WireFormat, text: &str) -> Option<Value> {
    let repaired = repaired(&body(request), wire, &refusal(text))?;
    Some(serde_json::from_slice(repaired.bytes()).unwrap())
}

const MISTRAL: &str = "Tool call id was call:1 but must be a-z, A-Z, 0-9, with a length of 9.";
const ANTHROPIC: &str = "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'";
const OPENAI: &str =
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.";

fn chat(id: &str) -> Value {
    json!({"model": "m", "x": 1.50, "messages": [
        {"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "f", "arguments": format!("{{\"id\":\"{id}\"}}")}}]},
        {"role": "tool", "tool_call_id": id, "content": id}]})
}

#[test]
fn r4_ids_that_are_refused_are_rewritten_alike() {
    let long = "x".repeat(41);
    for (text, id, is_repaired) in [
        (MISTRAL, "call:1", true),
        (MISTRAL, "call_abcdefghij", true),
        (MISTRAL, "abcDEF123", false),
        (ANTHROPIC, "call:1", true),
        (ANTHROPIC, "call_1", false),
        (OPENAI, &*long, true),
        (OPENAI, "call_1", false),
        (
            "messages: roles must alternate between user and assistant",
            "call:1",
            false,
        ),
        ("Invalid 'temperature': must be at most 2", "call:1", false),
    ] {
        let repaired = repair(&chat(id), WireFormat::ChatCompletions, text);
        assert_eq!(repaired.is_some(), is_repaired, "{text} {id}");
        let Some(repaired) = repaired else { continue };
        let new = repaired["messages"][0]["tool_calls"][0]["id"].as_str().unwrap();
        assert!(is_nine(new), "{new}");
        assert_eq!(repaired["messages"][1]["tool_call_id"], new);
        assert_eq!(
            repaired["messages"][1]["content"], id,
            "what a tool said is no id"
        );
        let arguments = repaired["messages"][0]["tool_calls"][0]["function"]["arguments"]
            .as_str()
            .unwrap();
        assert!(arguments.contains(id), "what a tool was given is no id");
    }
}

#[test]
fn r4_every_format_has_its_own_places() {
    let messages = json!({"model": "m", "messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a:1", "name": "f", "input": {"id": "a:1"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a:1", "content": "a:1"}]}]});
    let repaired = repair(&messages, WireFormat::Messages, ANTHROPIC).unwrap();
    let new = &repaired["messages"][0]["content"][0]["id"];
    assert_ne!(new, "a:1");
    assert_eq!(&repaired["messages"][1]["content"][0]["tool_use_id"], new);
    assert_eq!(repaired["messages"][0]["content"][0]["input"]["id"], "a:1");

    let responses = json!({"model": "m", "input": [
        {"type": "function_call", "id": "fc_1", "call_id": "a:1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a:1", "output": "ok"}]});
    let repaired = repair(
        &responses,
        WireFormat::Responses,
        "input[0].call_id: should match pattern",
    )
    .unwrap();
    assert_eq!(repaired["input"][0]["id"], "fc_1");
    assert_ne!(repaired["input"][0]["call_id"], "a:1");
    assert_eq!(repaired["input"][0]["call_id"], repaired["input"][1]["call_id"]);
}

#[test]
fn every_other_byte_stays() {
    let text = r#"{ "model":"m" , "big":12345678901234567890123, "messages":[{"role":"tool","tool_call_id":"a\u003a1","content":"\ud83d\ude00"}] }"#;
    let body = RequestBody::try_new(Bytes::from(text)).unwrap();
    let repaired = repaired(
        &body,
        WireFormat::ChatCompletions,
        &refusal(ANTHROPIC.replace("tool_use.id", "tool_call_id").as_str()),
    )
    .unwrap();
    let new = name("a:1", 0);
    let expected = text.replace(r"a\u003a1", &new);
    assert_eq!(std::str::from_utf8(repaired.bytes()).unwrap(), expected);
}

#[test]
fn two_ids_never_become_one() {
    let ids: Vec<String> = (0..200).map(|number| format!("call:{number}")).collect();
    let ids: IndexSet<&str> = ids.iter().map(String::as_str).collect();
    let new = renamed(&ids, is_nine).unwrap();
    let distinct: std::collections::HashSet<&String> = new.values().collect();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(renamed(&ids, is_nine), Some(new), "the same each time");
}
