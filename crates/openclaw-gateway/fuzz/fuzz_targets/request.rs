//! A request of any bytes: only the model and refused tool-call ids ever change, and headers choose within bounds (A9, R4).
#![no_main]

use std::collections::HashMap;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use openclaw_config::Config;
use openclaw_gateway::fuzzing::{Body, Front, WireFormat};
use serde_json::Value;

/// What providers say about ids that they refuse.
const REFUSALS: &[&str] = &[
    "Tool call id was call:1 but must be a-z, A-Z, 0-9, with a length of 9.",
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
    "input[0].call_id: should match pattern",
    "messages: roles must alternate between user and assistant",
];
const HEADERS: &[&str] = &[
    "x-openclaw-agent-id",
    "x-openclaw-model",
    "x-openclaw-policy",
    "x-openclaw-run",
    "x-openclaw-session-key",
    "session_id",
    "x-claude-code-session-id",
    "x-session-id",
];
const CONFIG: &str = "{
  agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallbacks: ['groq/llama'] },
                        models: { 'openai/gpt-5.5': {}, 'groq/llama': { alias: 'fast' }, 'mistral/large': {} } },
            list: [{ id: 'main' }, { id: 'Ops Team' }] } }";

thread_local! {
    static FRONT: Front = Front::of(Config::parse(Path::new("/c"), CONFIG).expect("it is right"))
        .unwrap_or_else(|error| panic!("{error}"));
}

fuzz_target!(|data: &[u8]| {
    let [format, refusal, header, rest @ ..] = data else { return };
    let format = [WireFormat::ChatCompletions, WireFormat::Messages, WireFormat::Responses][usize::from(*format) % 3];
    let refusal = REFUSALS[usize::from(*refusal) % REFUSALS.len()];
    let name = |number: u8| HEADERS[usize::from(number) % HEADERS.len()];
    // What stands before the first two NUL bytes is sent as headers.
    let mut parts = rest.rsplitn(3, |byte| *byte == 0);
    let bytes = parts.next().unwrap_or_default();
    let values = [parts.next(), parts.next()];
    let body = match Body::read(bytes) {
        Ok(body) => body,
        Err(words) => {
            assert!(!words.is_empty() && words.len() < 300, "{words}");
            return;
        }
    };
    check_model(bytes, &body);
    check_repair(bytes, &body, format, refusal);

    let numbers = [*header, header >> 4];
    let sent: Vec<(&'static str, &[u8])> =
        numbers.into_iter().zip(values).filter_map(|(number, value)| Some((name(number), value?))).collect();
    FRONT.with(|front| {
        let asked = front.ask(format, body.model(), body.user(), &sent);
        assert_eq!(asked, front.ask(format, body.model(), body.user(), &sent));
        if let Ok(asked) = asked {
            assert!(matches!(&*asked.agent, "main" | "ops-team"), "an agent that is configured: {asked:?}");
            if let Some(session) = asked.session {
                assert!(session.chars().count() <= 800, "a bounded key: {session}");
                assert!(!session.contains(char::is_control), "a key without control characters: {session:?}");
            }
        }
    });
});

/// Every byte but those of the model stays.
fn check_model(bytes: &[u8], body: &Body) {
    let (one, other) = ("~one~\"\\\u{1}é", "~other~");
    let (first, second) = (body.with_model(one), body.with_model(other));
    let written = Value::from(other).to_string();
    let at = second
        .windows(written.len())
        .position(|window| window == written.as_bytes())
        .expect("the new name is there");
    let (before, after) = (&second[..at], &second[at + written.len()..]);
    assert!(bytes.starts_with(before) && bytes.ends_with(after), "every other byte stays");
    assert_eq!(first, [before, Value::from(one).to_string().as_bytes(), after].concat());
    let old = &bytes[before.len()..bytes.len() - after.len()];
    assert_eq!(serde_json::from_slice::<String>(old).ok().as_deref(), Some(body.model()), "the model was there");
    let (Some(mut was), Some(is)) = (parsed(bytes), parsed(&first)) else { return };
    was["model"] = one.into();
    assert_eq!(was, is, "nothing but the model changed its meaning");
}

/// Ids alone change, each into one other, and nothing that a tool was given.
fn check_repair(bytes: &[u8], body: &Body, format: WireFormat, refusal: &str) {
    let Some(repaired) = body.repaired(format, refusal) else { return };
    let mut new = HashMap::new();
    let (was, is) = (parsed(bytes).expect("it was read"), parsed(&repaired).expect("it can be read"));
    compare(&was, &is, "", false, &mut new);
    let mut names: Vec<&String> = new.values().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), new.len(), "two ids never become one");
    let again = Body::read(&repaired).unwrap_or_else(|error| panic!("it is a request still: {error}"));
    assert_eq!(again.model(), body.model());
    assert_eq!(again.repaired(format, refusal), None, "what was repaired needs no repair");
}

fn compare(was: &Value, is: &Value, key: &str, foreign: bool, new: &mut HashMap<String, String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            assert!(was.keys().eq(is.keys()));
            for (key, value) in was {
                let given = matches!(key.as_str(), "arguments" | "input_schema" | "parameters" | "text");
                let input = key == "input" && value.is_object();
                compare(value, &is[key], key, foreign || given || input, new);
            }
        }
        (Value::Array(was), Value::Array(is)) => {
            assert_eq!(was.len(), is.len());
            for (was, is) in was.iter().zip(is) {
                compare(was, is, "", foreign, new);
            }
        }
        (Value::String(was), Value::String(is)) if was != is => {
            assert!(matches!(key, "call_id" | "id" | "tool_call_id" | "tool_use_id") && !foreign, "{key} of {was}");
            assert!(is.len() == 9 && is.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{is}");
            let name = new.entry(was.clone()).or_insert_with(|| is.clone());
            assert_eq!(name, is, "the same each time");
        }
        (was, is) => assert_eq!(was, is),
    }
}

/// None when a member that nobody reads here holds what no JSON can; that is for the provider to refuse.
fn parsed(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes).ok()
}
