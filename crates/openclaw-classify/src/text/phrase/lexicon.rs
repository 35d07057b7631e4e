//! All pieces of all phrases, and the single pass that finds them in a text.
//!
//! Nearly every piece begins where a word, a punctuation character or a character outside ASCII begins, so only these
//! offsets are checked, and of them only those whose first bytes pass a bit filter. A tree of the pieces, with steps
//! of up to eight bytes, then finds the pieces that begin there.

mod match_starts;
mod tree;

use super::scan::{Hits, Scan};
use match_starts::MatchStarts;
use tree::{Entry, Node, Tree, head};

/// The logarithm of the number of buckets.
const BUCKET_BITS: u32 = 12;
const BUCKETS: usize = 1 << BUCKET_BITS;
/// How many bytes select a bucket; the few shorter pieces are kept apart.
const KEY: usize = 4;
/// The logarithm of the number of bits of the filter.
const FILTER_BITS: u32 = 16;

/// All pieces, ready to be found.
pub(crate) struct Lexicon {
    tree: Tree,
    /// Where the roots of each bucket begin in the tree, and where the last ones end.
    buckets: Box<[u16; BUCKETS + 1]>,
    /// Pieces that are too short for a bucket, by their first byte.
    short: Vec<Vec<Node>>,
    /// The set of hashes of first bytes of pieces, finer than the buckets: it rules out nearly all words of a text.
    filter: Box<[u64; (1 << FILTER_BITS) / 64]>,
    /// The set of pieces of one or two bytes, by two bytes.
    short_filter: Box<[u64; (1 << 16) / 64]>,
    /// Finds the offsets where pieces may begin.
    match_starts: MatchStarts,
}

/// Whether some phrase lets a piece begin or end inside a word.
#[derive(Clone, Copy, Default)]
pub(super) struct PieceEnds {
    pub(super) open_start: bool,
    pub(super) open_end: bool,
}

impl Lexicon {
    pub(super) fn new(pieces: &[String], ends: &[PieceEnds]) -> Self {
        let mut keyed: Vec<Entry<'_>> = Vec::new();
        let mut lexicon = Self {
            tree: Tree::default(),
            buckets: Box::new([0; BUCKETS + 1]),
            short: (0..256).map(|_| Vec::new()).collect(),
            filter: Box::new([0; (1 << FILTER_BITS) / 64]),
            short_filter: Box::new([0; (1 << 16) / 64]),
            match_starts: MatchStarts::default(),
        };
        for ((id, text), used) in (0u16..).zip(pieces).zip(ends) {
            let bytes = text.as_bytes();
            let Some(first) = bytes.first() else { continue };
            lexicon.match_starts.add(*first, used.open_start);
            let whole = !used.open_end && bytes.last().is_some_and(u8::is_ascii_alphanumeric);
            let entry = Entry { bytes, id, whole };
            if bytes.len() < KEY {
                lexicon.short[usize::from(*first)].push(Node::leaf(entry));
                lexicon.add_short(bytes, whole);
            } else {
                lexicon.add_to_filter(head(bytes, 0));
                keyed.push(entry);
            }
        }
        keyed.sort_unstable_by_key(|entry| (bucket(head(entry.bytes, 0)), entry.bytes));
        lexicon.tree = Tree::new(&keyed, KEY);
        let begin = |bucket| {
            let roots = lexicon.tree.roots();
            roots.partition_point(|root| self::bucket(root.bytes()) < bucket)
        };
        let begins = std::array::from_fn(|bucket| u16::try_from(begin(bucket)).unwrap_or(u16::MAX));
        lexicon.buckets = Box::new(begins);
        lexicon
    }

    fn add_to_filter(&mut self, head: u64) {
        let (word, bit) = filter_bit(head);
        self.filter[word] |= bit;
    }

    /// Adds a short piece to the filters, with every byte that may follow it. No letter or digit follows a whole word.
    fn add_short(&mut self, piece: &[u8], whole: bool) {
        let nexts = || (0..=u8::MAX).filter(|next| !(whole && next.is_ascii_alphanumeric()));
        match piece {
            [first] => (0..=u8::MAX).for_each(|second| self.add_pair([*first, second])),
            [first, second] => self.add_pair([*first, *second]),
            _ => nexts()
                .for_each(|next| self.add_to_filter(head(piece, 0) | u64::from(next) << (8 * piece.len()))),
        }
    }

    fn add_pair(&mut self, pair: [u8; 2]) {
        let pair = usize::from(u16::from_le_bytes(pair));
        self.short_filter[pair / 64] |= 1 << (pair % 64);
    }

    /// False when no piece begins with these bytes.
    fn may_begin(&self, head: u64) -> bool {
        let (word, bit) = filter_bit(head);
        let pair = (head & 0xFFFF) as usize;
        self.filter[word] & bit != 0 || self.short_filter[pair / 64] >> (pair % 64) & 1 != 0
    }

    /// The one pass over a normalised text.
    pub(crate) fn scan<'t>(&self, text: &'t str) -> Scan<'t> {
        let mut hits = Hits::default();
        let bytes = text.as_bytes();
        for at in self.match_starts.find_in(bytes) {
            let head = head(bytes, at);
            if self.may_begin(head) {
                self.add_hits(bytes, at, head, &mut hits);
            }
        }
        Scan::new(text, hits)
    }

    /// Adds the pieces that begin at `at`.
    fn add_hits(&self, text: &[u8], at: usize, head: u64, hits: &mut Hits) {
        let bucket = bucket(head);
        let roots = usize::from(self.buckets[bucket])..usize::from(self.buckets[bucket + 1]);
        self.tree.walk(roots, text, at, hits);
        for piece in &self.short[usize::from(text[at])] {
            piece.find(text, at, hits);
        }
    }
}

/// The bucket of pieces that begin with these bytes.
fn bucket(head: u64) -> usize {
    (hash(head) >> (32 - BUCKET_BITS)) as usize
}

/// The bit of the filter for pieces that begin with these bytes: the index of its word, and the bit in that word.
fn filter_bit(head: u64) -> (usize, u64) {
    let bit = hash(head) >> (32 - FILTER_BITS);
    (bit as usize / 64, 1 << (bit % 64))
}

fn hash(head: u64) -> u32 {
    let key = (head & 0xFFFF_FFFF) as u32;
    key.wrapping_mul(0x9E37_79B1)
}
