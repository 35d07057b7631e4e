//! Anthropic's messages: one text per block, the thinking ones left out.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value, json};

use crate::overlap::{AnswerTracker, Mismatch, Overlap, text};

const THINKING: &[&str] = &["redacted_thinking", "thinking"];
/// Blocks that can be compared.
const COMPARED: &[&str] = &["text", "tool_use"];

/// The member of a delta that is a text.
const TEXT: &str = "text";
/// The one that is a piece of what a tool is given.
const INPUT: &str = "partial_json";
/// The member of a block that names its tool.
const NAME: &str = "name";

/// A block that was sent.
#[derive(Debug)]
struct Block {
    index: u64,
    kind: String,
    is_open: bool,
}

#[derive(Debug, Default)]
struct MessageTracker {
    /// Texts by the number of the block, thinking not counted, and the member that brings them.
    said: Overlap<(usize, &'static str)>,
    /// The compared blocks in order.
    blocks: Vec<Block>,
    /// Thinking that is still open.
    thinking: Vec<u64>,
    /// The next free index.
    next: u64,
    /// What the other answer's indices stand for; none for thinking.
    follows: HashMap<u64, Option<usize>>,
    /// How many compared blocks of the other answer have begun.
    begun: usize,
    is_incomparable: bool,
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or_default()
}

fn kind(value: &Value) -> &str {
    value.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// What a delta adds: the member and its text.
fn addition(event: &Value) -> Option<(&'static str, &str)> {
    let delta = event.get("delta")?;
    [TEXT, INPUT]
        .into_iter()
        .find_map(|member| Some((member, text(delta, member)?)))
}

/// Whether a block can be repeated: a text, or a call that says nothing but what its tool is given.
fn is_compared(block: &Value) -> bool {
    COMPARED.contains(&kind(block)) && (kind(block) == "text" || text(block, "text").is_none())
}

/// What a block says as it begins, as deltas would: its text, or the input of its tool where that is there at once.
fn beginning(block: &Value) -> (&'static str, Cow<'_, str>) {
    if kind(block) == "text" {
        return (TEXT, Cow::Borrowed(text(block, TEXT).unwrap_or_default()));
    }
    let input = block.get("input").and_then(Value::as_object);
    match input.filter(|input| !input.is_empty()) {
        Some(_) => (INPUT, Cow::Owned(block["input"].to_string())),
        None => (INPUT, Cow::Borrowed("")),
    }
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

/// Compares answers from their beginning.
pub(super) fn tracker() -> Box<dyn AnswerTracker> {
    Box::new(MessageTracker::default())
}

impl AnswerTracker for MessageTracker {
    fn sent(&mut self, event: &Value) {
        match kind(event) {
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                self.next = self.next.max(index(event) + 1);
                if THINKING.contains(&kind(block)) {
                    self.thinking.push(index(event));
                } else {
                    self.is_incomparable |= !is_compared(block);
                    let number = self.add(index(event), kind(block));
                    let (member, said) = beginning(block);
                    self.said.sent((number, member), &said);
                    self.said
                        .sent((number, NAME), text(block, NAME).unwrap_or_default());
                }
            }
            "content_block_delta" => {
                match (self.number(index(event)), addition(event)) {
                    (Some(number), Some((member, text))) => self.said.sent((number, member), text),
                    // No block was named that it belongs to.
                    (None, Some(_)) => self.is_incomparable = true,
                    (_, None) => {}
                }
            }
            "content_block_stop" => {
                self.thinking.retain(|open| *open != index(event));
                if let Some(number) = self.number(index(event)) {
                    self.blocks[number].is_open = false;
                }
            }
            _ => {}
        }
    }

    fn restart(&mut self) {
        self.said.restart();
        self.follows.clear();
        self.begun = 0;
    }

    fn resumed(&mut self, mut event: Value) -> Result<Vec<Value>, Mismatch> {
        if self.is_incomparable {
            return Err(Mismatch);
        }
        match kind(&event) {
            "content_block_start" => self.start(event),
            "content_block_delta" => {
                let number = match self.follows.get(&index(&event)) {
                    Some(Some(number)) => *number,
                    None if addition(&event).is_some() => return Err(Mismatch),
                    Some(None) | None => return Ok(Vec::new()),
                };
                match addition(&event) {
                    Some((member, text)) => {
                        let new: Value = self.said.repeat((number, member), text)?.into();
                        if new == "" {
                            return Ok(Vec::new());
                        }
                        event["delta"][member] = new;
                    }
                    // A citation or the like belongs to text that is known already.
                    None if !self.said.is_complete() => return Ok(Vec::new()),
                    None => {}
                }
                event["index"] = self.blocks[number].index.into();
                Ok(vec![event])
            }
            "content_block_stop" => {
                let Some(number) = self.followed(index(&event)) else {
                    return Ok(Vec::new());
                };
                let block = &mut self.blocks[number];
                if !std::mem::take(&mut block.is_open) {
                    return Ok(Vec::new());
                }
                Ok(vec![stop(block.index)])
            }
            "message_delta" => {
                let mut events = self.close();
                events.push(event);
                Ok(events)
            }
            "message_stop" => Ok(vec![event]),
            _ => Ok(Vec::new()),
        }
    }

    fn has_caught_up(&self) -> bool {
        self.said.is_complete()
    }

    fn kept(&self) -> usize {
        self.said.bytes()
    }
}

impl MessageTracker {
    fn add(&mut self, index: u64, kind: &str) -> usize {
        self.blocks.push(Block {
            index,
            kind: kind.to_owned(),
            is_open: true,
        });
        self.blocks.len() - 1
    }

    /// The number of the compared block that has an index; the latest one, should there be several.
    fn number(&self, index: u64) -> Option<usize> {
        self.blocks.iter().rposition(|block| block.index == index)
    }

    fn followed(&self, index: u64) -> Option<usize> {
        self.follows.get(&index).copied().flatten()
    }

    /// The ends of all blocks that the first answer left open.
    fn close(&mut self) -> Vec<Value> {
        let thinking = std::mem::take(&mut self.thinking);
        let mut events: Vec<Value> = thinking.into_iter().map(stop).collect();
        for block in self.blocks.iter_mut().filter(|block| block.is_open) {
            block.is_open = false;
            events.push(stop(block.index));
        }
        events
    }

    fn start(&mut self, mut event: Value) -> Result<Vec<Value>, Mismatch> {
        let theirs = index(&event);
        let block = event.get("content_block").cloned().unwrap_or_default();
        if THINKING.contains(&kind(&block)) {
            self.follows.insert(theirs, None);
            return Ok(Vec::new());
        }
        if !is_compared(&block) {
            return Err(Mismatch);
        }
        let number = self.begun;
        self.begun += 1;
        self.follows.insert(theirs, Some(number));
        let name = text(&block, NAME).unwrap_or_default();
        let (member, said) = beginning(&block);
        if let Some(known) = self.blocks.get(number) {
            let (index, same) = (known.index, known.kind == kind(&block));
            if !same || !self.said.repeat((number, NAME), name)?.is_empty() {
                return Err(Mismatch);
            }
            let new = self.said.repeat((number, member), &said)?;
            let kind = if member == TEXT {
                "text_delta"
            } else {
                "input_json_delta"
            };
            let delta = json!({"type": kind, member: new});
            let event = json!({"type": "content_block_delta", "index": index, "delta": delta});
            return Ok(if new.is_empty() { Vec::new() } else { vec![event] });
        }
        let mut events = self.close();
        event["index"] = self.next.into();
        self.add(self.next, kind(&block));
        self.next += 1;
        self.said.repeat((number, NAME), name)?;
        self.said.repeat((number, member), &said)?;
        events.push(event);
        Ok(events)
    }
}
