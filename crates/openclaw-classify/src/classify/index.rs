//! The tables, compiled once: which code and which piece of text can make which row match.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use crate::facts::{Code, Layer};
use crate::phrase::{Lexicon, LexiconBuilder, Phrase, Scan};
use crate::rule::{Rule, Saw};
use crate::rules::{Stage, TABLES};

/// The index of the shipped tables.
pub(super) static INDEX: LazyLock<Index> = LazyLock::new(Index::build);

/// One row with its compiled phrases.
pub(super) struct Indexed {
    pub(super) rule: &'static Rule,
    stage: Stage,
    number: usize,
    phrases: Vec<Phrase>,
    unless: Vec<Phrase>,
}

/// All rows in order.
pub(super) struct Index {
    rows: Vec<Indexed>,
    lexicon: Lexicon,
    /// For each piece the rows with a phrase that begins with it.
    rows_of_piece: Vec<Vec<usize>>,
    rows_of_code: HashMap<&'static str, Vec<usize>>,
}

impl Index {
    fn build() -> Self {
        let mut lexicon = LexiconBuilder::default();
        let mut rows_of_code: HashMap<&'static str, Vec<usize>> = HashMap::new();
        let rows: Vec<Indexed> = TABLES
            .iter()
            .flat_map(|table| table.rows.iter().map(|rule| (table.stage, rule)))
            .enumerate()
            .map(|(number, (stage, rule))| {
                let phrases = match rule.saw {
                    Saw::Phrases(phrases) => phrases.iter().map(|phrase| lexicon.phrase(phrase)).collect(),
                    Saw::Codes(codes) => {
                        for code in codes {
                            rows_of_code.entry(code).or_default().push(number);
                        }
                        Vec::new()
                    }
                    Saw::Anything | Saw::Silence | Saw::Transports(_) => Vec::new(),
                };
                Indexed {
                    rule,
                    stage,
                    number,
                    phrases,
                    unless: rule.unless.iter().map(|phrase| lexicon.phrase(phrase)).collect(),
                }
            })
            .collect();
        let lexicon = lexicon.build();
        let mut rows_of_piece = vec![Vec::new(); lexicon.len()];
        for row in &rows {
            for piece in row.phrases.iter().flat_map(Phrase::first_pieces) {
                let rows: &mut Vec<usize> = &mut rows_of_piece[*piece as usize];
                if rows.last() != Some(&row.number) {
                    rows.push(row.number);
                }
            }
        }
        Self {
            rows,
            lexicon,
            rows_of_piece,
            rows_of_code,
        }
    }

    pub(super) fn stage(&self, stage: Stage) -> impl Iterator<Item = &Indexed> {
        self.rows.iter().filter(move |row| row.stage == stage)
    }
}

/// One layer of facts after the single pass over its text.
pub(super) struct Seen<'f> {
    pub(super) layer: &'f Layer,
    scan: Scan<'f>,
    /// For each row whether a code or the beginning of a phrase was seen.
    possible: Vec<bool>,
}

impl<'f> Seen<'f> {
    pub(super) fn new(index: &Index, layer: &'f Layer) -> Self {
        let scan = index.lexicon.scan(&layer.text);
        let mut possible = vec![false; index.rows.len()];
        let mut last = None;
        for piece in scan.pieces() {
            if last.replace(piece) != Some(piece) {
                for row in &index.rows_of_piece[piece as usize] {
                    possible[*row] = true;
                }
            }
        }
        let codes = layer
            .codes
            .iter()
            .filter_map(|code| index.rows_of_code.get(code.key.as_str()));
        for row in codes.flatten() {
            possible[*row] = true;
        }
        Self {
            layer,
            scan,
            possible,
        }
    }

    /// False when the row cannot match, which is what the pass is for.
    pub(super) fn may_match(&self, row: &Indexed) -> bool {
        match row.rule.saw {
            Saw::Codes(_) | Saw::Phrases(_) => self.possible[row.number],
            Saw::Anything | Saw::Silence | Saw::Transports(_) => true,
        }
    }

    pub(super) fn code(&self, row: &Indexed) -> Option<&'f Code> {
        let Saw::Codes(codes) = row.rule.saw else {
            return None;
        };
        self.layer
            .codes
            .iter()
            .find(|code| codes.contains(&code.key.as_str()))
            .filter(|_| self.allowed(row))
    }

    pub(super) fn phrase(&self, row: &Indexed) -> Option<Range<usize>> {
        row.phrases
            .iter()
            .find_map(|phrase| self.scan.find(phrase))
            .filter(|_| self.allowed(row))
    }

    fn allowed(&self, row: &Indexed) -> bool {
        !row.unless.iter().any(|phrase| self.scan.find(phrase).is_some())
    }
}
