//! The size of a prompt that did not fit the context window (decision A7, beyond.md BL-14).

use crate::facts::{Facts, PageDetail, ReadOptions, SentenceFilter};
use crate::{Failure, Reason, classify};

/// Smaller numbers are positions, limits of output or other counts.
const MIN_TOKENS: u64 = 1_000;

/// The number of tokens of the prompt that did not fit the context window: the largest number from 1,000 on, or sum of
/// two numbers, in the message. `None` when the message has none, and for a failure that is no context overflow.
pub fn observed_tokens(failure: &Failure) -> Option<u64> {
    let overflow = classify(failure, jiff::Timestamp::UNIX_EPOCH)?.reason == Reason::ContextOverflow;
    if !overflow {
        return None;
    }
    let facts = Facts::read(failure, ReadOptions::texts(PageDetail::Full, SentenceFilter::All));
    let numbers = facts.sentences.iter().flat_map(|text| numbers(text));
    let largest = numbers.filter(|number| *number >= MIN_TOKENS).max();
    let sums = facts.sentences.iter().filter_map(|text| sum(text));
    largest.into_iter().chain(sums).max()
}

/// The whole numbers in `text`, with or without thousands separators, but no parts of dates, versions and ids.
fn numbers(text: &str) -> impl Iterator<Item = u64> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '>' | '=' | ':' | ';' | '[' | ']'))
        .filter_map(parse_number)
}

/// The sum in "188240 + 21333 > 200000", which is larger than each of its numbers.
fn sum(text: &str) -> Option<u64> {
    let (left, right) = text.split_once(" + ")?;
    let left = left.split_whitespace().next_back().and_then(parse_number)?;
    let right = right.split_whitespace().next().and_then(parse_number)?;
    left.checked_add(right)
}

fn parse_number(word: &str) -> Option<u64> {
    let word = word.trim_end_matches([',', '.']);
    let grouped = word.split(',').skip(1).all(|group| group.len() == 3);
    let digits: String = word.chars().filter(|c| *c != ',').collect();
    (grouped && (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bl_14_the_prompt_size_is_read_from_the_text() {
        for (text, expected) in [
            (
                "prompt is too long: 213462 tokens > 200000 maximum",
                Some(213_462),
            ),
            (
                "This model's maximum context length is 4096 tokens. However, your messages resulted in 4539 tokens.",
                Some(4_539),
            ),
            (
                "you requested 16384 output tokens and your prompt contains at least 180225 input tokens, for a total of at least 196609 tokens: maximum context length",
                Some(196_609),
            ),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
                Some(209_573),
            ),
            (
                "Context length exceeded (15,757 tokens). Cannot compress further.",
                Some(15_757),
            ),
            (
                "request (60179 tokens) exceeds the available context size (60160 tokens), try increasing it",
                Some(60_179),
            ),
            ("Input token length too long", None),
            (
                "Rate limit reached on tokens per minute: Limit 6000, Used 5034",
                None,
            ),
        ] {
            let failure = Failure {
                message: Some(text.to_owned()),
                ..Failure::default()
            };
            assert_eq!(observed_tokens(&failure), expected, "{text}");
        }
    }
}
