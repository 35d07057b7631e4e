//! Chat completions: one text per member of a choice, and per tool call.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::overlap::{AnswerTracker, Mismatch, Overlap, text};

/// Members of a delta that are compared.
const TEXTS: &[&str] = &["content", "refusal"];
/// Members that are thinking: those of the answer that takes over are not shown.
const THINKING: &[&str] = &["reasoning", "reasoning_content", "reasoning_details", "thinking"];
/// Members that cannot be compared.
const OTHER: &[&str] = &["audio", "function_call", "images"];
/// Members of a chunk that stay those of the first answer.
const NAMING: &[&str] = &["created", "id"];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Arguments(u64),
    Name(u64),
    Text(usize),
}

#[derive(Debug, Default)]
struct ChatTracker {
    said: Overlap<(u64, Part)>,
    begun: BTreeSet<u64>,
    finished: BTreeSet<u64>,
    naming: Map<String, Value>,
    /// Something was sent that no other answer can be compared with.
    is_incomparable: bool,
}

fn index(value: &Value) -> u64 {
    value.get("index").and_then(Value::as_u64).unwrap_or_default()
}

fn choices(event: &Value) -> impl Iterator<Item = &Value> {
    event
        .get("choices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn calls(delta: &Value) -> impl Iterator<Item = &Value> {
    delta
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Whether a choice, or its delta, says something that cannot be compared.
fn cannot_be_compared(choice: &Value, delta: &Value) -> bool {
    let has = |member: &&str| delta.get(*member).is_some_and(|value| !value.is_null());
    let is_list = |member: &&str| delta.get(*member).is_some_and(Value::is_array);
    OTHER.iter().any(has) || TEXTS.iter().any(is_list) || text(choice, "text").is_some()
}

/// Compares answers from their beginning.
pub(super) fn tracker() -> Box<dyn AnswerTracker> {
    Box::new(ChatTracker::default())
}

impl AnswerTracker for ChatTracker {
    fn sent(&mut self, event: &Value) {
        for name in NAMING {
            if let Some(value) = event.get(*name) {
                self.naming.entry(*name).or_insert_with(|| value.clone());
            }
        }
        for choice in choices(event) {
            let (at, delta) = (index(choice), choice.get("delta").unwrap_or(&Value::Null));
            self.begun.insert(at);
            self.is_incomparable |= cannot_be_compared(choice, delta);
            for (number, member) in TEXTS.iter().enumerate() {
                if let Some(text) = text(delta, member) {
                    self.said.sent((at, Part::Text(number)), text);
                }
            }
            for call in calls(delta) {
                let function = call.get("function").unwrap_or(&Value::Null);
                self.said.sent(
                    (at, Part::Name(index(call))),
                    text(function, "name").unwrap_or_default(),
                );
                let arguments = text(function, "arguments").unwrap_or_default();
                self.said.sent((at, Part::Arguments(index(call))), arguments);
            }
            if choice
                .get("finish_reason")
                .is_some_and(|reason| !reason.is_null())
            {
                self.finished.insert(at);
            }
        }
    }

    fn restart(&mut self) {
        self.said.restart();
    }

    fn resumed(&mut self, mut event: Value) -> Result<Vec<Value>, Mismatch> {
        if self.is_incomparable {
            return Err(Mismatch);
        }
        for (name, value) in &self.naming {
            if let Some(own) = event.get_mut(name) {
                own.clone_from(value);
            }
        }
        let Some(choices) = event.get_mut("choices").and_then(Value::as_array_mut) else {
            return Ok(vec![event]);
        };
        let had_choices = !choices.is_empty();
        let mut new = Vec::new();
        for choice in std::mem::take(choices) {
            new.extend(self.new_of(choice)?);
        }
        *choices = new;
        let has_usage = event.get("usage").is_some_and(|usage| !usage.is_null());
        let is_empty = choices_of(&event).is_empty();
        Ok(if is_empty && had_choices && !has_usage {
            Vec::new()
        } else {
            vec![event]
        })
    }

    fn has_caught_up(&self) -> bool {
        self.said.is_complete()
    }

    fn kept(&self) -> usize {
        self.said.bytes()
    }
}

fn choices_of(event: &Value) -> &[Value] {
    event
        .get("choices")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

impl ChatTracker {
    /// What of a choice is new, if anything.
    fn new_of(&mut self, mut choice: Value) -> Result<Option<Value>, Mismatch> {
        if !choice.is_object() {
            return Ok(None);
        }
        let at = index(&choice);
        let mut delta = choice
            .get_mut("delta")
            .map_or_else(|| Value::Object(Map::new()), Value::take);
        if cannot_be_compared(&choice, &delta) {
            return Err(Mismatch);
        }
        if let Some(members) = delta.as_object_mut() {
            if !self.begun.insert(at) {
                members.remove("role");
            }
            for member in THINKING {
                members.remove(*member);
            }
            for (number, member) in TEXTS.iter().enumerate() {
                let Some(Value::String(said)) = members.remove(*member) else {
                    continue;
                };
                let new = self.said.repeat((at, Part::Text(number)), &said)?;
                if !new.is_empty() {
                    members.insert((*member).to_owned(), new.into());
                }
            }
            if let Some(Value::Array(calls)) = members.remove("tool_calls") {
                let mut new = Vec::new();
                for call in calls {
                    new.extend(self.new_of_call(at, call)?);
                }
                if !new.is_empty() {
                    members.insert("tool_calls".to_owned(), new.into());
                }
            }
        }
        let is_last = choice
            .get("finish_reason")
            .is_some_and(|reason| !reason.is_null());
        let ends = is_last && self.finished.insert(at);
        let says = delta.as_object().is_some_and(|members| !members.is_empty());
        if !ends {
            choice["finish_reason"] = Value::Null;
        }
        choice["delta"] = delta;
        Ok((says || ends).then_some(choice))
    }

    fn new_of_call(&mut self, at: u64, mut call: Value) -> Result<Option<Value>, Mismatch> {
        let number = index(&call);
        let known = self.said.knows(&(at, Part::Name(number)));
        let function = call.get("function").cloned().unwrap_or_default();
        let name = text(&function, "name").unwrap_or_default();
        let name = self.said.repeat((at, Part::Name(number)), name)?.to_owned();
        let arguments = text(&function, "arguments").unwrap_or_default();
        let arguments = self
            .said
            .repeat((at, Part::Arguments(number)), arguments)?
            .to_owned();
        if !known {
            return Ok(Some(call));
        }
        if name.is_empty() && arguments.is_empty() {
            return Ok(None);
        }
        // The client knows the call by the first answer's id.
        let mut function = Map::new();
        if !name.is_empty() {
            function.insert("name".to_owned(), name.into());
        }
        function.insert("arguments".to_owned(), arguments.into());
        if let Some(members) = call.as_object_mut() {
            members.remove("id");
            members.remove("type");
            members.insert("function".to_owned(), function.into());
        }
        Ok(Some(call))
    }
}
