//! All pieces of all phrases, and the one pass that finds them in a text.
//!
//! Nearly every piece begins where a word or a mark begins, so only such places are looked at: the first bytes there
//! choose the few pieces to compare. Pieces in scripts that do not separate words are left to an automaton, which is
//! built when the first text needs it.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::scan::{Hit, Scan};

/// The table has two to this many places.
const BITS: u32 = 12;
/// So many bytes choose a place in the table; shorter pieces are few.
const KEY: usize = 4;

/// All pieces, ready to be found.
pub(crate) struct Lexicon {
    /// By place in the table; their beginnings stand in `heads`, so that few bytes are looked at in vain.
    anchored: Vec<Anchored>,
    heads: Vec<Head>,
    /// Where the pieces of each place begin in `anchored`; one more at the end.
    places: Vec<u16>,
    /// Pieces too short for the table.
    short: Vec<Anchored>,
    /// What each byte is and which pieces begin with it.
    traits: [u8; 256],
    /// Pieces that begin with a character outside ASCII.
    foreign: Anywhere,
}

/// A piece that begins where a word or a mark begins.
struct Anchored {
    head: Head,
    /// What follows the head.
    tail: Box<[u8]>,
    length: usize,
    piece: u32,
    /// It ends with a letter, and no phrase lets it end inside a word.
    whole: bool,
}

/// The first eight bytes of a piece, and which of them it has.
#[derive(Clone, Copy)]
struct Head {
    bytes: u64,
    mask: u64,
}

/// The byte is part of an ASCII word.
const WORD: u8 = 1;
/// A piece of the table begins with the byte.
const KEYED: u8 = 2;
/// A short piece begins with it.
const SHORT: u8 = 4;
/// A piece outside ASCII begins with it.
const FOREIGN: u8 = 8;
/// A piece that may stand inside a word begins with it.
const OPEN: u8 = 16;

/// How the phrases use a piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Use {
    pub(super) open_start: bool,
    pub(super) open_end: bool,
}

impl Lexicon {
    pub(super) fn new(pieces: &[String], uses: &[Use]) -> Self {
        let mut keyed: Vec<(usize, Anchored)> = Vec::new();
        let mut lexicon = Self {
            anchored: Vec::new(),
            heads: Vec::new(),
            places: Vec::new(),
            short: Vec::new(),
            traits: [0; 256],
            foreign: Anywhere::default(),
        };
        for byte in 0..=u8::MAX {
            if byte.is_ascii_alphanumeric() {
                lexicon.traits[usize::from(byte)] |= WORD;
            }
        }
        for ((piece, text), used) in (0u32..).zip(pieces).zip(uses) {
            let Some(first) = text.bytes().next() else {
                continue;
            };
            let traits = &mut lexicon.traits[usize::from(first)];
            if !first.is_ascii() {
                *traits |= FOREIGN;
                lexicon.foreign.push(piece, text);
                continue;
            }
            if used.open_start {
                *traits |= OPEN;
            }
            let anchored = Anchored::new(piece, text, *used);
            if text.len() < KEY {
                *traits |= SHORT;
                lexicon.short.push(anchored);
            } else {
                *traits |= KEYED;
                keyed.push((place(anchored.head.bytes), anchored));
            }
        }
        keyed.sort_by_key(|(place, _)| *place);
        let begin = |place| keyed.partition_point(|(other, _)| *other < place);
        lexicon.places = (0..=1 << BITS)
            .map(|place| u16::try_from(begin(place)).unwrap_or(u16::MAX))
            .collect();
        lexicon.heads = keyed.iter().map(|(_, anchored)| anchored.head).collect();
        lexicon.anchored = keyed.into_iter().map(|(_, anchored)| anchored).collect();
        lexicon
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits = Vec::with_capacity(16);
        let bytes = text.as_bytes();
        let mut before = 0;
        let mut all = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let traits = self.traits[usize::from(*byte)];
            all |= traits;
            if traits & OPEN != 0 || before & traits & WORD == 0 && traits & (KEYED | SHORT) != 0 {
                self.begin(bytes, at, traits, &mut hits);
            }
            before = traits;
        }
        if all & FOREIGN != 0 {
            self.foreign.find(text, &mut hits);
        }
        Scan::new(text, hits)
    }

    /// Adds the pieces that stand at `at`.
    fn begin(&self, text: &[u8], at: usize, traits: u8, hits: &mut Vec<Hit>) {
        let bytes = head(&text[at..]);
        if traits & KEYED != 0 {
            let place = place(bytes);
            let range = usize::from(self.places[place])..usize::from(self.places[place + 1]);
            for (head, anchored) in self.heads[range.clone()].iter().zip(&self.anchored[range]) {
                if bytes & head.mask == head.bytes {
                    anchored.find(text, at, hits);
                }
            }
        }
        if traits & SHORT != 0 {
            for anchored in &self.short {
                if bytes & anchored.head.mask == anchored.head.bytes {
                    anchored.find(text, at, hits);
                }
            }
        }
    }
}

impl Anchored {
    fn new(piece: u32, text: &str, used: Use) -> Self {
        let bytes = text.as_bytes();
        let kept = bytes.len().min(8);
        Self {
            head: Head {
                bytes: head(bytes),
                mask: u64::MAX >> (64 - 8 * kept),
            },
            tail: bytes[kept..].into(),
            length: bytes.len(),
            piece,
            whole: !used.open_end && bytes.last().is_some_and(u8::is_ascii_alphanumeric),
        }
    }

    /// Adds a hit when the piece stands at `at`, where its head was seen.
    fn find(&self, text: &[u8], at: usize, hits: &mut Vec<Hit>) {
        let end = at + self.length;
        let same = end <= text.len() && (self.tail.is_empty() || text[at + 8..end] == *self.tail);
        let inside = || text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if same && !(self.whole && inside()) {
            hits.push(Hit::new(self.piece, at, self.length));
        }
    }
}

/// The first eight bytes as one number; zeros where there are none.
fn head(bytes: &[u8]) -> u64 {
    if let Some(whole) = bytes.first_chunk::<8>() {
        return u64::from_le_bytes(*whole);
    }
    let shifted = bytes
        .iter()
        .enumerate()
        .map(|(at, byte)| u64::from(*byte) << (8 * at));
    shifted.fold(0, |all, byte| all | byte)
}

/// Where the pieces that begin like this stand in the table.
fn place(head: u64) -> usize {
    let key = (head & 0xFFFF_FFFF) as u32;
    (key.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

/// Pieces of scripts that do not separate words.
#[derive(Default)]
struct Anywhere {
    texts: Vec<String>,
    pieces: Vec<u32>,
    automaton: OnceLock<AhoCorasick>,
}

impl Anywhere {
    fn push(&mut self, piece: u32, text: &str) {
        self.texts.push(text.to_owned());
        self.pieces.push(piece);
    }

    fn find(&self, text: &str, hits: &mut Vec<Hit>) {
        if self.texts.is_empty() {
            return;
        }
        let automaton = self.automaton.get_or_init(|| {
            let built = AhoCorasick::builder()
                .match_kind(MatchKind::Standard)
                .build(&self.texts);
            #[expect(
                clippy::expect_used,
                reason = "pieces are few and short, far below the automaton's limits"
            )]
            built.expect("a thousand short pieces fit an automaton")
        });
        let found = automaton.find_overlapping_iter(text);
        hits.extend(found.map(|found| Hit::new(self.pieces[found.pattern()], found.start(), found.len())));
    }
}
