//! Compares two answers part by part: how far the second repeats the first.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most that is remembered of a first answer, and buffered of a second one, in bytes.
pub(crate) const MAX_KEPT: usize = 8 * 1024 * 1024;

/// The second answer differs from what was sent of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch;

/// Compares two answers of one format, event by event.
pub(crate) trait AnswerTracker: Send {
    /// Remembers an event of the first answer.
    fn sent(&mut self, event: &Value);

    /// Begins a second answer, from its beginning.
    fn restart(&mut self);

    /// What is new in an event of the second answer, as events that continue where the first answer ended.
    ///
    /// # Errors
    /// When it differs from what was sent.
    fn resumed(&mut self, event: Value) -> Result<Vec<Value>, Mismatch>;

    /// Whether the second answer has repeated everything that was sent.
    fn has_caught_up(&self) -> bool;

    /// Bytes of text that are remembered.
    fn kept(&self) -> usize;
}

/// The texts of a first answer by part, and how much of each a second answer has repeated.
#[derive(Debug)]
pub(crate) struct Overlap<K> {
    parts: BTreeMap<K, Part>,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Part {
    sent: String,
    repeated: usize,
}

impl<K> Default for Overlap<K> {
    fn default() -> Self {
        Self {
            parts: BTreeMap::new(),
            bytes: 0,
        }
    }
}

impl<K: Ord> Overlap<K> {
    /// `text` was sent as the next piece of a part.
    pub(crate) fn sent(&mut self, part: K, text: &str) {
        self.bytes += text.len();
        self.parts.entry(part).or_default().sent.push_str(text);
    }

    /// The second answer begins.
    pub(crate) fn restart(&mut self) {
        for part in self.parts.values_mut() {
            part.repeated = 0;
        }
    }

    /// Takes `text` as the next piece of a part of the second answer and returns what is new in it, which is remembered up to
    /// [`MAX_KEPT`].
    ///
    /// # Errors
    /// When it differs from what was sent.
    pub(crate) fn repeat<'t>(&mut self, part: K, text: &'t str) -> Result<&'t str, Mismatch> {
        let part = self.parts.entry(part).or_default();
        let rest = &part.sent.as_bytes()[part.repeated..];
        let common = rest.len().min(text.len());
        if rest[..common] != text.as_bytes()[..common] {
            return Err(Mismatch);
        }
        // Both texts end here or agree up to here, so this is a character boundary.
        let new = &text[common..];
        part.repeated += common;
        if self.bytes <= MAX_KEPT {
            part.sent.push_str(new);
            part.repeated += new.len();
            self.bytes += new.len();
        }
        Ok(new)
    }

    /// Whether anything was sent of a part.
    pub(crate) fn knows(&self, part: &K) -> bool {
        self.parts.contains_key(part)
    }

    /// Whether everything is repeated.
    pub(crate) fn is_complete(&self) -> bool {
        self.parts.values().all(|part| part.repeated == part.sent.len())
    }

    /// Bytes of all parts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A text member that is not empty.
pub(crate) fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    let text = value.get(member)?.as_str()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunks(text: &str, sizes: &[usize]) -> Vec<String> {
        let characters: Vec<char> = text.chars().collect();
        let mut rest = characters.as_slice();
        let mut sizes = sizes.iter().cycle();
        let mut chunks = Vec::new();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((*sizes.next().unwrap()).clamp(1, rest.len()));
            chunks.push(chunk.iter().collect());
            rest = after;
        }
        chunks
    }

    proptest! {
        /// Whatever the cut and the pieces, the two answers together are one.
        #[test]
        fn what_is_new_goes_on_exactly_where_the_first_answer_ended(
            text in "\\PC{0,40}",
            cut in 0_usize..41,
            first in prop::collection::vec(1_usize..9, 1..4),
            second in prop::collection::vec(1_usize..9, 1..4),
        ) {
            let sent: String = text.chars().take(cut).collect();
            let mut overlap = Overlap::default();
            for chunk in chunks(&sent, &first) {
                overlap.sent(0, &chunk);
            }
            overlap.restart();
            let mut seen = sent.clone();
            for chunk in chunks(&text, &second) {
                seen += overlap.repeat(0, &chunk).unwrap();
            }
            prop_assert_eq!(seen, text);
            prop_assert!(overlap.is_complete());
        }

        /// A first difference is found wherever it is, and nothing was new before it.
        #[test]
        fn a_difference_is_found_before_anything_is_new(
            text in "[ab]{1,30}",
            at in 0_usize..30,
            sizes in prop::collection::vec(1_usize..9, 1..4),
        ) {
            let at = at % text.len();
            let mut other = text.clone().into_bytes();
            other[at] = b'c';
            let other = String::from_utf8(other).unwrap();
            let mut overlap = Overlap::default();
            overlap.sent(0, &text);
            overlap.restart();
            let mut found = false;
            for chunk in chunks(&other, &sizes) {
                let Ok(new) = overlap.repeat(0, &chunk) else {
                    found = true;
                    break;
                };
                prop_assert!(new.is_empty());
            }
            prop_assert!(found && !overlap.is_complete());
        }
    }

    #[test]
    fn a_shorter_answer_is_not_complete() {
        let mut overlap = Overlap::default();
        overlap.sent('a', "to be");
        overlap.sent('b', "");
        overlap.restart();
        assert_eq!(overlap.repeat('a', "to"), Ok(""));
        assert!(!overlap.is_complete());
        assert_eq!(overlap.repeat('a', " be or"), Ok(" or"));
        assert!(overlap.is_complete() && overlap.knows(&'b') && overlap.bytes() == 8);
        overlap.restart();
        assert_eq!(
            overlap.repeat('a', "to be or not"),
            Ok(" not"),
            "a second one follows both"
        );
    }
}
