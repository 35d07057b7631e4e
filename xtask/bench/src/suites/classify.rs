//! Classification beside one pass over the same texts that looks for as many phrases.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use jiff::Timestamp;
use openclaw_classify::{classify, rules};

use crate::Failure;
use crate::arguments::Arguments;
use crate::error_texts;
use crate::table::{Results, Target};

/// The groups of the collected texts and the ratio that is aimed at.
const GROUPS: &[(&str, f64)] = &[("short", 1.7), ("medium", 1.6), ("large", 1.6), ("html", 0.3)];

/// How many phrases the pass looks for.
const PHRASES: usize = 200;

pub(crate) fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(phrases())?;
    for (group, most) in GROUPS {
        let failures = error_texts::failures(group)?;
        let texts: Vec<&str> = failures
            .iter()
            .filter_map(|failure| failure.message.as_deref())
            .collect();
        let pairs: Vec<(f64, f64)> = (0..arguments.rounds)
            .map(|_| {
                let ours = each(arguments.millis / 5, failures.len(), || {
                    for failure in &failures {
                        black_box(classify(black_box(failure), Timestamp::UNIX_EPOCH));
                    }
                });
                let floor = each(arguments.millis / 5, texts.len(), || {
                    for text in &texts {
                        let found = automaton.find_overlapping_iter(black_box(text.as_bytes()));
                        black_box(found.fold(0, |all, one| all ^ one.pattern().as_usize()));
                    }
                });
                (ours, floor)
            })
            .collect();
        results.compare(
            format!("classify, {group} texts"),
            "ns",
            &pairs,
            Target::RatioAtMost(*most),
        );
    }
    Ok(())
}

/// The first words of the rules' own examples: as many phrases, of the same kind and length as people search for.
fn phrases() -> Vec<String> {
    let mut phrases: Vec<String> = rules()
        .filter(|rule| !rule.example.message.is_empty())
        .map(|rule| {
            let words: Vec<&str> = rule.example.message.split_whitespace().take(3).collect();
            words.join(" ")
        })
        .collect();
    phrases.sort();
    phrases.dedup();
    phrases.truncate(PHRASES);
    phrases
}

/// Nanoseconds for each of `items`, repeated for `millis`.
fn each(millis: u64, items: usize, mut work: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let end = begun + Duration::from_millis(millis);
    let mut done: u32 = 0;
    while Instant::now() < end {
        work();
        done += 1;
    }
    begun.elapsed().as_secs_f64() * 1e9 / (f64::from(done) * as_f64(items))
}

/// Counts here are far below the 52 bits that a float keeps whole.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(count: usize) -> f64 {
    count as f64
}
