//! Lets another answer take over where one broke off: it is swallowed while it equals what was sent (`splice`).
//!
//! Answers are compared by what they say (texts, tool calls), not by their bytes: ids, names of models and where one event
//! ends and the next begins differ from answer to answer. Thinking is not compared and, of the answer that takes over, not
//! shown. Nothing of it is shown before it has repeated everything that was sent.

use bytes::Bytes;
use serde_json::Value;

use crate::format::WireFormat;
use crate::overlap::{AnswerTracker, MAX_KEPT, Mismatch};
use crate::sse::SseParser;
use crate::surrogates::value_of;

/// What a client was sent of an answer, and how far another one has repeated it.
pub struct Splice {
    wire: WireFormat,
    tracker: Box<dyn AnswerTracker>,
    follows: bool,
    /// Something was sent that no other answer can be compared with.
    is_beyond: bool,
    /// What is new, until everything that was sent has been repeated.
    held: Vec<u8>,
    held_events: u64,
}

/// What of an event is to be sent, and how many events that is.
#[derive(Debug, PartialEq, Eq)]
pub struct NewEvents {
    /// The events as they are written.
    pub bytes: Bytes,
    /// How many they are.
    pub events: u64,
}

impl Splice {
    /// Nothing was sent yet; none for formats that do not stream.
    pub fn new(wire: WireFormat) -> Option<Self> {
        let tracker = wire.tracker()?;
        Some(Self {
            wire,
            tracker,
            follows: false,
            is_beyond: false,
            held: Vec::new(),
            held_events: 0,
        })
    }

    /// Begins to follow another answer; none when more was sent than can be remembered, or something else.
    pub fn follow(mut self) -> Option<Self> {
        if self.is_beyond || self.tracker.kept() > MAX_KEPT {
            return None;
        }
        self.follows = true;
        self.held.clear();
        self.held_events = 0;
        self.tracker.restart();
        Some(self)
    }

    /// Takes one event; the first answer's goes on as it is, of another one's only what is new.
    pub fn take(&mut self, raw: Bytes) -> Result<NewEvents, Mismatch> {
        if self.follows {
            self.follow_with(&raw)?;
            return Ok(self.released());
        }
        if self.tracker.kept() <= MAX_KEPT {
            match parsed(&raw) {
                Ok(Some(event)) => self.tracker.sent(&event),
                Ok(None) => {}
                Err(Mismatch) => self.is_beyond = true,
            }
        }
        Ok(NewEvents {
            bytes: raw,
            events: 1,
        })
    }

    /// Takes the last event of an answer.
    pub fn end(&mut self, raw: Bytes) -> Result<NewEvents, Mismatch> {
        if !self.follows {
            return self.take(raw);
        }
        self.follow_with(&raw)?;
        if !self.tracker.has_caught_up() {
            return Err(Mismatch);
        }
        if self.wire.end_mark().is_some() {
            self.held.extend_from_slice(&raw);
        }
        Ok(self.released())
    }

    fn follow_with(&mut self, raw: &[u8]) -> Result<(), Mismatch> {
        // What is no object says nothing that a client could read.
        let Some(event) = parsed(raw)?.filter(Value::is_object) else {
            return Ok(());
        };
        for event in self.tracker.resumed(event)? {
            self.held.extend(self.wire.event(&event));
            self.held_events += 1;
        }
        if self.held.len() > MAX_KEPT {
            return Err(Mismatch);
        }
        Ok(())
    }

    fn released(&mut self) -> NewEvents {
        if !self.tracker.has_caught_up() {
            return NewEvents {
                bytes: Bytes::new(),
                events: 0,
            };
        }
        NewEvents {
            bytes: Bytes::from(std::mem::take(&mut self.held)),
            events: std::mem::take(&mut self.held_events),
        }
    }
}

/// The JSON of an event; none of a comment or of `[DONE]`.
///
/// # Errors
/// When it can be looked at and not be taken apart, for a number beyond all bounds or too many brackets.
fn parsed(raw: &[u8]) -> Result<Option<Value>, Mismatch> {
    let mut parser = SseParser::within_stream(raw.len());
    parser.push(raw);
    let event = parser.next_event().ok().flatten();
    let data = event.and_then(|event| event.data).unwrap_or_default();
    match data.trim_ascii() {
        b"" | b"[DONE]" => Ok(None),
        text => value_of(text).map(Some).ok_or(Mismatch),
    }
}

#[cfg(test)]
mod tests;
