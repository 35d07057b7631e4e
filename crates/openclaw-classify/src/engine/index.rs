//! The tables, compiled once: which code and which piece of text can make which row match.

use std::ops::Range;

use crate::facts::{Code, Codes, Layer};
use crate::few::Few;
use crate::rules::Stage;
use crate::text::phrase::{Lexicon, LexiconBuilder, Phrase, Scan};

use super::Row;

/// In the order of their declaration, which is the one they are asked in.
const STAGES: [Stage; 5] = [
    Stage::Who,
    Stage::User,
    Stage::Explicit,
    Stage::CatchAll,
    Stage::Default,
];

/// Rows as bits, lowest first.
type Bits = [u64; MAX_ROWS / 64];
/// The shipped rows, and all that a user may add, are fewer.
pub(crate) const MAX_ROWS: usize = 1024;

/// All rows in order.
pub(crate) struct Index {
    rows: Vec<Row>,
    /// The rows of each stage, which follow one another.
    stages: [Range<usize>; STAGES.len()],
    lexicon: Lexicon,
    /// The phrases that begin with a piece, piece by piece.
    phrases: Vec<Begun>,
    /// Where those of each piece begin; one more at the end.
    of_piece: Vec<u32>,
    codes: Codes,
    /// Rows that ask for neither code nor text.
    unconditional: Bits,
    /// Of these the ones that ask for a transport fact.
    of_transport: Bits,
}

impl Index {
    /// `rows` in the order of their stages, compiled with `lexicon`.
    pub(crate) fn new(rows: Vec<Row>, lexicon: LexiconBuilder) -> Self {
        let mut phrases: Vec<(u16, Begun)> = Vec::new();
        let mut codes = Codes::EMPTY;
        let mut unconditional = [0; MAX_ROWS / 64];
        let mut of_transport = [0; MAX_ROWS / 64];
        for (number, row) in numbered(&rows) {
            for (place, phrase) in numbered(&row.phrases) {
                for (turn, piece) in (0u16..).zip(phrase.first_pieces()) {
                    phrases.push((piece, Begun::new(number, place, turn)));
                }
            }
            for code in &row.codes {
                codes.entry(code.clone()).push(number);
            }
            if row.phrases.is_empty() && row.codes.is_empty() {
                let bits = if row.transports.is_empty() {
                    &mut unconditional
                } else {
                    &mut of_transport
                };
                set(bits, number);
            }
        }
        phrases.sort_unstable();
        let begin = |piece: usize| phrases.partition_point(|(other, _)| usize::from(*other) < piece);
        let of_piece = (0..=lexicon.len()).map(|piece| u32::try_from(begin(piece)).unwrap_or(u32::MAX));
        let stages = STAGES.map(|stage| stage_range(&rows, stage));
        Self {
            rows,
            stages,
            lexicon: lexicon.build(),
            of_piece: of_piece.collect(),
            phrases: phrases.into_iter().map(|(_, begun)| begun).collect(),
            codes,
            unconditional,
            of_transport,
        }
    }

    /// All rows, in the order in which they are asked.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The codes that rows ask for.
    pub(super) fn codes(&self) -> &Codes {
        &self.codes
    }

    /// Whether a user added any.
    pub(super) fn has_users(&self) -> bool {
        !self.stages[Stage::User as usize].is_empty()
    }
}

fn stage_range(rows: &[Row], stage: Stage) -> Range<usize> {
    let before = |row: &Row| row.stage < stage;
    let within = |row: &Row| row.stage <= stage;
    rows.partition_point(before)..rows.partition_point(within)
}

/// Rows and phrases are counted in 16 bits; a set with more is refused before it is compiled.
fn numbered<T>(items: &[T]) -> impl Iterator<Item = (u16, &T)> {
    (0u16..).zip(items)
}

fn set(bits: &mut Bits, row: u16) {
    bits[usize::from(row) / 64] |= 1 << (row % 64);
}

/// A phrase that begins with some piece, as one number, by which such are sorted: the row in the upper 16 bits, the
/// place in the row in 16, which of the pieces that it may begin with it is in 12, the first hit in 20.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Begun(u64);

impl Begun {
    /// Pieces that a phrase may begin with are hundreds at most.
    fn new(row: u16, place: u16, turn: u16) -> Self {
        Self(u64::from(row) << 48 | u64::from(place) << 32 | u64::from(turn) << 20)
    }

    /// Of the texts that are read none has so many hits.
    fn at(self, hit: u32) -> Self {
        Self(self.0 | u64::from(hit & 0xF_FFFF))
    }

    fn row(self) -> u16 {
        (self.0 >> 48) as u16
    }

    fn place(self) -> usize {
        (self.0 >> 32 & 0xFFFF) as usize
    }

    fn hit(self) -> usize {
        (self.0 & 0xF_FFFF) as usize
    }
}

/// One layer of facts after the single pass over its text.
pub(super) struct Seen<'f> {
    pub(super) layer: &'f Layer<'f>,
    index: &'f Index,
    scan: Scan<'f>,
    /// The phrases whose beginnings were seen, once for each beginning, ascending.
    begun: Few<Begun, 24>,
    /// The rows that can match at all, which is what the pass is for.
    possible: Bits,
}

impl<'f> Seen<'f> {
    pub(super) fn new(index: &'f Index, layer: &'f Layer<'f>, transport: bool) -> Self {
        let scan = index.lexicon.scan(&layer.text);
        let mut begun: Few<Begun, 24> = Few::default();
        for (piece, hit) in scan.pieces() {
            let piece = usize::from(piece);
            let phrases = index.of_piece[piece] as usize..index.of_piece[piece + 1] as usize;
            for phrase in &index.phrases[phrases] {
                begun.push(phrase.at(hit));
            }
        }
        begun.sort_unstable();
        let mut possible = index.unconditional;
        if transport {
            for (bits, more) in possible.iter_mut().zip(&index.of_transport) {
                *bits |= more;
            }
        }
        for row in begun.iter().map(|begun| begun.row()) {
            set(&mut possible, row);
        }
        // A row that asks for a phrase too is possible where the phrase is.
        let named = layer.codes.iter().flat_map(|code| code.rows);
        for row in named.filter(|row| index.rows[usize::from(**row)].phrases.is_empty()) {
            set(&mut possible, *row);
        }
        Self {
            layer,
            index,
            scan,
            begun,
            possible,
        }
    }

    /// The rows of a stage that can match, in order.
    pub(super) fn rows(&self, stage: Stage) -> impl Iterator<Item = (usize, &'f Row)> {
        let range = self.index.stages[stage as usize].clone();
        let words = range.start / 64..range.end.div_ceil(64);
        let rows = &self.index.rows;
        words
            .flat_map(|word| {
                let mut left = self.possible[word];
                std::iter::from_fn(move || {
                    let bit = left.trailing_zeros() as usize;
                    left &= left.wrapping_sub(1);
                    (bit < 64).then_some(word * 64 + bit)
                })
            })
            .filter(move |number| range.contains(number))
            .map(|number| (number, &rows[number]))
    }

    /// The code that the row asks for.
    pub(super) fn code(&self, number: usize) -> Option<&'f Code<'f>> {
        let is_asked = |code: &&Code<'_>| code.rows.iter().any(|row| usize::from(*row) == number);
        self.layer.codes.iter().find(is_asked)
    }

    /// Where a phrase of the row stands.
    pub(super) fn phrase<'r>(&self, number: usize, row: &'r Row) -> Option<(Range<usize>, &'r Phrase)> {
        let from = self
            .begun
            .partition_point(|begun| usize::from(begun.row()) < number);
        self.begun[from..]
            .iter()
            .take_while(|begun| usize::from(begun.row()) == number)
            .find_map(|begun| {
                let phrase = &row.phrases[begun.place()];
                Some((self.scan.find_at(phrase, begun.hit())?, phrase))
            })
    }

    /// False when something stands in the text beside which the row does not count.
    pub(super) fn is_allowed(&self, row: &Row) -> bool {
        !row.unless.iter().any(|phrase| self.scan.find(phrase).is_some())
    }
}
