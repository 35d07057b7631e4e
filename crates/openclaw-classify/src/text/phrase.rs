//! Phrases and the single pass that finds them (classify.md C-1.4).
//!
//! A phrase is written as people read it: `insufficient .. (credit|credits|balance)`. `(a|b)` offers alternatives,
//! ` .. ` leaves room for a few words of the same sentence, `*` at an end of a part lifts the word boundary there,
//! `^` and `$` tie the phrase to the ends of its text. All parts of all phrases are found in one pass over the text;
//! what is left to check is where the parts stand.

mod lexicon;
mod scan;

use std::collections::HashMap;
use std::ops::Range;

pub(crate) use lexicon::Lexicon;
use lexicon::Use;
pub(crate) use scan::Scan;

/// More readings of one part than this nobody wrote by hand.
const MAX_READINGS: usize = 256;
/// More different pieces than this a lexicon cannot hold.
pub(crate) const MAX_PIECES: usize = 1 << 16;

/// What is wrong with a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhraseFault {
    /// Brackets do not pair.
    #[error("every `(` needs one `)` behind it, without brackets inside")]
    Brackets,
    /// A part, or an alternative of it, is empty.
    #[error("a part or one of its readings is empty; write what stands there")]
    Empty,
    /// It is too long or has too many readings.
    #[error("it is longer than 200 characters or a part has more than 256 readings; split it")]
    TooLong,
}

/// A compiled phrase.
pub(crate) struct Phrase {
    parts: Vec<Part>,
    at_start: bool,
    at_end: bool,
}

struct Part {
    /// In the order of their readings; new pieces are numbered one after the other, so that these are few.
    pieces: Vec<Range<u16>>,
    open_start: bool,
    open_end: bool,
}

impl Phrase {
    /// The pieces one of which every match begins with.
    pub(crate) fn first_pieces(&self) -> impl Iterator<Item = u16> {
        self.parts[0].pieces.iter().flat_map(Clone::clone)
    }

    /// Whether a match may hold words that do not stand in the phrase.
    pub(crate) fn has_gaps(&self) -> bool {
        self.parts.len() > 1
    }
}

/// Collects the pieces of all phrases before the lexicon is built.
#[derive(Default)]
pub(crate) struct LexiconBuilder {
    pieces: Vec<String>,
    uses: Vec<Use>,
    ids: HashMap<String, u16>,
}

impl LexiconBuilder {
    /// A phrase that a user wrote, in normal form; nothing is compiled when it cannot be read.
    pub(crate) fn try_phrase(&mut self, source: &str) -> Result<Phrase, PhraseFault> {
        let body = source.trim_start_matches('^').trim_end_matches('$');
        for part in body.split(" .. ") {
            let part = part.trim_matches('*');
            let depths = part.chars().scan(0i32, |depth, c| {
                *depth += i32::from(c == '(') - i32::from(c == ')');
                Some(*depth)
            });
            let closed = depths.clone().last().unwrap_or(0) == 0;
            if !closed || !depths.clone().all(|depth| (0..=1).contains(&depth)) {
                return Err(PhraseFault::Brackets);
            }
            let readings = part.split('(').skip(1).map(|group| {
                let group = group.split(')').next().unwrap_or_default();
                group.split('|').count()
            });
            if readings.fold(1, usize::saturating_mul) > MAX_READINGS {
                return Err(PhraseFault::TooLong);
            }
            if alternatives(part).iter().any(|piece| piece.trim().is_empty()) {
                return Err(PhraseFault::Empty);
            }
        }
        Ok(self.phrase(source))
    }

    pub(crate) fn phrase(&mut self, source: &str) -> Phrase {
        let at_start = source.starts_with('^');
        let at_end = source.ends_with('$');
        let body = source.trim_start_matches('^').trim_end_matches('$');
        let parts = body.split(" .. ").map(|part| self.part(part)).collect();
        Phrase {
            parts,
            at_start,
            at_end,
        }
    }

    fn part(&mut self, source: &str) -> Part {
        let open_start = source.starts_with('*');
        let open_end = source.ends_with('*');
        let pieces = alternatives(source.trim_matches('*'));
        let mut ranges: Vec<Range<u16>> = Vec::new();
        for piece in pieces {
            let piece = self.intern(piece);
            let used = &mut self.uses[usize::from(piece)];
            used.open_start |= open_start;
            used.open_end |= open_end;
            match ranges.last_mut() {
                Some(range) if range.end == piece => range.end = piece.saturating_add(1),
                _ => ranges.push(piece..piece.saturating_add(1)),
            }
        }
        Part {
            pieces: ranges,
            open_start,
            open_end,
        }
    }

    fn intern(&mut self, piece: String) -> u16 {
        // A builder with more of them is refused.
        let next = u16::try_from(self.pieces.len()).unwrap_or(u16::MAX);
        *self.ids.entry(piece).or_insert_with_key(|piece| {
            self.pieces.push(piece.clone());
            self.uses.push(Use::default());
            next
        })
    }

    /// How many different pieces the phrases have.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn build(self) -> Lexicon {
        Lexicon::new(&self.pieces, &self.uses)
    }
}

/// Every reading of a part with `(a|b)` groups.
pub(crate) fn alternatives(source: &str) -> Vec<String> {
    let Some((head, rest)) = source.split_once('(') else {
        return vec![source.to_owned()];
    };
    let Some((group, tail)) = rest.split_once(')') else {
        return vec![source.to_owned()];
    };
    let tails = alternatives(tail);
    group
        .split('|')
        .flat_map(|choice| tails.iter().map(move |tail| format!("{head}{choice}{tail}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, text: &str) -> Option<String> {
        let mut builder = LexiconBuilder::default();
        let phrase = builder.phrase(source);
        let lexicon = builder.build();
        lexicon.scan(text).find(&phrase).map(|at| text[at].to_owned())
    }

    #[test]
    fn c_5_phrases() {
        for (phrase, text, expected) in [
            ("rate limit", "a rate limit b", Some("rate limit")),
            ("rate limit", "a rate limits b", None),
            ("rate limit*", "a rate limits b", Some("rate limit")),
            ("limit", "unlimited", None),
            (
                "insufficient .. (credit|balance)",
                "insufficient usd balance",
                Some("insufficient usd balance"),
            ),
            ("insufficient .. balance", "insufficient. what balance", None),
            ("insufficient .. balance", "insufficient\u{1}balance", None),
            ("usage limit", "not your usage limit", None),
            ("usage limit", "cannot usage limit", Some("usage limit")),
            ("^terminated$", "terminated.", Some("terminated")),
            ("^terminated$", "x terminated", None),
            ("^terminated$", "x\u{1}\"terminated\"\u{1}y", Some("terminated")),
            ("余额不足", "账户余额不足了", Some("余额不足")),
            ("overloaded", "acme·overloaded·7b", None),
        ] {
            assert_eq!(found(phrase, text).as_deref(), expected, "{phrase} in {text}");
        }
    }
}
