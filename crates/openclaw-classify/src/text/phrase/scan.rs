//! Where the pieces of phrases stand in one text, and whether they stand as a phrase wants them.

use std::ops::Range;

use super::{Part, Phrase};
use crate::few::Few;
use crate::text::normal::{NAME_JOINT, SEGMENT, is_alphanumeric};

/// How far apart two parts of a phrase may stand, in bytes.
const GAP: usize = 72;

/// A piece and where it stands, as one number: the piece in the upper 16 bits, the start in 32, the length in 16.
/// Thousands of them are sorted for a long text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit(u64);

/// What one text holds; short texts hold a dozen at most.
pub(super) type Hits = Few<Hit, 24>;

impl Hit {
    /// Pieces and their lengths are bounded when the lexicon is built, texts when they are read.
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

/// What stands in front of a phrase that is denied.
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
/// The last words of these, which few texts have in front of a phrase.
const LAST_WORDS: &[&str] = &[
    "not", "a", "an", "the", "your", "to", "of", "never", "with", "about", "without", "no", "than",
];

/// What the pass found.
pub(crate) struct Scan<'t> {
    text: &'t str,
    /// By piece, then by place.
    hits: Hits,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str, mut hits: Hits) -> Self {
        hits.sort_unstable();
        Self { text, hits }
    }

    /// The pieces that occur, ascending, each with its first hit.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u16, u32)> {
        let mut last = None;
        let pieces = self
            .hits
            .iter()
            .zip(0u32..)
            .map(|(hit, number)| (hit.piece(), number));
        pieces.filter(move |(piece, _)| last.replace(*piece) != Some(*piece))
    }

    /// Where `phrase` stands first, if it does; by the order of the pieces that it may begin with.
    pub(crate) fn find(&self, phrase: &Phrase) -> Option<Range<usize>> {
        let first = phrase.parts.first()?;
        self.of(first).find_map(|begins| self.find_from(begins, phrase))
    }

    /// Where `phrase` stands first with the piece of this hit as its beginning.
    pub(crate) fn find_at(&self, phrase: &Phrase, first: usize) -> Option<Range<usize>> {
        let hits = &self.hits[first..];
        let piece = hits.first()?.piece();
        let count = match hits {
            [_, next, ..] if next.piece() == piece => hits.partition_point(|hit| hit.piece() == piece),
            _ => 1,
        };
        self.find_from(&hits[..count], phrase)
    }

    /// The same with beginnings that are hits of one piece.
    fn find_from(&self, begins: &[Hit], phrase: &Phrase) -> Option<Range<usize>> {
        let (first, rest) = phrase.parts.split_first()?;
        let Some((second, rest)) = rest.split_first() else {
            let found = begins
                .iter()
                .find(|hit| self.begins(phrase, first, **hit) && self.holds(phrase, hit.start(), hit.end()));
            return found.map(|hit| hit.start()..hit.end());
        };
        let places: Few<&[Hit], 8> = self.of(second).collect();
        if places.is_empty() {
            return None;
        }
        self.find_parts(begins, phrase, (first, second, rest), places)
    }

    /// Walks beginnings and second parts side by side, so that neither is looked at twice (C-1.4).
    fn find_parts<'h>(
        &'h self,
        mut begins: &[Hit],
        phrase: &Phrase,
        (first, second, rest): (&Part, &Part, &[Part]),
        mut places: Few<&'h [Hit], 8>,
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
            let mut places: Few<&[Hit], 8> = self.of(part).collect();
            for hits in places.iter_mut() {
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

    /// The hits of a part, piece by piece in the order of the phrase; none of them is empty.
    fn of(&self, part: &Part) -> impl Iterator<Item = &[Hit]> {
        part.pieces.iter().flat_map(|pieces| {
            let from = self.hits.partition_point(|hit| hit.piece() < pieces.start);
            let hits = &self.hits[from..];
            let count = hits.partition_point(|hit| hit.piece() < pieces.end);
            hits[..count].chunk_by(|one, other| one.piece() == other.piece())
        })
    }

    fn begins(&self, phrase: &Phrase, part: &Part, hit: Hit) -> bool {
        self.bounded(hit, part) && (!phrase.at_start || self.starts_text(hit.start()))
    }

    /// Whether what was found may count: it stands where the phrase wants it and is not denied.
    fn holds(&self, phrase: &Phrase, start: usize, end: usize) -> bool {
        (!phrase.at_end || self.ends_text(end)) && !self.denied(start)
    }

    fn bounded(&self, hit: Hit, part: &Part) -> bool {
        let joined = |at| self.ends_with_letter(at) && self.starts_with_letter(at);
        (part.open_start || !joined(hit.start())) && (part.open_end || !joined(hit.end()))
    }

    /// Whether a letter stands in front of `at`.
    fn ends_with_letter(&self, at: usize) -> bool {
        match self.text.as_bytes()[..at].last() {
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.text[..at].chars().next_back().is_some_and(is_letter),
            None => false,
        }
    }

    /// Whether a letter stands at `at`.
    fn starts_with_letter(&self, at: usize) -> bool {
        match self.text.as_bytes()[at..].first() {
            Some(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
            Some(_) => self.text[at..].chars().next().is_some_and(is_letter),
            None => false,
        }
    }

    /// True right after a negation: "not your usage limit" is no usage limit (C-5).
    fn denied(&self, start: usize) -> bool {
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
            && DENIALS.iter().any(|denial| {
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
    use super::{DENIALS, LAST_WORDS};

    #[test]
    fn c_5_every_denial_ends_with_a_last_word() {
        for denial in DENIALS {
            let last = denial.rsplit(' ').next().unwrap();
            assert!(LAST_WORDS.contains(&last), "{denial}");
        }
    }
}
