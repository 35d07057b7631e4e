//! The tables, compiled once: which code and which piece of text can make which row match.

use std::ops::Range;

use crate::facts::{Code, Codes, Layer};
use crate::few::Few;
use crate::phrase::{Lexicon, LexiconBuilder, Phrase, Scan};
use crate::row::Row;
use crate::rules::Stage;

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
    /// The phrases that begin with each piece.
    phrases_of_piece: Vec<Vec<Begun>>,
    codes: Codes,
    /// Rows that ask for neither code nor text.
    unconditional: Bits,
    /// Of these the ones that ask for a transport fact.
    of_transport: Bits,
}

impl Index {
    /// `rows` in the order of their stages, compiled with `lexicon`.
    pub(crate) fn new(rows: Vec<Row>, lexicon: LexiconBuilder) -> Self {
        let mut phrases_of_piece: Vec<Vec<Begun>> = vec![Vec::new(); lexicon.len()];
        let mut codes = Codes::EMPTY;
        let mut unconditional = [0; MAX_ROWS / 64];
        let mut of_transport = [0; MAX_ROWS / 64];
        for (number, row) in numbered(&rows) {
            for (place, phrase) in numbered(&row.phrases) {
                for piece in phrase.first_pieces() {
                    phrases_of_piece[usize::from(piece)].push((number, place));
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
        let stages = STAGES.map(|stage| stage_range(&rows, stage));
        Self {
            rows,
            stages,
            lexicon: lexicon.build(),
            phrases_of_piece,
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

/// A phrase whose beginning was seen: row, and place in the row.
type Begun = (u16, u16);

/// One layer of facts after the single pass over its text.
pub(super) struct Seen<'f> {
    pub(super) layer: &'f Layer<'f>,
    index: &'f Index,
    scan: Scan<'f>,
    /// The phrases whose beginning was seen, ascending; more than once if it was one of several.
    begun: Few<Begun, 24>,
    /// The rows that can match at all, which is what the pass is for.
    possible: Bits,
}

impl<'f> Seen<'f> {
    pub(super) fn new(index: &'f Index, layer: &'f Layer<'f>, transport: bool) -> Self {
        let scan = index.lexicon.scan(&layer.text);
        let mut begun: Few<Begun, 24> = Few::default();
        for piece in scan.pieces() {
            for phrase in &index.phrases_of_piece[usize::from(piece)] {
                begun.push(*phrase);
            }
        }
        begun.sort_unstable();
        let mut possible = index.unconditional;
        if transport {
            for (bits, more) in possible.iter_mut().zip(&index.of_transport) {
                *bits |= more;
            }
        }
        for (row, _) in begun.iter() {
            set(&mut possible, *row);
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
        let from = self.begun.partition_point(|(row, _)| usize::from(*row) < number);
        self.begun[from..]
            .iter()
            .take_while(|(row, _)| usize::from(*row) == number)
            .map(|(_, place)| &row.phrases[usize::from(*place)])
            .find_map(|phrase| Some((self.scan.find(phrase)?, phrase)))
    }

    /// False when something stands in the text beside which the row does not count.
    pub(super) fn is_allowed(&self, row: &Row) -> bool {
        !row.unless.iter().any(|phrase| self.scan.find(phrase).is_some())
    }
}
