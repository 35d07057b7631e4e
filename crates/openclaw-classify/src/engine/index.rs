//! The compiled rule tables: which codes and which pieces of text can make which rows match.

use std::ops::Range;

use smallvec::SmallVec;

use super::Row;
use crate::facts::{Code, Codes, Layer};
use crate::rules::Stage;
use crate::text::phrase::{Lexicon, LexiconBuilder, Phrase, Scan, push};

/// All stages, in the order of their declaration, which is the order of evaluation.
const STAGES: [Stage; 5] = [
    Stage::LocalFacts,
    Stage::User,
    Stage::Explicit,
    Stage::CatchAll,
    Stage::Default,
];

/// A set of rows: a bit for each, lowest first.
type Bits = [u64; MAX_ROWS / 64];
/// More than the shipped rows and the most that a user may add.
pub(crate) const MAX_ROWS: usize = 1024;

/// All rows in the order of evaluation, and look-up tables from codes and pieces of phrases to rows.
pub(crate) struct Index {
    rows: Vec<Row>,
    /// The range of rows of each stage.
    stages: [Range<usize>; STAGES.len()],
    lexicon: Lexicon,
    /// The phrases that may begin with each piece, grouped by piece.
    phrases: Vec<PhraseStart>,
    /// Where the group of each piece begins in `phrases`, and where the last one ends.
    piece_offsets: Vec<u32>,
    codes: Codes,
    /// Rows without a condition on code, text or transport.
    unconditional: Bits,
    /// Rows with a condition on transport, and none on code or text.
    transport_rows: Bits,
}

impl Index {
    /// Indexes `rows`, which are in the order of their stages and were compiled with `lexicon`.
    pub(crate) fn new(rows: Vec<Row>, lexicon: LexiconBuilder) -> Self {
        let mut phrases: Vec<(u16, PhraseStart)> = Vec::new();
        let mut codes = Codes::EMPTY;
        let mut unconditional = [0; MAX_ROWS / 64];
        let mut transport_rows = [0; MAX_ROWS / 64];
        for (number, row) in numbered(&rows) {
            for (position, phrase) in numbered(&row.phrases) {
                for (order, piece) in (0u16..).zip(phrase.first_pieces()) {
                    phrases.push((piece, PhraseStart::new(number, position, order)));
                }
            }
            for code in &row.codes {
                codes.entry(code.clone()).push(number);
            }
            if row.phrases.is_empty() && row.codes.is_empty() {
                let bits = if row.transports.is_empty() {
                    &mut unconditional
                } else {
                    &mut transport_rows
                };
                set(bits, number);
            }
        }
        phrases.sort_unstable();
        let begin = |piece: usize| phrases.partition_point(|(other, _)| usize::from(*other) < piece);
        let piece_offsets = (0..=lexicon.len()).map(|piece| u32::try_from(begin(piece)).unwrap_or(u32::MAX));
        let stages = STAGES.map(|stage| stage_range(&rows, stage));
        Self {
            rows,
            stages,
            lexicon: lexicon.build(),
            piece_offsets: piece_offsets.collect(),
            phrases: phrases.into_iter().map(|(_, start)| start).collect(),
            codes,
            unconditional,
            transport_rows,
        }
    }

    /// All rows, in the order of evaluation.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The codes that rows name.
    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// Whether there are user rules.
    pub(super) fn has_user_rules(&self) -> bool {
        !self.stages[Stage::User as usize].is_empty()
    }
}

fn stage_range(rows: &[Row], stage: Stage) -> Range<usize> {
    let before = |row: &Row| row.stage < stage;
    let within = |row: &Row| row.stage <= stage;
    rows.partition_point(before)..rows.partition_point(within)
}

/// Numbers rows or phrases in 16 bits; a set with more is refused before it is compiled.
fn numbered<T>(items: &[T]) -> impl Iterator<Item = (u16, &T)> {
    (0u16..).zip(items)
}

fn set(bits: &mut Bits, row: u16) {
    bits[usize::from(row) / 64] |= 1 << (row % 64);
}

/// A phrase that may begin with a certain piece, packed into one number for sorting: from the top, 16 bits for the row,
/// 16 for the phrase's position in the row, 12 for the piece's position among those that the phrase may begin with, and
/// 20 for the first hit of the piece in the text.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct PhraseStart(u64);

impl PhraseStart {
    /// `order` fits its bits: a phrase begins with one of a few hundred pieces at most.
    fn new(row: u16, position: u16, order: u16) -> Self {
        Self(u64::from(row) << 48 | u64::from(position) << 32 | u64::from(order) << 20)
    }

    /// `hit` fits its bits: texts are clipped before they are scanned.
    fn with_hit(self, hit: u32) -> Self {
        Self(self.0 | u64::from(hit & 0xF_FFFF))
    }

    fn row(self) -> u16 {
        (self.0 >> 48) as u16
    }

    fn position(self) -> usize {
        (self.0 >> 32 & 0xFFFF) as usize
    }

    fn hit(self) -> usize {
        (self.0 & 0xF_FFFF) as usize
    }
}

/// One layer of facts with the result of the single pass over its text.
pub(super) struct ScannedLayer<'f> {
    pub(super) layer: &'f Layer<'f>,
    index: &'f Index,
    scan: Scan<'f>,
    /// The phrases whose first piece occurs, once for each such piece, sorted.
    starts: SmallVec<[PhraseStart; 24]>,
    /// The rows that can match; all others need no further check.
    candidates: Bits,
}

impl<'f> ScannedLayer<'f> {
    pub(super) fn new(index: &'f Index, layer: &'f Layer<'f>, transport: bool) -> Self {
        let scan = index.lexicon.scan(&layer.text);
        let mut starts: SmallVec<[PhraseStart; 24]> = SmallVec::new();
        for (piece, hit) in scan.pieces() {
            let piece = usize::from(piece);
            let phrases = index.piece_offsets[piece] as usize..index.piece_offsets[piece + 1] as usize;
            for phrase in &index.phrases[phrases] {
                push(&mut starts, phrase.with_hit(hit));
            }
        }
        starts.sort_unstable();
        let mut candidates = index.unconditional;
        if transport {
            for (bits, more) in candidates.iter_mut().zip(&index.transport_rows) {
                *bits |= more;
            }
        }
        for row in starts.iter().map(|start| start.row()) {
            set(&mut candidates, row);
        }
        // A row that names phrases as well is a candidate by its phrases only.
        let by_code = layer.codes.iter().flat_map(|code| code.rows);
        for row in by_code.filter(|row| index.rows[usize::from(**row)].phrases.is_empty()) {
            set(&mut candidates, *row);
        }
        Self {
            layer,
            index,
            scan,
            starts,
            candidates,
        }
    }

    /// The candidate rows of a stage, in order, each with its number.
    pub(super) fn rows(&self, stage: Stage) -> impl Iterator<Item = (usize, &'f Row)> {
        let range = self.index.stages[stage as usize].clone();
        let words = range.start / 64..range.end.div_ceil(64);
        let rows = &self.index.rows;
        words
            .flat_map(|word| {
                let mut left = self.candidates[word];
                std::iter::from_fn(move || {
                    let bit = left.trailing_zeros() as usize;
                    left &= left.wrapping_sub(1);
                    (bit < 64).then_some(word * 64 + bit)
                })
            })
            .filter(move |number| range.contains(number))
            .map(|number| (number, &rows[number]))
    }

    /// The first code of the layer that the row names.
    pub(super) fn code(&self, number: usize) -> Option<&'f Code<'f>> {
        let is_named = |code: &&Code<'_>| code.rows.iter().any(|row| usize::from(*row) == number);
        self.layer.codes.iter().find(is_named)
    }

    /// The first phrase of the row that occurs, and its range in the text.
    pub(super) fn phrase<'r>(&self, number: usize, row: &'r Row) -> Option<(Range<usize>, &'r Phrase)> {
        let from = self
            .starts
            .partition_point(|start| usize::from(start.row()) < number);
        self.starts[from..]
            .iter()
            .take_while(|start| usize::from(start.row()) == number)
            .find_map(|start| {
                let phrase = &row.phrases[start.position()];
                Some((self.scan.find_at(phrase, start.hit())?, phrase))
            })
    }

    /// Whether the text contains one of the row's `unless` phrases.
    pub(super) fn is_excluded(&self, row: &Row) -> bool {
        row.unless.iter().any(|phrase| self.scan.find(phrase).is_some())
    }
}
