//! Lets a second answer take over where a first one broke off, by leaving out what was already sent (`splice`).
//!
//! Answers are compared by their texts and tool calls, not by their bytes: ids, model names and the borders of events
//! differ from answer to answer. Thinking is not compared, and the thinking of the second answer is left out. Nothing of the
//! second answer is sent before it has repeated everything that was sent of the first.

use bytes::Bytes;
use serde_json::Value;

use crate::format::WireFormat;
use crate::overlap::{AnswerTracker, MAX_KEPT, Mismatch};
use crate::sse::SseParser;
use crate::surrogates::value_of;

/// The events sent of a first answer, and how far a second answer has repeated them.
pub struct Splice {
    wire: WireFormat,
    tracker: Box<dyn AnswerTracker>,
    /// Whether the second answer has begun.
    has_taken_over: bool,
    /// Something was sent that no other answer can be compared with.
    is_incomparable: bool,
    /// New events of the second answer, until it has repeated everything that was sent.
    buffered: Vec<u8>,
    buffered_events: u64,
}

/// The events to send for an event that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct NewEvents {
    /// The events as they are written.
    pub bytes: Bytes,
    /// How many they are.
    pub events: u64,
}

impl Splice {
    /// Before anything is sent; none for formats that do not stream.
    pub fn new(wire: WireFormat) -> Option<Self> {
        let tracker = wire.tracker()?;
        Some(Self {
            wire,
            tracker,
            has_taken_over: false,
            is_incomparable: false,
            buffered: Vec::new(),
            buffered_events: 0,
        })
    }

    /// Begins the second answer; none when more was sent than is remembered (8 MiB), or something that cannot be compared.
    pub fn take_over(mut self) -> Option<Self> {
        if self.is_incomparable || self.tracker.kept() > MAX_KEPT {
            return None;
        }
        self.has_taken_over = true;
        self.buffered.clear();
        self.buffered_events = 0;
        self.tracker.restart();
        Some(self)
    }

    /// Takes one event: one of the first answer is sent as it is, and what is new of one of the second.
    ///
    /// # Errors
    /// When the second answer differs from what was sent.
    pub fn push(&mut self, raw: Bytes) -> Result<NewEvents, Mismatch> {
        if self.has_taken_over {
            self.compare(&raw)?;
            return Ok(self.released());
        }
        if self.tracker.kept() <= MAX_KEPT {
            match parsed(&raw) {
                Ok(Some(event)) => self.tracker.sent(&event),
                Ok(None) => {}
                Err(Mismatch) => self.is_incomparable = true,
            }
        }
        Ok(NewEvents {
            bytes: raw,
            events: 1,
        })
    }

    /// Takes the last event of an answer.
    ///
    /// # Errors
    /// As [`push`](Self::push), and when the second answer ends before it has repeated what was sent.
    pub fn finish(&mut self, raw: Bytes) -> Result<NewEvents, Mismatch> {
        if !self.has_taken_over {
            return self.push(raw);
        }
        self.compare(&raw)?;
        if !self.tracker.has_caught_up() {
            return Err(Mismatch);
        }
        if self.wire.end_mark().is_some() {
            self.buffered.extend_from_slice(&raw);
        }
        Ok(self.released())
    }

    fn compare(&mut self, raw: &[u8]) -> Result<(), Mismatch> {
        // A client could read nothing in what is no object.
        let Some(event) = parsed(raw)?.filter(Value::is_object) else {
            return Ok(());
        };
        for event in self.tracker.resumed(event)? {
            self.buffered.extend(self.wire.event(&event));
            self.buffered_events += 1;
        }
        if self.buffered.len() > MAX_KEPT {
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
            bytes: Bytes::from(std::mem::take(&mut self.buffered)),
            events: std::mem::take(&mut self.buffered_events),
        }
    }
}

/// The JSON of an event; none of a comment or of `[DONE]`.
///
/// # Errors
/// When it is JSON that cannot be held as a value: a number out of range, or too many brackets.
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
