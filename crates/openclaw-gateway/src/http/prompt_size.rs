//! How long a prompt is at the least, so that no fallback is asked that cannot hold it (BL-54).

use std::collections::HashMap;

use openclaw_chain::{Needs, Resolver, Shortfall};
use openclaw_ids::ModelRef;
use openclaw_runner::incompatible;
use serde_json::{Map, Value};

use openclaw_wire::{RequestKind, WireFormat};

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
    wire: WireFormat,
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
        incompatible(resolver, chain, &Needs::default().with_tokens(tokens))
    })
}

/// How many tokens the prompt has at the least; `None` when nothing can be said.
fn fewest_tokens(wire: WireFormat, body: &[u8]) -> Option<u64> {
    match wire.kind() {
        RequestKind::Conversation => {}
        // Nothing is answered, so the window is not the limit.
        RequestKind::Embeddings | RequestKind::TokenCount => return None,
    }
    let request: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let shortens = |name: &&str| request.get(*name).is_some_and(|value| !is_off(value));
    if SHORTENERS.iter().any(shortens) {
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
mod tests;
