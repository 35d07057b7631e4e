//! OpenAI's responses: one text per part of an output item, reasoning left out.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::overlap::{AnswerTracker, Mismatch, Overlap, text};

/// Items that can be compared.
const COMPARED: &[&str] = &["function_call", "message"];
/// The event that brings a piece of the arguments of a call.
const ARGUMENTS: &str = "response.function_call_arguments.delta";
/// Events whose `delta` is compared.
const DELTAS: &[&str] = &[ARGUMENTS, "response.output_text.delta", "response.refusal.delta"];
/// Events that happen once per part or item.
const ONCE: &[&str] = &[
    "response.content_part.added",
    "response.content_part.done",
    "response.function_call_arguments.done",
    "response.output_item.done",
    "response.output_text.done",
    "response.refusal.done",
];
/// Events that begin a response.
const BEGINNINGS: &[&str] = &["response.created", "response.in_progress", "response.queued"];
/// Events that end one.
const ENDS: &[&str] = &["response.completed", "response.incomplete"];

/// An item that was sent.
#[derive(Debug)]
struct Item {
    output_index: u64,
    kind: String,
    /// What clients know it by: `id` and, for a call, `call_id`.
    ids: [Value; 2],
}

#[derive(Debug, Default)]
struct ResponseTracker {
    /// Texts by the number of the item, the index of its part, and the event of [`DELTAS`] that brings them, or [`NAME`].
    said: Overlap<(usize, u64, &'static str)>,
    items: Vec<Item>,
    /// Events of [`ONCE`] that were sent: name, number of the item, index of the part.
    done: BTreeSet<(String, usize, u64)>,
    /// The next free output index.
    next: u64,
    /// The number of the next event.
    sequence: u64,
    /// What the other answer's output indices stand for; none for reasoning.
    follows: HashMap<u64, Option<usize>>,
    begun: usize,
    is_incomparable: bool,
}

const IDS: [&str; 2] = ["id", "call_id"];
/// The member of an item that names its function.
const NAME: &str = "name";

fn number_of(event: &Value, member: &str) -> u64 {
    event.get(member).and_then(Value::as_u64).unwrap_or_default()
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn ids(item: &Value) -> [Value; 2] {
    IDS.map(|name| item.get(name).cloned().unwrap_or_default())
}

/// The arguments of a call that come with its item.
fn arguments(item: &Value) -> &str {
    text(item, "arguments").unwrap_or_default()
}

/// The one of [`DELTAS`] that an event is.
fn delta_of(event: &str) -> Option<&'static str> {
    DELTAS.iter().find(|delta| **delta == event).copied()
}

fn is_reasoning(event: &str) -> bool {
    event.starts_with("response.reasoning")
}

/// Compares answers from their beginning.
pub(super) fn tracker() -> Box<dyn AnswerTracker> {
    Box::new(ResponseTracker::default())
}

impl AnswerTracker for ResponseTracker {
    fn sent(&mut self, event: &Value) {
        let name = kind(event);
        self.sequence = self.sequence.max(number_of(event, "sequence_number") + 1);
        let output_index = number_of(event, "output_index");
        if name == "response.output_item.added" {
            let item = event.get("item").unwrap_or(&Value::Null);
            self.next = self.next.max(output_index + 1);
            if kind(item) != "reasoning" {
                self.is_incomparable |= !COMPARED.contains(&kind(item));
                let number = self.add(output_index, item);
                let called = text(item, NAME).unwrap_or_default();
                self.said.sent((number, 0, NAME), called);
                self.said.sent((number, 0, ARGUMENTS), arguments(item));
            }
            return;
        }
        let Some(number) = self
            .items
            .iter()
            .rposition(|item| item.output_index == output_index)
        else {
            // No item was named that it belongs to.
            self.is_incomparable |= delta_of(name).is_some() && text(event, "delta").is_some();
            return;
        };
        let part = number_of(event, "content_index");
        if let Some(delta) = delta_of(name) {
            self.said
                .sent((number, part, delta), text(event, "delta").unwrap_or_default());
        } else if ONCE.contains(&name) {
            self.done.insert((name.to_owned(), number, part));
        }
    }

    fn restart(&mut self) {
        self.said.restart();
        self.follows.clear();
        self.begun = 0;
    }

    fn resumed(&mut self, event: Value) -> Result<Vec<Value>, Mismatch> {
        if self.is_incomparable {
            return Err(Mismatch);
        }
        let new = self.new_of(event)?.map(|mut event| {
            event["sequence_number"] = self.sequence.into();
            self.sequence += 1;
            event
        });
        Ok(new.into_iter().collect())
    }

    fn has_caught_up(&self) -> bool {
        self.said.is_complete()
    }

    fn kept(&self) -> usize {
        self.said.bytes()
    }
}

impl ResponseTracker {
    fn add(&mut self, output_index: u64, item: &Value) -> usize {
        self.items.push(Item {
            output_index,
            kind: kind(item).to_owned(),
            ids: ids(item),
        });
        self.items.len() - 1
    }

    fn new_of(&mut self, mut event: Value) -> Result<Option<Value>, Mismatch> {
        let name = kind(&event).to_owned();
        if BEGINNINGS.contains(&name.as_str()) || is_reasoning(&name) {
            return Ok(None);
        }
        if ENDS.contains(&name.as_str()) {
            self.rename_all(&mut event);
            return Ok(Some(event));
        }
        if name == "response.output_item.added" {
            return self.start(event);
        }
        let theirs = number_of(&event, "output_index");
        let Some(followed) = self.follows.get(&theirs).copied() else {
            if delta_of(&name).is_some() && text(&event, "delta").is_some() {
                return Err(Mismatch);
            }
            // About the response as a whole, such as a rate limit.
            return Ok(self.said.is_complete().then_some(event));
        };
        let Some(number) = followed else { return Ok(None) };
        let part = number_of(&event, "content_index");
        if let Some(delta) = delta_of(&name) {
            let said = text(&event, "delta").unwrap_or_default();
            let new: Value = self.said.repeat((number, part, delta), said)?.into();
            if new == "" {
                return Ok(None);
            }
            event["delta"] = new;
        } else if ONCE.contains(&name.as_str()) && !self.done.insert((name, number, part)) {
            return Ok(None);
        }
        let item = &self.items[number];
        event["output_index"] = item.output_index.into();
        if event.get("item_id").is_some() {
            event["item_id"] = item.ids[0].clone();
        }
        if let Some(own) = event.get_mut("item") {
            rename(own, item);
        }
        Ok(Some(event))
    }

    fn start(&mut self, mut event: Value) -> Result<Option<Value>, Mismatch> {
        let theirs = number_of(&event, "output_index");
        let item = event.get("item").cloned().unwrap_or_default();
        if kind(&item) == "reasoning" {
            self.follows.insert(theirs, None);
            return Ok(None);
        }
        if !COMPARED.contains(&kind(&item)) {
            return Err(Mismatch);
        }
        let number = self.begun;
        self.begun += 1;
        self.follows.insert(theirs, Some(number));
        let called = text(&item, NAME).unwrap_or_default();
        if let Some(known) = self.items.get(number) {
            let is_same = known.kind == kind(&item);
            let more = self.said.repeat((number, 0, NAME), called)?;
            let more_arguments = self.said.repeat((number, 0, ARGUMENTS), arguments(&item))?;
            // Nothing can be added to what begins an item.
            return if is_same && more.is_empty() && more_arguments.is_empty() {
                Ok(None)
            } else {
                Err(Mismatch)
            };
        }
        self.said.repeat((number, 0, NAME), called)?;
        self.said.repeat((number, 0, ARGUMENTS), arguments(&item))?;
        event["output_index"] = self.next.into();
        self.add(self.next, &item);
        self.next += 1;
        Ok(Some(event))
    }

    /// Gives the items of a whole response the names that the client knows.
    fn rename_all(&self, event: &mut Value) {
        let output = event
            .pointer_mut("/response/output")
            .and_then(Value::as_array_mut);
        let compared = output
            .into_iter()
            .flatten()
            .filter(|item| COMPARED.contains(&kind(item)));
        for (own, item) in compared.zip(&self.items) {
            rename(own, item);
        }
    }
}

fn rename(own: &mut Value, item: &Item) {
    for (name, id) in IDS.iter().zip(&item.ids) {
        if let Some(member) = own.get_mut(*name).filter(|_| !id.is_null()) {
            member.clone_from(id);
        }
    }
}
