//! Pieces as a tree: what begins alike is compared once.

use std::ops::Range;

use crate::text::phrase::scan::{Hit, Hits};

/// A step of the tree compares so many bytes at most.
const STEP: usize = 8;

/// A piece to build the tree from.
#[derive(Clone, Copy)]
pub(super) struct Entry<'p> {
    pub(super) bytes: &'p [u8],
    pub(super) id: u16,
    /// It ends with a letter, and no phrase lets it end inside a word.
    pub(super) whole: bool,
}

/// All pieces that have enough bytes for a key.
#[derive(Default)]
pub(super) struct Tree {
    /// The roots first; the branches of a node follow one another.
    nodes: Vec<Node>,
    roots: usize,
}

/// Some bytes that follow those of the nodes above it.
pub(super) struct Node {
    bytes: u64,
    /// Which of the eight bytes it has.
    mask: u64,
    length: usize,
    /// The piece that ends with them.
    piece: Option<u16>,
    whole: bool,
    /// Bits of the bytes that its branches begin with, by which most of what stands behind it is done with.
    next: u64,
    branches: Range<u32>,
}

impl Tree {
    /// `pieces` in an order in which those with the same `key` first bytes, which all of them have, stand together,
    /// and are sorted.
    pub(super) fn new(pieces: &[Entry<'_>], key: usize) -> Self {
        let mut tree = Self::default();
        tree.roots = tree.grow(pieces, 0, key).end;
        tree
    }

    /// Adds the nodes for what stands behind the first `from` bytes, which `pieces` share; those with the same `key`
    /// bytes there share a node.
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

    /// Adds the pieces of some roots that stand at `at`.
    pub(super) fn walk(&self, roots: Range<usize>, text: &[u8], at: usize, hits: &mut Hits) {
        let mut branches = &self.nodes[roots];
        let mut here = at;
        let mut bytes = head(text, here);
        while let Some(node) = branches.iter().find(|node| node.is_at(bytes)) {
            here += node.length;
            node.end(text, at, here, hits);
            bytes = head(text, here);
            if node.next & bit(bytes) == 0 {
                return;
            }
            branches = &self.nodes[node.branches.start as usize..node.branches.end as usize];
        }
    }
}

/// The bit that stands for the first of some bytes.
fn bit(bytes: u64) -> u64 {
    1 << (bytes & 63)
}

/// Pieces are far fewer than would need more nodes.
fn index(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

impl Node {
    /// What `group` shares behind its first `from` bytes.
    fn new(group: &[Entry<'_>], from: usize) -> Self {
        // Of sorted pieces the first and the last share the least.
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

    /// A piece of a few bytes by itself.
    pub(super) fn leaf(piece: Entry<'_>) -> Self {
        Self::new(&[piece], 0)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn is_at(&self, bytes: u64) -> bool {
        bytes & self.mask == self.bytes
    }

    /// Adds the piece if it stands at `at`.
    pub(super) fn find(&self, text: &[u8], at: usize, hits: &mut Hits) {
        if self.is_at(head(text, at)) {
            self.end(text, at, at + self.length, hits);
        }
    }

    /// Adds the piece that ends here, if one does. Behind the end of the text stand zeros, which a piece may have.
    #[inline]
    fn end(&self, text: &[u8], start: usize, end: usize, hits: &mut Hits) {
        let Some(piece) = self.piece.filter(|_| end <= text.len()) else {
            return;
        };
        let inside = || text.get(end).is_some_and(u8::is_ascii_alphanumeric);
        if !(self.whole && inside()) {
            hits.push(Hit::new(piece, start, end - start));
        }
    }
}

/// Eight bytes as one number; zeros where there are none.
#[inline]
pub(super) fn head(text: &[u8], at: usize) -> u64 {
    match text.get(at..at + STEP).and_then(<[u8]>::first_chunk) {
        Some(whole) => u64::from_le_bytes(*whole),
        None => last_head(text, at),
    }
}

/// The same at the end of a text, where fewer are left.
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
