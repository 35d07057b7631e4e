//! All pieces of all phrases, and the one pass that finds them in a text.
//!
//! Nearly every piece begins where a word, a mark or a character outside ASCII begins, so only such places are looked
//! at: the first bytes there choose the few pieces to compare. No automaton has to be built, and most bytes of a text
//! cost one look-up.

use super::scan::{Hit, Scan};

/// The table has two to this many places.
const BITS: u32 = 12;
/// So many bytes choose a place in the table; shorter pieces are few.
const KEY: usize = 4;
/// `beginnings` has two to this many bits.
const FINE_BITS: u32 = 16;

/// All pieces, ready to be found.
pub(crate) struct Lexicon {
    /// By place in the table; their beginnings stand in `heads`, so that few bytes are looked at in vain.
    pieces: Vec<Piece>,
    heads: Vec<Head>,
    /// Where the pieces of each place begin in `pieces`; one more at the end.
    places: Vec<u16>,
    /// Pieces too short for the table, by their first byte.
    short: Vec<Vec<Piece>>,
    /// What each byte is and which pieces begin with it.
    traits: [u8; 256],
    /// Bits of the beginnings that pieces have, by a finer key than that of the table: nearly all words of a text are
    /// done with here.
    beginnings: Vec<u64>,
    /// Bits of the first two bytes of the short pieces.
    pairs: Vec<u64>,
}

/// A piece and what tells that it stands somewhere.
struct Piece {
    head: Head,
    /// What follows the head.
    tail: Box<[u8]>,
    length: usize,
    id: u32,
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
/// A piece that may stand inside a word begins with it.
const OPEN: u8 = 8;

/// How the phrases use a piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Use {
    pub(super) open_start: bool,
    pub(super) open_end: bool,
}

impl Lexicon {
    pub(super) fn new(pieces: &[String], uses: &[Use]) -> Self {
        let mut keyed: Vec<(usize, Piece)> = Vec::new();
        let mut lexicon = Self {
            pieces: Vec::new(),
            heads: Vec::new(),
            places: Vec::new(),
            short: (0..256).map(|_| Vec::new()).collect(),
            traits: [0; 256],
            beginnings: vec![0; (1 << FINE_BITS) / 64],
            pairs: vec![0; (1 << 16) / 64],
        };
        for byte in 0..=u8::MAX {
            if byte.is_ascii_alphanumeric() {
                lexicon.traits[usize::from(byte)] |= WORD;
            }
        }
        for ((id, text), used) in (0u32..).zip(pieces).zip(uses) {
            let Some(first) = text.bytes().next() else {
                continue;
            };
            let traits = &mut lexicon.traits[usize::from(first)];
            if used.open_start {
                *traits |= OPEN;
            }
            let piece = Piece::new(id, text, *used);
            if text.len() < KEY {
                *traits |= SHORT;
                let seconds = text
                    .as_bytes()
                    .get(1)
                    .map_or(0..=u8::MAX, |second| *second..=*second);
                for second in seconds {
                    let pair = usize::from(first) << 8 | usize::from(second);
                    lexicon.pairs[pair / 64] |= 1 << (pair % 64);
                }
                lexicon.short[usize::from(first)].push(piece);
            } else {
                *traits |= KEYED;
                let (word, bit) = beginning(piece.head.bytes);
                lexicon.beginnings[word] |= bit;
                keyed.push((place(piece.head.bytes), piece));
            }
        }
        keyed.sort_by_key(|(place, _)| *place);
        let begin = |place| keyed.partition_point(|(other, _)| *other < place);
        lexicon.places = (0..=1 << BITS)
            .map(|place| u16::try_from(begin(place)).unwrap_or(u16::MAX))
            .collect();
        lexicon.heads = keyed.iter().map(|(_, piece)| piece.head).collect();
        lexicon.pieces = keyed.into_iter().map(|(_, piece)| piece).collect();
        lexicon
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits = Vec::with_capacity(16);
        let bytes = text.as_bytes();
        let mut before = 0;
        let mut look = |at: usize, first: u8, key: Option<[u8; KEY]>| {
            let traits = self.traits[usize::from(first)];
            let begins = traits & OPEN != 0 || before & traits & WORD == 0 && traits & (KEYED | SHORT) != 0;
            before = traits;
            // Behind the last key there is room for short pieces alone.
            if begins && key.map_or(traits & SHORT != 0, |key| self.may_begin(key)) {
                self.begin(bytes, at, traits, &mut hits);
            }
        };
        for (at, key) in bytes.windows(KEY).enumerate() {
            if let &[first, second, third, fourth] = key {
                look(at, first, Some([first, second, third, fourth]));
            }
        }
        let last = bytes.len().saturating_sub(KEY - 1);
        for (at, first) in bytes.iter().enumerate().skip(last) {
            look(at, *first, None);
        }
        Scan::new(text, hits)
    }

    /// Whether pieces begin like this, short ones included.
    fn may_begin(&self, key: [u8; KEY]) -> bool {
        let (word, bit) = beginning(u64::from(u32::from_le_bytes(key)));
        let pair = usize::from(key[0]) << 8 | usize::from(key[1]);
        self.beginnings[word] & bit != 0 || self.pairs[pair / 64] >> (pair % 64) & 1 != 0
    }

    /// Adds the pieces that stand at `at`.
    #[inline(never)]
    fn begin(&self, text: &[u8], at: usize, traits: u8, hits: &mut Vec<Hit>) {
        let bytes = head(&text[at..]);
        if traits & KEYED != 0 {
            let place = place(bytes);
            let range = usize::from(self.places[place])..usize::from(self.places[place + 1]);
            for (head, piece) in self.heads[range.clone()].iter().zip(&self.pieces[range]) {
                if bytes & head.mask == head.bytes {
                    piece.find(text, at, hits);
                }
            }
        }
        if traits & SHORT != 0 {
            for piece in &self.short[usize::from(text[at])] {
                if bytes & piece.head.mask == piece.head.bytes {
                    piece.find(text, at, hits);
                }
            }
        }
    }
}

impl Piece {
    fn new(id: u32, text: &str, used: Use) -> Self {
        let bytes = text.as_bytes();
        let kept = bytes.len().min(8);
        Self {
            head: Head {
                bytes: head(bytes),
                mask: u64::MAX >> (64 - 8 * kept),
            },
            tail: bytes[kept..].into(),
            length: bytes.len(),
            id,
            whole: !used.open_end && bytes.last().is_some_and(u8::is_ascii_alphanumeric),
        }
    }

    /// Adds a hit when the piece stands at `at`, where its head was seen.
    fn find(&self, text: &[u8], at: usize, hits: &mut Vec<Hit>) {
        let end = at + self.length;
        let same = end <= text.len() && (self.tail.is_empty() || text[at + 8..end] == *self.tail);
        let inside = || text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if same && !(self.whole && inside()) {
            hits.push(Hit::new(self.id, at, self.length));
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
    (mixed(head) >> (32 - BITS)) as usize
}

/// The bit of `beginnings` for pieces that begin like this: its word, and its place there.
fn beginning(head: u64) -> (usize, u64) {
    let bit = mixed(head) >> (32 - FINE_BITS);
    (bit as usize / 64, 1 << (bit % 64))
}

fn mixed(head: u64) -> u32 {
    let key = (head & 0xFFFF_FFFF) as u32;
    key.wrapping_mul(0x9E37_79B1)
}
