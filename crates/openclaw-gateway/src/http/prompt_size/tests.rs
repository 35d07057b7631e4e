//! What of a request counts as its prompt.

use serde_json::json;

use super::*;

/// 600 characters, none like the one before.
fn long() -> String {
    "abc ef".repeat(100)
}

fn check(rows: &[(&str, WireFormat, Value, Option<u64>)]) {
    for (name, wire, body, tokens) in rows {
        assert_eq!(
            fewest_tokens(*wire, body.to_string().as_bytes()),
            *tokens,
            "{name}"
        );
    }
}

#[test]
fn bl_54_only_text_that_the_model_reads_is_counted_in_chat_completions() {
    use WireFormat::{ChatCompletions as Chat, Embeddings};
    let text = long();
    let image = format!("data:image/png;base64,{text}");
    check(&[
        (
            "a text",
            Chat,
            json!({"messages": [{"role": "user", "content": text}]}),
            Some(100),
        ),
        (
            "parts, of which one is an image",
            Chat,
            json!({"messages": [{"role": "user", "content": [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": image}},
            ]}]}),
            Some(100),
        ),
        (
            "an image between words",
            Chat,
            json!({"messages": [{"role": "user", "content": format!("![]({image})")}]}),
            Some(0),
        ),
        (
            "a call and its result",
            Chat,
            json!({"messages": [
                {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": text}}]},
                {"role": "tool", "content": text},
            ]}),
            Some(200),
        ),
        (
            "spaces",
            Chat,
            json!({"messages": [{"content": " ".repeat(6_000)}]}),
            Some(0),
        ),
        (
            "one letter of three bytes",
            Chat,
            json!({"messages": [{"content": "字母".repeat(300)}]}),
            Some(100),
        ),
        (
            "what is predicted",
            Chat,
            json!({"messages": [], "prediction": {"content": text}}),
            Some(0),
        ),
        (
            "middle-out",
            Chat,
            json!({"messages": [{"content": text}], "transforms": ["middle-out"]}),
            None,
        ),
        (
            "no transforms",
            Chat,
            json!({"messages": [{"content": text}], "transforms": []}),
            Some(100),
        ),
        ("embeddings", Embeddings, json!({"input": text}), None),
    ]);
}

#[test]
fn bl_54_only_text_that_the_model_reads_is_counted_in_messages_and_responses() {
    use WireFormat::{CountTokens, Messages, Responses};
    let text = long();
    let image = format!("data:image/png;base64,{text}");
    check(&[
        (
            "a system prompt, a document and an image",
            Messages,
            json!({"system": [{"type": "text", "text": text}], "messages": [{"role": "user", "content": [
                {"type": "image", "source": {"type": "base64", "data": text}},
                {"type": "tool_result", "content": [{"type": "text", "text": text}]},
            ]}], "metadata": {"text": text}}),
            Some(200),
        ),
        (
            "thinking",
            Messages,
            json!({"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": text, "signature": text}]}]}),
            Some(0),
        ),
        (
            "edits of the context",
            Messages,
            json!({"messages": [{"content": text}], "context_management": {"edits": []}}),
            None,
        ),
        (
            "counting",
            CountTokens,
            json!({"messages": [{"content": text}]}),
            None,
        ),
        (
            "input and instructions",
            Responses,
            json!({"instructions": text, "input": text}),
            Some(200),
        ),
        (
            "items",
            Responses,
            json!({"input": [
                {"type": "reasoning", "content": [{"type": "reasoning_text", "text": text}]},
                {"role": "user", "content": [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": image}]},
                {"type": "function_call_output", "output": text},
            ], "truncation": "disabled"}),
            Some(200),
        ),
        (
            "truncation",
            Responses,
            json!({"input": text, "truncation": "auto"}),
            None,
        ),
    ]);
}

#[test]
fn bl_54_a_window_of_exactly_the_size_holds_the_prompt_and_the_first_model_is_no_fallback() {
    let rows = json!({"models": {"providers": {
        "a": {"contextWindow": 1}, "b": {"contextWindow": 99}, "c": {"contextWindow": 100}, "d": {},
    }}});
    let resolver = Resolver::new(&serde_json::from_value(rows).unwrap());
    let chain = ["a/m", "b/m", "c/m", "d/m"].map(|model| model.parse::<ModelRef>().unwrap());
    let body = json!({"messages": [{"role": "user", "content": long()}]}).to_string();
    let found = too_small(&resolver, &chain, WireFormat::ChatCompletions, body.as_bytes());
    assert_eq!(
        found.get(&chain[1]),
        Some(&Shortfall::Window {
            holds: 99,
            needs: 100
        })
    );
    assert!(!found.contains_key(&chain[2]) && !found.contains_key(&chain[3]));
    assert!(
        too_small(
            &resolver,
            &chain[..1],
            WireFormat::ChatCompletions,
            body.as_bytes()
        )
        .is_empty()
    );
}
