//! Phrases, the pattern language of the rules, and the single pass that finds them (classify.md C-1.4).
//!
//! A phrase is written as people read it: `insufficient .. (credit|credits|balance)`. `(a|b)` offers alternatives,
//! ` .. ` leaves room for a few words of the same sentence, `*` at an end of a part lifts the word boundary there, `^`
//! and `$` anchor the phrase at the ends of its text. The pieces of all phrases are found in one pass over the text;
//! what is left to check is whether the pieces of one phrase follow each other.

mod lexicon;
mod scan;

use std::collections::HashMap;
use std::ops::Range;

pub(crate) use lexicon::Lexicon;
use lexicon::PieceEnds;
pub(crate) use scan::{Scan, push};

/// The most readings of one part, far more than hand-written phrases have.
const MAX_READINGS: usize = 256;
/// The most different pieces of a lexicon.
pub(crate) const MAX_PIECES: usize = 1 << 16;

/// Why a phrase of a user's rule cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PhraseError {
    /// Brackets are not paired.
    #[error("every `(` needs one `)` behind it, without brackets inside")]
    Brackets,
    /// A part, or an alternative of it, is empty.
    #[error("a part or one of its readings is empty; write what stands there")]
    Empty,
    /// It is longer than 200 characters, or a part has more than 256 readings.
    #[error("it is longer than 200 characters or a part has more than 256 readings; split it")]
    TooLong,
}

/// A compiled phrase.
pub(crate) struct Phrase {
    parts: Vec<Part>,
    at_start: bool,
    at_end: bool,
}

/// What stands between two gaps of a phrase.
struct Part {
    /// Its readings, as ranges of numbers of pieces. New pieces are numbered consecutively, so there are few ranges.
    pieces: Vec<Range<u16>>,
    open_start: bool,
    open_end: bool,
}

impl Phrase {
    /// The pieces that matches begin with.
    pub(crate) fn first_pieces(&self) -> impl Iterator<Item = u16> {
        self.parts[0].pieces.iter().flat_map(Clone::clone)
    }

    /// Whether a match may contain words that are not in the phrase.
    pub(crate) fn has_gaps(&self) -> bool {
        self.parts.len() > 1
    }
}

/// Collects the pieces of all phrases before the lexicon is built.
#[derive(Default)]
pub(crate) struct LexiconBuilder {
    pieces: Vec<String>,
    ends: Vec<PieceEnds>,
    ids: HashMap<String, u16>,
}

impl LexiconBuilder {
    /// Compiles a user's phrase in normal form.
    ///
    /// # Errors
    /// The first mistake; nothing is added then.
    pub(crate) fn try_phrase(&mut self, source: &str) -> Result<Phrase, PhraseError> {
        let body = source.trim_start_matches('^').trim_end_matches('$');
        for part in body.split(" .. ") {
            let part = part.trim_matches('*');
            let depths = part.chars().scan(0i32, |depth, c| {
                *depth += i32::from(c == '(') - i32::from(c == ')');
                Some(*depth)
            });
            let closed = depths.clone().last().unwrap_or(0) == 0;
            if !closed || !depths.clone().all(|depth| (0..=1).contains(&depth)) {
                return Err(PhraseError::Brackets);
            }
            let readings = part.split('(').skip(1).map(|group| {
                let group = group.split(')').next().unwrap_or_default();
                group.split('|').count()
            });
            if readings.fold(1, usize::saturating_mul) > MAX_READINGS {
                return Err(PhraseError::TooLong);
            }
            if alternatives(part).iter().any(|piece| piece.trim().is_empty()) {
                return Err(PhraseError::Empty);
            }
        }
        Ok(self.phrase(source))
    }

    /// Compiles a phrase of the shipped rules, which tests check.
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
            let ends = &mut self.ends[usize::from(piece)];
            ends.open_start |= open_start;
            ends.open_end |= open_end;
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
        // More pieces than fit are refused before the lexicon is built.
        let next = u16::try_from(self.pieces.len()).unwrap_or(u16::MAX);
        *self.ids.entry(piece).or_insert_with_key(|piece| {
            self.pieces.push(piece.clone());
            self.ends.push(PieceEnds::default());
            next
        })
    }

    /// The number of different pieces.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn build(self) -> Lexicon {
        Lexicon::new(&self.pieces, &self.ends)
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
