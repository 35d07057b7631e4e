//! A prefix tree of the pieces, whose common beginnings are compared once.

use std::ops::Range;

use crate::text::phrase::scan::{Hit, Hits, push};

/// The most bytes that a node compares.
const STEP: usize = 8;

/// A piece from which the tree is built.
#[derive(Clone, Copy)]
pub(super) struct Entry<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) id: u16,
    /// It ends with a letter or digit, and no phrase lets it end inside a word.
    pub(super) whole: bool,
}

/// The tree of all pieces that are long enough for a bucket.
#[derive(Default)]
pub(super) struct Tree {
    /// The roots come first; the branches of a node are consecutive.
    nodes: Vec<Node>,
    roots: usize,
}

/// Some bytes that follow those of its parent node.
pub(super) struct Node {
    bytes: u64,
    /// A mask of the bytes that it has, of eight.
    mask: u64,
    length: usize,
    /// The piece that ends with these bytes.
    piece: Option<u16>,
    whole: bool,
    /// A filter of the bytes that its branches begin with, which ends most walks.
    next: u64,
    branches: Range<u32>,
}

impl Tree {
    /// A tree of `pieces`, all of which have at least `key` bytes. Those with the same first `key` bytes are
    /// consecutive and sorted.
    pub(super) fn new(pieces: &[Entry<'_>], key: usize) -> Self {
        let mut tree = Self::default();
        tree.roots = tree.grow(pieces, 0, key).end;
        tree
    }

    /// Adds the nodes for the bytes after the first `from`, which all `pieces` share. Pieces with the same next `key`
    /// bytes share a node.
    fn grow(&mut self, pieces: &[Entry<'_>], from: usize, key: usize) -> Range<usize> {
        let groups =
            pieces.chunk_by(|one, other| one.bytes[from..from + key] == other.bytes[from..from + key]);
        let begin = self.nodes.len();
        self.nodes
            .extend(groups.clone().map(|group| Node::new(group, from)));
        let end = self.nodes.len();
        for (node, group) in (begin..end).zip(groups) {
            let ends = usize::from(self.nodes[node].piece.is_some());
            let from = from + self.nodes[node].length;
            let branches = self.grow(&group[ends..], from, 1);
            let nexts = self.nodes[branches.clone()]
                .iter()
                .map(|branch| bit(branch.bytes));
            self.nodes[node].next = nexts.fold(0, |all, bit| all | bit);
            self.nodes[node].branches = index(branches.start)..index(branches.end);
        }
        begin..end
    }

    pub(super) fn roots(&self) -> &[Node] {
        &self.nodes[..self.roots]
    }

    /// Adds the pieces below some roots that begin at `at`.
    pub(super) fn walk(&self, roots: Range<usize>, text: &[u8], at: usize, hits: &mut Hits) {
        let mut branches = &self.nodes[roots];
        let mut end = at;
        let mut bytes = head(text, end);
        while let Some(node) = branches.iter().find(|node| node.is_at(bytes)) {
            end += node.length;
            node.add_hit(text, at, end, hits);
            bytes = head(text, end);
            if node.next & bit(bytes) == 0 {
                return;
            }
            branches = &self.nodes[node.branches.start as usize..node.branches.end as usize];
        }
    }
}

/// The bit in the filter for the first of some bytes.
fn bit(bytes: u64) -> u64 {
    1 << (bytes & 63)
}

/// The number of a node; there are far fewer than fit.
fn index(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

impl Node {
    /// The bytes that all of `group` share after the first `from`.
    fn new(group: &[Entry<'_>], from: usize) -> Self {
        // The group is sorted, so its first and last piece have the shortest common prefix.
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let pairs = first.bytes[from..].iter().zip(&last.bytes[from..]);
        let length = pairs.take(STEP).take_while(|(one, other)| one == other).count();
        let ends = first.bytes.len() == from + length;
        Self {
            bytes: head(&first.bytes[..from + length], from),
            mask: u64::MAX >> (64 - 8 * length),
            length,
            piece: ends.then_some(first.id),
            whole: ends && first.whole,
            next: 0,
            branches: 0..0,
        }
    }

    /// A node for one short piece.
    pub(super) fn leaf(piece: Entry<'_>) -> Self {
        Self::new(&[piece], 0)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_at(&self, bytes: u64) -> bool {
        bytes & self.mask == self.bytes
    }

    /// Adds the piece if it begins at `at`.
    pub(super) fn find(&self, text: &[u8], at: usize, hits: &mut Hits) {
        if self.is_at(head(text, at)) {
            self.add_hit(text, at, at + self.length, hits);
        }
    }

    /// Adds the piece that ends at `end`, if there is one. Zeros follow the text, and a piece may contain zeros, so
    /// `end` may be after the text.
    #[inline]
    fn add_hit(&self, text: &[u8], start: usize, end: usize, hits: &mut Hits) {
        let Some(piece) = self.piece.filter(|_| end <= text.len()) else {
            return;
        };
        let inside = || text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if !(self.whole && inside()) {
            push(hits, Hit::new(piece, start, end - start));
        }
    }
}

/// The eight bytes from `at` on as one number, with zeros after the text.
#[inline]
pub(super) fn head(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + STEP).and_then(<[u8]>::first_chunk) {
        Some(whole) => u64::from_le_bytes(*whole),
        None => last_head(text, at),
    }
}

/// [`head`] at the end of a text, where fewer than eight bytes are left.
fn last_head(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    if let (Some(last), false) = (text.last_chunk::<STEP>(), rest.is_empty()) {
        return u64::from_le_bytes(*last) >> (8 * (STEP - rest.len()));
    }
    let shifted = rest
        .iter()
        .enumerate()
        .map(|(at, byte)| u64::from(*byte) << (8 * at));
    shifted.fold(0, |all, byte| all | byte)
}
