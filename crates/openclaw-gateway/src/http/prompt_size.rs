//! How long a prompt is at the least, so that no fallback is asked that cannot hold it (BL-54).

use std::collections::HashMap;

use openclaw_chain::{Needs, Resolver, Shortfall};
use openclaw_ids::ModelRef;
use openclaw_runner::unfit;
use serde_json::{Map, Value};

use crate::upstream::Wire;

/// So many characters are taken for one token. Texts have some four, so nothing that would fit is ruled out.
const CHARACTERS: u64 = 6;
/// Members whose text is a part of the prompt, in any format.
const PROMPT: &[&str] = &[
    "arguments",
    "content",
    "input",
    "instructions",
    "output",
    "system",
    "text",
];
/// Members that are not shown to the model, or not in each turn.
const HIDDEN: &[&str] = &["metadata", "prediction", "reasoning", "summary"];
/// Members by which a provider is asked to shorten the prompt by itself.
const SHORTENERS: &[&str] = &["context_management", "plugins", "transforms", "truncation"];
/// How a file begins that is written as text.
const ENCODED: &str = ";base64,";

/// The fallbacks of `chain` whose configured context window is smaller than the prompt in `body` can be.
pub(super) fn too_small(
    resolver: &Resolver,
    chain: &[ModelRef],
    wire: Wire,
    body: &[u8],
) -> HashMap<ModelRef, Shortfall> {
    let windows = chain.iter().skip(1);
    let smallest = windows
        .filter_map(|model| resolver.capabilities(model).context_window)
        .min();
    let at_most = u64::try_from(body.len()).unwrap_or(u64::MAX) / CHARACTERS;
    // What is short all in all is not read once more.
    if smallest.is_none_or(|smallest| at_most <= smallest) {
        return HashMap::new();
    }
    fewest_tokens(wire, body).map_or_else(HashMap::new, |tokens| {
        unfit(resolver, chain, &Needs::default().with_tokens(tokens))
    })
}

/// How many tokens the prompt has at the least; `None` when nothing can be said.
fn fewest_tokens(wire: Wire, body: &[u8]) -> Option<u64> {
    match wire {
        Wire::ChatCompletions | Wire::Messages | Wire::Responses => {}
        // Nothing is answered, so the window is not the limit.
        Wire::CountTokens | Wire::Embeddings => return None,
    }
    let request: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let shortens = |name: &&str| request.get(*name).is_some_and(|value| !is_off(value));
    if SHORTENERS.iter().any(|name| shortens(&name)) {
        return None;
    }
    Some(of_members(&request) / CHARACTERS)
}

/// Whether a member asks for nothing.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text == "disabled",
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn of_members(members: &Map<String, Value>) -> u64 {
    // Earlier reasoning is dropped by who made it.
    if members.get("type").is_some_and(|kind| kind == "reasoning") {
        return 0;
    }
    let shown = members
        .iter()
        .filter(|(name, _)| !HIDDEN.contains(&name.as_str()));
    shown.fold(0, |sum, (name, value)| {
        let own = match value {
            Value::String(text) if PROMPT.contains(&name.as_str()) => characters(text),
            other => inside(other),
        };
        sum.saturating_add(own)
    })
}

fn inside(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().fold(0, |sum, item| sum.saturating_add(inside(item))),
        Value::Object(members) => of_members(members),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The characters of a text, a run of the same one counted once, as a long run can be one token; none of a file's.
fn characters(text: &str) -> u64 {
    if text.contains(ENCODED) {
        return 0;
    }
    let mut before = None;
    let counted = text.chars().filter(|next| before.replace(*next) != Some(*next));
    u64::try_from(counted.count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// 600 characters, none like the one before.
    fn long() -> String {
        "abc ef".repeat(100)
    }

    #[test]
    fn bl_54_only_text_that_the_model_reads_is_counted() {
        use Wire::{ChatCompletions as Chat, CountTokens, Embeddings, Messages, Responses};
        let text = long();
        let image = format!("data:image/png;base64,{text}");
        for (name, wire, body, tokens) in [
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
            ("embeddings", Embeddings, json!({"input": text}), None),
        ] {
            assert_eq!(fewest_tokens(wire, body.to_string().as_bytes()), tokens, "{name}");
        }
    }

    #[test]
    fn bl_54_a_window_of_exactly_the_size_holds_the_prompt_and_the_first_model_is_no_fallback() {
        let rows = json!({"models": {"providers": {
            "a": {"contextWindow": 1}, "b": {"contextWindow": 99}, "c": {"contextWindow": 100}, "d": {},
        }}});
        let resolver = Resolver::new(&serde_json::from_value(rows).unwrap());
        let chain = ["a/m", "b/m", "c/m", "d/m"].map(|model| model.parse::<ModelRef>().unwrap());
        let body = json!({"messages": [{"role": "user", "content": long()}]}).to_string();
        let found = too_small(&resolver, &chain, Wire::ChatCompletions, body.as_bytes());
        assert_eq!(
            found.get(&chain[1]),
            Some(&Shortfall::Window {
                holds: 99,
                needs: 100
            })
        );
        assert!(!found.contains_key(&chain[2]) && !found.contains_key(&chain[3]));
        assert!(too_small(&resolver, &chain[..1], Wire::ChatCompletions, body.as_bytes()).is_empty());
    }
}
