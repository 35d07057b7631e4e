//! All pieces of all phrases, and the one pass that finds them in a text.
//!
//! Nearly every piece begins where a word or a mark begins, so only such places are looked at: the first bytes there
//! choose the few pieces to compare. What may begin inside a word, or in a script that does not separate words, is left
//! to automata; they are built when the first text needs them.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::scan::{Hit, Scan};

/// The table has two to this many places.
const BITS: u32 = 12;
/// So many bytes choose a place in the table; shorter pieces are few.
const KEY: usize = 4;

/// All pieces, ready to be found.
pub(crate) struct Lexicon {
    /// By place in the table.
    anchored: Vec<Anchored>,
    /// Where the pieces of each place begin in `anchored`; one more at the end.
    places: Vec<u16>,
    /// Pieces too short for the table.
    short: Vec<Anchored>,
    /// The bytes that a piece of the table, or a short one, begins with.
    table_begins: [bool; 256],
    short_begins: [bool; 256],
    /// Pieces that may begin inside a word.
    open: Anywhere,
    /// Pieces that begin with a character outside ASCII.
    foreign: Anywhere,
}

/// A piece that begins where a word or a mark begins.
struct Anchored {
    /// Its first eight bytes, and which of them it has.
    head: u64,
    mask: u64,
    /// What follows them.
    tail: Box<[u8]>,
    length: usize,
    piece: u32,
    /// It ends with a letter, and no phrase lets it end inside a word.
    whole: bool,
}

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
            places: Vec::new(),
            short: Vec::new(),
            table_begins: [false; 256],
            short_begins: [false; 256],
            open: Anywhere::default(),
            foreign: Anywhere::default(),
        };
        for ((piece, text), used) in (0u32..).zip(pieces).zip(uses) {
            let Some(first) = text.bytes().next() else { continue };
            if !first.is_ascii() {
                lexicon.foreign.push(piece, text);
            } else if used.open_start {
                lexicon.open.push(piece, text);
            } else {
                let anchored = Anchored::new(piece, text, *used);
                if text.len() < KEY {
                    lexicon.short_begins[usize::from(first)] = true;
                    lexicon.short.push(anchored);
                } else {
                    lexicon.table_begins[usize::from(first)] = true;
                    keyed.push((place(anchored.head), anchored));
                }
            }
        }
        keyed.sort_by_key(|(place, _)| *place);
        let begin = |place| keyed.partition_point(|(other, _)| *other < place);
        lexicon.places = (0..=1 << BITS)
            .map(|place| u16::try_from(begin(place)).unwrap_or(u16::MAX))
            .collect();
        lexicon.anchored = keyed.into_iter().map(|(_, anchored)| anchored).collect();
        lexicon
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits = Vec::with_capacity(16);
        let bytes = text.as_bytes();
        let mut in_word = false;
        let mut ascii = true;
        for (at, byte) in bytes.iter().enumerate() {
            let is_word = byte.is_ascii_alphanumeric();
            ascii &= byte.is_ascii();
            if !(in_word && is_word) {
                if self.table_begins[usize::from(*byte)] {
                    let head = head(&bytes[at..]);
                    let place = place(head);
                    let (from, to) = (self.places[place], self.places[place + 1]);
                    for anchored in &self.anchored[usize::from(from)..usize::from(to)] {
                        anchored.find(bytes, at, head, &mut hits);
                    }
                }
                if self.short_begins[usize::from(*byte)] {
                    let head = head(&bytes[at..]);
                    for anchored in &self.short {
                        anchored.find(bytes, at, head, &mut hits);
                    }
                }
            }
            in_word = is_word;
        }
        self.open.find(text, &mut hits);
        if !ascii {
            self.foreign.find(text, &mut hits);
        }
        Scan::new(text, hits)
    }
}

impl Anchored {
    fn new(piece: u32, text: &str, used: Use) -> Self {
        let bytes = text.as_bytes();
        let kept = bytes.len().min(8);
        Self {
            head: head(bytes),
            mask: u64::MAX >> (64 - 8 * kept),
            tail: bytes[kept..].into(),
            length: bytes.len(),
            piece,
            whole: !used.open_end && bytes.last().is_some_and(u8::is_ascii_alphanumeric),
        }
    }

    /// Adds a hit when the piece stands at `at`, where the text goes on with `head`.
    fn find(&self, text: &[u8], at: usize, head: u64, hits: &mut Vec<Hit>) {
        if head & self.mask != self.head {
            return;
        }
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
    let shifted = bytes.iter().enumerate().map(|(at, byte)| u64::from(*byte) << (8 * at));
    shifted.fold(0, |all, byte| all | byte)
}

/// Where the pieces that begin like this stand in the table.
fn place(head: u64) -> usize {
    let key = (head & 0xFFFF_FFFF) as u32;
    (key.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

/// Pieces that may begin anywhere.
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
