//! The hits of pieces in one text, and the search for a phrase among them.

use std::ops::Range;

use smallvec::{Array, SmallVec};

use super::{Part, Phrase};
use crate::text::normal::{NAME_JOINT, SEGMENT, is_alphanumeric};

/// The most bytes between two parts of a phrase.
const MAX_GAP: usize = 72;

/// A piece and its range in the text, packed into one number: from the top, 16 bits for the piece, 32 for the start
/// and 16 for the length. Long texts have thousands of hits, which are sorted.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit(u64);

/// The hits of one text; short texts have a dozen at most.
pub(super) type Hits = SmallVec<[Hit; 24]>;
/// The hits of the pieces of one part of a phrase, piece by piece.
type HitsByPiece<'h> = SmallVec<[&'h [Hit]; 8]>;

/// Appends to a list that grows fourfold, which saves allocations: a list that outgrows its inline room is that of a
/// long text.
#[inline]
pub(crate) fn push<A: Array>(list: &mut SmallVec<A>, item: A::Item) {
    if list.len() == list.capacity() {
        grow(list);
    }
    list.push(item);
}

#[cold]
fn grow<A: Array>(list: &mut SmallVec<A>) {
    list.reserve(3 * list.len());
}

impl Hit {
    /// All values fit their bits: pieces and lengths are bounded when the lexicon is built, texts when they are read.
    pub(super) fn new(piece: u16, start: usize, length: usize) -> Self {
        Self(u64::from(piece) << 48 | (start as u64 & 0xFFFF_FFFF) << 16 | (length as u64 & 0xFFFF))
    }

    fn piece(self) -> u16 {
        (self.0 >> 48) as u16
    }

    fn start(self) -> usize {
        (self.0 >> 16 & 0xFFFF_FFFF) as usize
    }

    fn end(self) -> usize {
        self.start() + (self.0 & 0xFFFF) as usize
    }
}

/// Negations: a phrase right after one of them does not count.
const NEGATIONS: &[&str] = &[
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
    "never a",
    "never the",
    "nothing to do with",
    "not about",
    "without",
    "without a",
    "no",
    "rather than",
    "instead of",
];
/// The last words of the negations, which are compared first, because they are rare before a phrase.
const LAST_WORDS: &[&str] = &[
    "not", "a", "an", "the", "your", "to", "of", "never", "with", "about", "without", "no", "than",
];

/// The result of the pass over one text.
pub(crate) struct Scan<'t> {
    text: &'t str,
    /// Sorted by piece, then by offset.
    hits: Hits,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str, mut hits: Hits) -> Self {
        hits.sort_unstable();
        Self { text, hits }
    }

    /// The pieces that occur, ascending, each with the number of its first hit.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u16, u32)> {
        let mut last = None;
        let pieces = self
            .hits
            .iter()
            .zip(0u32..)
            .map(|(hit, number)| (hit.piece(), number));
        pieces.filter(move |(piece, _)| last.replace(*piece) != Some(*piece))
    }

    /// The first match of `phrase`, in the order of the pieces that it may begin with.
    pub(crate) fn find(&self, phrase: &Phrase) -> Option<Range<usize>> {
        let first = phrase.parts.first()?;
        self.hits_of(first)
            .find_map(|begins| self.find_from(begins, phrase))
    }

    /// The first match of `phrase` that begins with the piece of the hit number `first`.
    pub(crate) fn find_at(&self, phrase: &Phrase, first: usize) -> Option<Range<usize>> {
        let hits = &self.hits[first..];
        let piece = hits.first()?.piece();
        let count = match hits {
            [_, next, ..] if next.piece() == piece => hits.partition_point(|hit| hit.piece() == piece),
            _ => 1,
        };
        self.find_from(&hits[..count], phrase)
    }

    /// The first match of `phrase` that begins with one of `begins`, which are hits of one piece.
    fn find_from(&self, begins: &[Hit], phrase: &Phrase) -> Option<Range<usize>> {
        let (first, rest) = phrase.parts.split_first()?;
        let Some((second, rest)) = rest.split_first() else {
            let found = begins
                .iter()
                .find(|hit| self.begins(phrase, first, **hit) && self.counts(phrase, hit.start(), hit.end()));
            return found.map(|hit| hit.start()..hit.end());
        };
        let nexts: HitsByPiece<'_> = self.hits_of(second).collect();
        if nexts.is_empty() {
            return None;
        }
        self.find_parts(begins, phrase, (first, second, rest), nexts)
    }

    /// The first match of a phrase of several parts. Advances through the hits of the first and second part in
    /// parallel, so that the time stays linear (C-1.4).
    fn find_parts<'h>(
        &'h self,
        mut begins: &[Hit],
        phrase: &Phrase,
        (first, second, rest): (&Part, &Part, &[Part]),
        mut nexts: HitsByPiece<'h>,
    ) -> Option<Range<usize>> {
        while let Some((hit, later)) = begins.split_first() {
            begins = later;
            if !self.begins(phrase, first, *hit) {
                continue;
            }
            match self.follows(second, &mut nexts, hit.end()) {
                Ok(next) => {
                    let end = (!self.breaks(hit.end()..next.start()))
                        .then(|| self.rest(rest, next.end()))
                        .flatten();
                    if let Some(end) = end.filter(|end| self.counts(phrase, hit.start(), *end)) {
                        return Some(hit.start()..end);
                    }
                }
                Err(nearest) => {
                    let nearest = nearest?;
                    let skipped = later.partition_point(|hit| hit.end() + MAX_GAP < nearest);
                    begins = &later[skipped..];
                }
            }
        }
        None
    }

    /// The next hit of a part within reach after `end`, else the offset of the nearest hit of its pieces. Hits before
    /// `end` are dropped from `nexts`.
    fn follows(&self, part: &Part, nexts: &mut [&[Hit]], end: usize) -> Result<Hit, Option<usize>> {
        let mut found: Option<Hit> = None;
        let mut nearest: Option<usize> = None;
        for hits in nexts {
            while let Some((hit, later)) = hits.split_first()
                && hit.start() < end
            {
                *hits = later;
            }
            let start = hits.first().map(|hit| hit.start());
            nearest = nearest.into_iter().chain(start).min();
            let next = hits
                .iter()
                .take_while(|hit| hit.start() <= end + MAX_GAP)
                .find(|hit| self.bounded(**hit, part));
            let key = |hit: &Hit| (hit.start(), hit.end());
            found = found.into_iter().chain(next.copied()).min_by_key(key);
        }
        found.ok_or(nearest)
    }

    /// The end of the remaining parts after `end`.
    fn rest(&self, parts: &[Part], mut end: usize) -> Option<usize> {
        for part in parts {
            let mut nexts: HitsByPiece<'_> = self.hits_of(part).collect();
            for hits in &mut nexts {
                *hits = &hits[hits.partition_point(|hit| hit.start() < end)..];
            }
            let next = self.follows(part, &mut nexts, end).ok()?;
            if self.breaks(end..next.start()) {
                return None;
            }
            end = next.end();
        }
        Some(end)
    }

    /// The hits of a part, piece by piece in the order of the phrase; none of the slices is empty.
    fn hits_of(&self, part: &Part) -> impl Iterator<Item = &[Hit]> {
        part.pieces.iter().flat_map(|pieces| {
            let from = self.hits.partition_point(|hit| hit.piece() < pieces.start);
            let hits = &self.hits[from..];
            let count = hits.partition_point(|hit| hit.piece() < pieces.end);
            hits[..count].chunk_by(|one, other| one.piece() == other.piece())
        })
    }

    /// Whether a match of the phrase may begin with `hit`.
    fn begins(&self, phrase: &Phrase, part: &Part, hit: Hit) -> bool {
        self.bounded(hit, part) && (!phrase.at_start || self.starts_text(hit.start()))
    }

    /// Whether a match counts: its end anchor holds and it is not negated.
    fn counts(&self, phrase: &Phrase, start: usize, end: usize) -> bool {
        (!phrase.at_end || self.ends_text(end)) && !self.is_negated(start)
    }

    /// Whether the word boundaries of the part hold at both ends of `hit`.
    fn bounded(&self, hit: Hit, part: &Part) -> bool {
        let joined = |at| self.ends_with_letter(at) && self.starts_with_letter(at);
        (part.open_start || !joined(hit.start())) && (part.open_end || !joined(hit.end()))
    }

    /// Whether a letter precedes `at`.
    fn ends_with_letter(&self, at: usize) -> bool {
        match self.text.as_bytes()[..at].last() {
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.text[..at].chars().next_back().is_some_and(is_letter),
            None => false,
        }
    }

    /// Whether a letter follows `at`.
    fn starts_with_letter(&self, at: usize) -> bool {
        match self.text.as_bytes()[at..].first() {
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.text[at..].chars().next().is_some_and(is_letter),
            None => false,
        }
    }

    /// True right after a negation: "not your usage limit" is no usage limit (C-5).
    fn is_negated(&self, start: usize) -> bool {
        let bytes = &self.text.as_bytes()[..start];
        let end = bytes
            .iter()
            .rposition(|byte| !matches!(byte, b' ' | b'"' | b'\''));
        let Some(end) = end.map(|last| last + 1) else {
            return false;
        };
        let letters = bytes[..end]
            .iter()
            .rev()
            .take(8)
            .take_while(|byte| byte.is_ascii_lowercase());
        let last = &bytes[end - letters.count()..end];
        let before = &self.text[..end];
        LAST_WORDS.iter().any(|word| word.as_bytes() == last)
            && NEGATIONS.iter().any(|negation| {
                before
                    .strip_suffix(negation)
                    .is_some_and(|rest| !rest.ends_with(is_letter))
            })
    }

    /// Whether a sentence or text ends in the gap.
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

/// Whether `c` is a digit, the joint of names, or a letter of a script that separates words with blanks.
fn is_letter(c: char) -> bool {
    c == NAME_JOINT || (c < '\u{2E80}' && is_alphanumeric(c))
}

#[cfg(test)]
mod tests {
    use super::{LAST_WORDS, NEGATIONS};

    #[test]
    fn c_5_every_negation_ends_with_a_last_word() {
        for negation in NEGATIONS {
            let last = negation.rsplit(' ').next().unwrap();
            assert!(LAST_WORDS.contains(&last), "{negation}");
        }
    }
}
