//! Phrases and the single pass that finds them (classify.md C-1.4).
//!
//! A phrase is written as people read it: `insufficient .. (credit|credits|balance)`. `(a|b)` offers alternatives,
//! ` .. ` leaves room for a few words of the same sentence, `*` at an end of a part lifts the word boundary there,
//! `^` and `$` tie the phrase to the ends of its text. All parts of all phrases are found in one pass over the text;
//! what is left to check is where the parts stand.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::normal::{NAME_JOINT, SEGMENT};

/// How far apart two parts of a phrase may stand, in bytes.
const GAP: usize = 72;

/// A compiled phrase.
pub(crate) struct Phrase {
    parts: Vec<Part>,
    at_start: bool,
    at_end: bool,
}

struct Part {
    pieces: Vec<u32>,
    open_start: bool,
    open_end: bool,
}

impl Phrase {
    /// The pieces one of which every match begins with.
    pub(crate) fn first_pieces(&self) -> &[u32] {
        &self.parts[0].pieces
    }
}

/// Collects the pieces of all phrases before the automaton is built.
#[derive(Default)]
pub(crate) struct LexiconBuilder {
    pieces: Vec<String>,
    ids: HashMap<String, u32>,
}

impl LexiconBuilder {
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
        Part {
            pieces: pieces.into_iter().map(|piece| self.intern(piece)).collect(),
            open_start,
            open_end,
        }
    }

    fn intern(&mut self, piece: String) -> u32 {
        let next = u32::try_from(self.pieces.len()).unwrap_or(u32::MAX);
        *self.ids.entry(piece).or_insert_with_key(|piece| {
            self.pieces.push(piece.clone());
            next
        })
    }

    pub(crate) fn build(self) -> Lexicon {
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(&self.pieces);
        #[expect(
            clippy::expect_used,
            reason = "the pieces are a constant table, far below the automaton's limits"
        )]
        let automaton = automaton.expect("a thousand short pieces fit an automaton");
        Lexicon {
            automaton,
            pieces: self.pieces.len(),
        }
    }
}

/// Every reading of a part with `(a|b)` groups.
fn alternatives(source: &str) -> Vec<String> {
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

/// All pieces as one automaton.
pub(crate) struct Lexicon {
    automaton: AhoCorasick,
    pieces: usize,
}

impl Lexicon {
    /// How many different pieces there are; ids are below it.
    pub(crate) fn len(&self) -> usize {
        self.pieces
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits: Vec<Hit> = self
            .automaton
            .find_overlapping_iter(text)
            .map(|found| Hit {
                piece: found.pattern().as_u32(),
                start: found.start(),
                end: found.end(),
            })
            .collect();
        hits.sort_unstable();
        Scan { text, hits }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit {
    piece: u32,
    start: usize,
    end: usize,
}

/// What the pass found.
pub(crate) struct Scan<'t> {
    text: &'t str,
    hits: Vec<Hit>,
}

impl Scan<'_> {
    /// The pieces that occur, ascending, with repetitions.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = u32> {
        self.hits.iter().map(|hit| hit.piece)
    }

    /// Where `phrase` stands first, if it does.
    pub(crate) fn find(&self, phrase: &Phrase) -> Option<Range<usize>> {
        // Every part must occur somewhere before it is worth looking where.
        let occurs = |part: &Part| part.pieces.iter().any(|piece| !self.of(*piece).is_empty());
        if !phrase.parts.iter().all(occurs) {
            return None;
        }
        let first = &phrase.parts[0];
        first
            .pieces
            .iter()
            .flat_map(|piece| self.of(*piece))
            .filter(|hit| self.bounded(hit, first) && !self.denied(hit.start))
            .filter(|hit| !phrase.at_start || self.starts_text(hit.start))
            .find_map(|hit| {
                let end = self.rest(&phrase.parts[1..], hit.end)?;
                (!phrase.at_end || self.ends_text(end)).then_some(hit.start..end)
            })
    }

    fn rest(&self, parts: &[Part], mut end: usize) -> Option<usize> {
        for part in parts {
            let next = part
                .pieces
                .iter()
                .filter_map(|piece| {
                    let hits = self.of(*piece);
                    let from = hits.partition_point(|hit| hit.start < end);
                    hits[from..]
                        .iter()
                        .take_while(|hit| hit.start <= end + GAP)
                        .find(|hit| self.bounded(hit, part))
                })
                .min_by_key(|hit| (hit.start, hit.end))?;
            if self.breaks(end..next.start) {
                return None;
            }
            end = next.end;
        }
        Some(end)
    }

    fn of(&self, piece: u32) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.piece < piece);
        let count = self.hits[from..].partition_point(|hit| hit.piece == piece);
        &self.hits[from..from + count]
    }

    fn bounded(&self, hit: &Hit, part: &Part) -> bool {
        let before = self.text[..hit.start].chars().next_back();
        let after = self.text[hit.end..].chars().next();
        let piece = &self.text[hit.start..hit.end];
        let joins = |outer: Option<char>, inner: Option<char>| {
            outer.is_some_and(is_letter) && inner.is_some_and(is_letter)
        };
        (part.open_start || !joins(before, piece.chars().next()))
            && (part.open_end || !joins(after, piece.chars().next_back()))
    }

    /// True right after a negation: "not your usage limit" is no usage limit (C-5).
    fn denied(&self, start: usize) -> bool {
        const DENIALS: &[&str] = &[
            "not",
            "not a",
            "not an",
            "not the",
            "not your",
            "not due to",
            "not because of",
            "isn't a",
            "isn't an",
            "isn't your",
            "never",
            "without",
            "without a",
            "no",
            "rather than",
            "instead of",
        ];
        let before = self.text[..start].trim_end_matches([' ', '"', '\'']);
        DENIALS.iter().any(|denial| {
            before
                .strip_suffix(denial)
                .is_some_and(|rest| !rest.ends_with(is_letter))
        })
    }

    fn breaks(&self, gap: Range<usize>) -> bool {
        let gap = &self.text[gap];
        gap.contains(SEGMENT) || [". ", "! ", "? ", "; "].iter().any(|end| gap.contains(end))
    }

    fn starts_text(&self, start: usize) -> bool {
        let before = self.text[..start].trim_end_matches(|c: char| c != SEGMENT && !c.is_alphanumeric());
        before.is_empty() || before.ends_with(SEGMENT)
    }

    fn ends_text(&self, end: usize) -> bool {
        let after = self.text[end..].trim_start_matches(|c: char| c != SEGMENT && !c.is_alphanumeric());
        after.is_empty() || after.starts_with(SEGMENT)
    }
}

/// Letters of scripts that separate words with blanks, digits, and the joint of names.
fn is_letter(c: char) -> bool {
    c == NAME_JOINT || (c.is_alphanumeric() && c < '\u{2E80}')
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
