//! How far a streamed answer has come, and whether it is complete.

use std::collections::BTreeMap;

use crate::format::{ContentKind, Delta, WireFormat};

/// Choices and tool calls that are tracked; a stream with more is judged by the first ones.
const MAX_TRACKED: usize = 128;

/// What the events of a stream have brought so far.
#[derive(Debug, Default)]
pub struct StreamProgress {
    shown: Option<ContentKind>,
    /// Choices seen, and whether each had its finish reason.
    choices: BTreeMap<u64, bool>,
    /// Whether an event said that the answer is complete.
    ended: bool,
    /// Whether that event never came, and the answer was complete all the same.
    assumed: bool,
    /// Arguments of the tool calls seen, by choice and index.
    calls: BTreeMap<(u64, u64), Nesting>,
    /// Events that could not be read.
    skipped: u64,
}

/// What a complete stream left out of its end (BL-89).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingEnd {
    /// Both of the others.
    Both,
    /// The last event of the format: `[DONE]`, `message_stop`.
    EndEvent,
    /// The reason why a choice ended: `finish_reason`, `stop_reason`.
    StopReason,
}

impl MissingEnd {
    /// Its name in metrics and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::EndEvent => "end_event",
            Self::StopReason => "stop_reason",
        }
    }
}

impl StreamProgress {
    /// Adds the deltas of one chunk.
    pub fn add(&mut self, deltas: &[Delta]) {
        for delta in deltas {
            self.shown = self.shown.max(Some(delta.content));
            if let Some(finished) = tracked(&mut self.choices, delta.choice) {
                *finished |= delta.finished;
            }
            for (index, text) in &delta.arguments {
                if let Some(call) = tracked(&mut self.calls, (delta.choice, *index)) {
                    call.add(text);
                }
            }
        }
    }

    /// The event that ends the answer came, and shows this by itself.
    pub fn end(&mut self, shows: ContentKind) {
        self.ended = true;
        self.shown = self.shown.max(Some(shows));
    }

    /// The answer is complete, whether or not an event said so.
    pub fn assume_end(&mut self) {
        self.assumed |= !self.ended;
        self.end(ContentKind::Nothing);
    }

    /// An event came that cannot be read.
    pub fn skip(&mut self) {
        self.skipped = self.skipped.saturating_add(1);
    }

    /// How many events could not be read.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Whether the event that ends the answer came.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// What the stream has shown so far.
    pub fn shown(&self) -> ContentKind {
        self.shown.unwrap_or(ContentKind::Nothing)
    }

    /// Whether a stream in this format may end here (BL-89): it said so, every choice has its finish reason, or, in a
    /// format that lets an answer end with its calls, the arguments of every one are complete.
    pub fn may_end(&self, wire: WireFormat) -> bool {
        let finished = !self.choices.is_empty() && self.is_finished();
        let called = wire.may_end_with_calls()
            && !self.calls.is_empty()
            && self.calls.values().all(Nesting::is_closed);
        self.ended || finished || called
    }

    /// Whether a choice that gave no reason for its end is within the arguments of a call.
    pub fn breaks_off_in_a_call(&self) -> bool {
        let is_finished = |choice: &u64| self.choices.get(choice).is_some_and(|finished| *finished);
        let mut calls = self.calls.iter();
        calls.any(|((choice, _), call)| call.is_open() && !is_finished(choice))
    }

    /// What a complete answer did not say of its end, in formats where choices give a reason for theirs.
    pub fn missing(&self) -> Option<MissingEnd> {
        match (self.ended && !self.assumed, self.is_finished()) {
            (true, true) => None,
            (false, true) => Some(MissingEnd::EndEvent),
            (true, false) => Some(MissingEnd::StopReason),
            (false, false) => Some(MissingEnd::Both),
        }
    }

    /// Whether every choice has its finish reason.
    fn is_finished(&self) -> bool {
        self.choices.values().all(|finished| *finished)
    }
}

fn tracked<K: Ord, V: Default>(map: &mut BTreeMap<K, V>, key: K) -> Option<&mut V> {
    if map.len() < MAX_TRACKED || map.contains_key(&key) {
        Some(map.entry(key).or_default())
    } else {
        None
    }
}

/// Follows the brackets of a JSON text that arrives in pieces, without keeping it.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    opened: bool,
    in_string: bool,
    escaped: bool,
}

impl Nesting {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            match (self.in_string, byte) {
                (true, _) if self.escaped => self.escaped = false,
                (true, b'\\') => self.escaped = true,
                (_, b'"') => self.in_string = !self.in_string,
                (false, b'{' | b'[') => {
                    self.depth += 1;
                    self.opened = true;
                }
                (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_closed(&self) -> bool {
        self.opened && !self.is_open()
    }

    fn is_open(&self) -> bool {
        self.depth > 0 || self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::StreamEvent;

    fn progress(chunks: &[&str]) -> StreamProgress {
        let mut progress = StreamProgress::default();
        for chunk in chunks {
            match WireFormat::ChatCompletions
                .read_event(None, format!("{{\"choices\":[{chunk}]}}").as_bytes())
            {
                StreamEvent::Deltas(deltas) => progress.add(&deltas),
                other => panic!("{other:?}"),
            }
        }
        progress
    }

    #[test]
    fn bl_89_where_a_stream_may_end() {
        let call = |arguments: &str| {
            let delta =
                serde_json::json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
            format!("{{\"delta\":{delta}}}")
        };
        let (open, close) = (call(r#"{"a": "}\""#), call(r#"", "b": [1]}"#));
        let (nothing, empty) = (call(""), call("{}"));
        for (chunks, may_end) in [
            (&[] as &[&str], false),
            (&[r#"{"delta":{"content":"a"}}"#], false),
            (
                &[r#"{"delta":{"content":"a"}}"#, r#"{"finish_reason":"stop"}"#],
                true,
            ),
            (
                &[r#"{"finish_reason":"stop"},{"index":1,"delta":{"content":"b"}}"#],
                false,
            ),
            (&[&open], false),
            (&[&open, &close], true),
            (&[&nothing], false),
            (&[&empty], true),
        ] {
            let progress = progress(chunks);
            assert_eq!(
                progress.may_end(WireFormat::ChatCompletions),
                may_end,
                "{chunks:?}"
            );
        }
    }

    #[test]
    fn bl_89_an_end_within_the_arguments_of_a_call_is_none() {
        let call = |arguments: &str, more: &str| {
            let delta =
                serde_json::json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
            format!("{{\"delta\":{delta}{more}}}")
        };
        for (chunk, breaks_off) in [
            (r#"{"delta":{"content":"a"}}"#.to_owned(), false),
            (call("", ""), false),
            (call("{}", ""), false),
            (call(r#"{"a":"#, ""), true),
            (call(r#"{"a":"}"#, ""), true),
            // The model wrote half an object, and its provider says that this is all.
            (call(r#"{"a":"#, r#","finish_reason":"tool_calls""#), false),
        ] {
            assert_eq!(progress(&[&chunk]).breaks_off_in_a_call(), breaks_off, "{chunk}");
        }
    }

    #[test]
    fn bl_89_a_message_does_not_end_with_the_input_of_its_tool() {
        let mut progress = StreamProgress::default();
        for (piece, breaks_off) in [("{\"a\":", true), ("1}", false)] {
            let delta = serde_json::json!({"type": "input_json_delta", "partial_json": piece});
            let event = serde_json::json!({"type": "content_block_delta", "index": 1, "delta": delta});
            match WireFormat::Messages.read_event(None, event.to_string().as_bytes()) {
                StreamEvent::Deltas(deltas) => progress.add(&deltas),
                other => panic!("{other:?}"),
            }
            assert_eq!(progress.breaks_off_in_a_call(), breaks_off, "{piece}");
            assert!(!progress.may_end(WireFormat::Messages), "{piece}");
        }
    }

    #[test]
    fn bl_89_what_a_complete_answer_left_out() {
        use MissingEnd::{Both, EndEvent, StopReason};
        let (text, stop) = (r#"{"delta":{"content":"a"}}"#, r#"{"finish_reason":"stop"}"#);
        for (chunks, ended, missing) in [
            (&[text, stop] as &[_], true, None),
            (&[text, stop], false, Some(EndEvent)),
            (&[text], true, Some(StopReason)),
            (&[text], false, Some(Both)),
            (&[], true, None),
        ] {
            let mut found = progress(chunks);
            if ended {
                found.end(ContentKind::Nothing);
            }
            assert_eq!(found.missing(), missing, "{chunks:?} {ended}");
            found.assume_end();
            assert_eq!(found.missing(), missing, "held back and read once more");
        }
    }

    #[test]
    fn what_was_shown_only_grows() {
        assert_eq!(progress(&[]).shown(), ContentKind::Nothing);
        assert_eq!(
            progress(&[r#"{"delta":{"reasoning":"h"}}"#]).shown(),
            ContentKind::Thinking
        );
        let both = progress(&[r#"{"delta":{"content":"a"}}"#, r#"{"delta":{"reasoning":"h"}}"#]);
        assert_eq!(both.shown(), ContentKind::Answer);
    }

    #[test]
    fn memory_is_bounded_whatever_the_stream_numbers() {
        let mut progress = StreamProgress::default();
        for choice in 0..1000 {
            progress.add(&[Delta {
                choice,
                content: ContentKind::Answer,
                arguments: vec![(choice, "{".to_owned())],
                finished: true,
            }]);
        }
        assert_eq!(progress.choices.len(), MAX_TRACKED);
        assert_eq!(progress.calls.len(), MAX_TRACKED);
    }
}
