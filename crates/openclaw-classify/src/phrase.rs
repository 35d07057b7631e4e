//! Phrases and the single pass that finds them (classify.md C-1.4).
//!
//! A phrase is written as people read it: `insufficient .. (credit|credits|balance)`. `(a|b)` offers alternatives,
//! ` .. ` leaves room for a few words of the same sentence, `*` at an end of a part lifts the word boundary there,
//! `^` and `$` tie the phrase to the ends of its text. All parts of all phrases are found in one pass over the text;
//! what is left to check is where the parts stand.

use std::collections::HashMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::normal::{NAME_JOINT, SEGMENT, is_alphanumeric};

/// How far apart two parts of a phrase may stand, in bytes.
const GAP: usize = 72;
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
#[derive(Debug)]
pub(crate) struct Phrase {
    parts: Vec<Part>,
    at_start: bool,
    at_end: bool,
}

#[derive(Debug)]
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

    /// Whether a match may hold words that do not stand in the phrase.
    pub(crate) fn has_gaps(&self) -> bool {
        self.parts.len() > 1
    }
}

/// Collects the pieces of all phrases before the automaton is built.
#[derive(Default)]
pub(crate) struct LexiconBuilder {
    pieces: Vec<String>,
    ids: HashMap<String, u32>,
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

    /// How many different pieces the phrases have.
    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
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
        Lexicon { automaton }
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
#[derive(Debug)]
pub(crate) struct Lexicon {
    automaton: AhoCorasick,
}

impl Lexicon {
    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let found = self.automaton.find_overlapping_iter(text);
        let mut hits: Vec<Hit> = found
            .map(|found| Hit::new(found.pattern().as_u32(), found.start(), found.len()))
            .collect();
        hits.sort_unstable();
        Scan { text, hits }
    }
}

/// A piece and where it stands, as one number: the piece in the upper 16 bits, the start in 32, the length in 16.
/// Thousands of them are sorted for a long text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Hit(u64);

impl Hit {
    /// Pieces and their lengths are bounded when the lexicon is built, texts when they are read.
    fn new(piece: u32, start: usize, length: usize) -> Self {
        Self(u64::from(piece) << 48 | (start as u64 & 0xFFFF_FFFF) << 16 | (length as u64 & 0xFFFF))
    }

    fn piece(self) -> u32 {
        (self.0 >> 48) as u32
    }

    fn start(self) -> usize {
        (self.0 >> 16 & 0xFFFF_FFFF) as usize
    }

    fn end(self) -> usize {
        self.start() + (self.0 & 0xFFFF) as usize
    }
}

/// What the pass found.
pub(crate) struct Scan<'t> {
    text: &'t str,
    /// By piece, then by place.
    hits: Vec<Hit>,
}

impl Scan<'_> {
    /// The pieces that occur, ascending.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = u32> {
        self.hits
            .chunk_by(|left, right| left.piece() == right.piece())
            .map(|hits| hits[0].piece())
    }

    /// Where `phrase` stands first, if it does.
    pub(crate) fn find(&self, phrase: &Phrase) -> Option<Range<usize>> {
        let (first, rest) = phrase.parts.split_first()?;
        let begins = first.pieces.iter().map(|piece| self.of(*piece));
        let Some((second, rest)) = rest.split_first() else {
            return begins
                .flatten()
                .find(|hit| self.begins(phrase, first, **hit) && self.holds(phrase, hit.start(), hit.end()))
                .map(|hit| hit.start()..hit.end());
        };
        let places: Vec<&[Hit]> = second
            .pieces
            .iter()
            .map(|piece| self.of(*piece))
            .filter(|hits| !hits.is_empty())
            .collect();
        if places.is_empty() {
            return None;
        }
        begins
            .filter(|hits| !hits.is_empty())
            .find_map(|hits| self.find_from(hits, phrase, (first, second, rest), places.clone()))
    }

    /// Walks beginnings and second parts side by side, so that neither is looked at twice (C-1.4).
    fn find_from(
        &self,
        mut begins: &[Hit],
        phrase: &Phrase,
        (first, second, rest): (&Part, &Part, &[Part]),
        mut places: Vec<&[Hit]>,
    ) -> Option<Range<usize>> {
        while let Some((hit, later)) = begins.split_first() {
            begins = later;
            if !self.begins(phrase, first, *hit) {
                continue;
            }
            match self.follows(second, &mut places, hit.end()) {
                Ok(next) => {
                    let end = (!self.breaks(hit.end()..next.start()))
                        .then(|| self.rest(rest, next.end()))
                        .flatten();
                    if let Some(end) = end.filter(|end| self.holds(phrase, hit.start(), *end)) {
                        return Some(hit.start()..end);
                    }
                }
                Err(nearest) => {
                    let nearest = nearest?;
                    let skipped = later.partition_point(|hit| hit.end() + GAP < nearest);
                    begins = &later[skipped..];
                }
            }
        }
        None
    }

    /// The next hit of a part within reach behind `end`, else where its pieces stand next at all; `places` never go
    /// back.
    fn follows(&self, part: &Part, places: &mut [&[Hit]], end: usize) -> Result<Hit, Option<usize>> {
        let mut found: Option<Hit> = None;
        let mut nearest: Option<usize> = None;
        for hits in places {
            while let Some((hit, later)) = hits.split_first()
                && hit.start() < end
            {
                *hits = later;
            }
            let start = hits.first().map(|hit| hit.start());
            nearest = nearest.into_iter().chain(start).min();
            let next = hits
                .iter()
                .take_while(|hit| hit.start() <= end + GAP)
                .find(|hit| self.bounded(**hit, part));
            let key = |hit: &Hit| (hit.start(), hit.end());
            found = found.into_iter().chain(next.copied()).min_by_key(key);
        }
        found.ok_or(nearest)
    }

    fn rest(&self, parts: &[Part], mut end: usize) -> Option<usize> {
        for part in parts {
            let mut places: Vec<&[Hit]> = part.pieces.iter().map(|piece| self.of(*piece)).collect();
            for hits in &mut places {
                *hits = &hits[hits.partition_point(|hit| hit.start() < end)..];
            }
            let next = self.follows(part, &mut places, end).ok()?;
            if self.breaks(end..next.start()) {
                return None;
            }
            end = next.end();
        }
        Some(end)
    }

    fn of(&self, piece: u32) -> &[Hit] {
        let from = self.hits.partition_point(|hit| hit.piece() < piece);
        let count = self.hits[from..].partition_point(|hit| hit.piece() == piece);
        &self.hits[from..from + count]
    }

    fn begins(&self, phrase: &Phrase, part: &Part, hit: Hit) -> bool {
        self.bounded(hit, part) && (!phrase.at_start || self.starts_text(hit.start()))
    }

    /// Whether what was found may count: it stands where the phrase wants it and is not denied.
    fn holds(&self, phrase: &Phrase, start: usize, end: usize) -> bool {
        (!phrase.at_end || self.ends_text(end)) && !self.denied(start)
    }

    fn bounded(&self, hit: Hit, part: &Part) -> bool {
        let before = self.text[..hit.start()].chars().next_back();
        let after = self.text[hit.end()..].chars().next();
        let piece = &self.text[hit.start()..hit.end()];
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
    c == NAME_JOINT || (c < '\u{2E80}' && is_alphanumeric(c))
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
