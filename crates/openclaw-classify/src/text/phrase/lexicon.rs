//! All pieces of all phrases, and the one pass that finds them in a text.
//!
//! Nearly every piece begins where a word, a mark or a character outside ASCII begins, so only such places are looked
//! at, and of these only the ones whose first bytes some piece has. What begins there is told by a tree of the pieces,
//! whose steps are up to eight bytes long.

mod match_starts;
mod tree;

use super::scan::{Hits, Scan};
use match_starts::Sites;
use tree::{Entry, Node, Tree, head};

/// The table has two to this many places.
const BITS: u32 = 12;
const PLACES: usize = 1 << BITS;
/// So many bytes choose a place in the table; shorter pieces are few.
const KEY: usize = 4;
/// `beginnings` has two to this many bits.
const FINE_BITS: u32 = 16;

/// All pieces, ready to be found.
pub(crate) struct Lexicon {
    tree: Tree,
    /// Where the trees of each place begin among the roots; one more at the end.
    places: Box<[u16; PLACES + 1]>,
    /// Pieces too short for the table, by their first byte.
    short: Vec<Vec<Node>>,
    /// Bits of the beginnings that pieces have, by a finer key than that of the table: nearly all words of a text are
    /// done with here.
    beginnings: Box<[u64; (1 << FINE_BITS) / 64]>,
    /// Bits of the first two bytes of pieces that have no more.
    pairs: Box<[u64; (1 << 16) / 64]>,
    /// Where pieces begin.
    sites: Sites,
}

/// How the phrases use a piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Use {
    pub(super) open_start: bool,
    pub(super) open_end: bool,
}

impl Lexicon {
    pub(super) fn new(pieces: &[String], uses: &[Use]) -> Self {
        let mut keyed: Vec<Entry<'_>> = Vec::new();
        let mut lexicon = Self {
            tree: Tree::default(),
            places: Box::new([0; PLACES + 1]),
            short: (0..256).map(|_| Vec::new()).collect(),
            beginnings: Box::new([0; (1 << FINE_BITS) / 64]),
            pairs: Box::new([0; (1 << 16) / 64]),
            sites: Sites::default(),
        };
        for ((id, text), used) in (0u16..).zip(pieces).zip(uses) {
            let bytes = text.as_bytes();
            let Some(first) = bytes.first() else { continue };
            lexicon.sites.add(*first, used.open_start);
            let whole = !used.open_end && bytes.last().is_some_and(u8::is_ascii_alphanumeric);
            let entry = Entry { bytes, id, whole };
            if bytes.len() < KEY {
                lexicon.short[usize::from(*first)].push(Node::leaf(entry));
                lexicon.expect_short(bytes, whole);
            } else {
                lexicon.expect(head(bytes, 0));
                keyed.push(entry);
            }
        }
        keyed.sort_unstable_by_key(|entry| (place(head(entry.bytes, 0)), entry.bytes));
        lexicon.tree = Tree::new(&keyed, KEY);
        let begin = |place| {
            let roots = lexicon.tree.roots();
            roots.partition_point(|root| self::place(root.bytes()) < place)
        };
        let begins = std::array::from_fn(|place| u16::try_from(begin(place)).unwrap_or(u16::MAX));
        lexicon.places = Box::new(begins);
        lexicon
    }

    fn expect(&mut self, head: u64) {
        let (word, bit) = beginning(head);
        self.beginnings[word] |= bit;
    }

    /// Whatever stands behind a short piece is part of the key; behind a whole one no word goes on.
    fn expect_short(&mut self, piece: &[u8], whole: bool) {
        let nexts = || (0..=u8::MAX).filter(|next| !(whole && next.is_ascii_alphanumeric()));
        match piece {
            [first] => (0..=u8::MAX).for_each(|second| self.expect_pair([*first, second])),
            [first, second] => self.expect_pair([*first, *second]),
            _ => nexts().for_each(|next| self.expect(head(piece, 0) | u64::from(next) << (8 * piece.len()))),
        }
    }

    fn expect_pair(&mut self, pair: [u8; 2]) {
        let pair = usize::from(u16::from_le_bytes(pair));
        self.pairs[pair / 64] |= 1 << (pair % 64);
    }

    /// Whether pieces begin like this.
    fn may_begin(&self, head: u64) -> bool {
        let (word, bit) = beginning(head);
        let pair = (head & 0xFFFF) as usize;
        self.beginnings[word] & bit != 0 || self.pairs[pair / 64] >> (pair % 64) & 1 != 0
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits = Hits::default();
        let bytes = text.as_bytes();
        for at in self.sites.of(bytes) {
            let head = head(bytes, at);
            if self.may_begin(head) {
                self.begin(bytes, at, head, &mut hits);
            }
        }
        Scan::new(text, hits)
    }

    /// Adds the pieces that stand at `at`.
    fn begin(&self, text: &[u8], at: usize, head: u64, hits: &mut Hits) {
        let place = place(head);
        let roots = usize::from(self.places[place])..usize::from(self.places[place + 1]);
        self.tree.walk(roots, text, at, hits);
        for piece in &self.short[usize::from(text[at])] {
            piece.find(text, at, hits);
        }
    }
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
