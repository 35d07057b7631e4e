//! Comparisons of a number with its limit in messages, such as "213462 tokens > 200000" (beyond.md BL-14, BL-15).

use std::ops::Range;

use crate::text::patterns::Patterns;

/// The codes that comparisons are recorded as; no provider sends them.
pub(crate) const TOKENS_OVER_LIMIT: &str = "tokensoverlimit";
pub(crate) const REQUEST_OVER_LIMIT: &str = "requestoverlimit";

/// Smaller limits are not about the tokens of a prompt.
const MIN_LIMIT: u64 = 256;
/// The most words of one text that are considered.
const MAX_WORDS: usize = 64;
/// The most bytes between a comparison and its numbers.
const REACH: usize = 48;
/// The most bytes of "Limit …, Used …, Requested …".
const MAX_RATE_LENGTH: usize = 96;

/// What a word says about the numbers around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WordRole {
    /// Stands between the requested number and the limit.
    Over,
    /// The limit of a rate follows.
    RateLimit,
    /// The number that was requested under a rate follows.
    Requested,
    /// The numbers are sizes in tokens.
    Size,
}

/// The words that are searched for, and the role of each.
const WORDS: [(&str, WordRole); 12] = [
    (">", WordRole::Over),
    ("exceed", WordRole::Over),
    ("more than", WordRole::Over),
    ("above", WordRole::Over),
    ("greater than", WordRole::Over),
    ("larger than", WordRole::Over),
    ("longer than", WordRole::Over),
    ("limit ", WordRole::RateLimit),
    ("requested ", WordRole::Requested),
    ("token", WordRole::Size),
    ("prompt", WordRole::Size),
    ("context", WordRole::Size),
];
/// Words one of which every comparison has.
pub(super) const COMPARISON_WORDS: [&str; 8] = [
    ">",
    "exceed",
    "more than",
    "above",
    "greater than",
    "larger than",
    "longer than",
    "requested ",
];
static PATTERNS: Patterns<{ WORDS.len() }> = Patterns::new({
    let mut words = [""; WORDS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = WORDS[at].0;
        at += 1;
    }
    words
});

/// A number above its limit, and the part of the text that states it.
pub(super) struct LimitComparison<'t> {
    pub(super) code: &'static str,
    pub(super) text: &'t str,
}

/// The comparison in `text` whose number is above its limit.
pub(super) fn find(text: &str) -> Option<LimitComparison<'_>> {
    let found = PATTERNS.find_in(text).take(MAX_WORDS);
    let words: Vec<(WordRole, Range<usize>)> = found.map(|(word, at)| (WORDS[word].1, at)).collect();
    over_rate(text, &words).or_else(|| over_window(text, &words))
}

/// "Limit 12000, Used 100, Requested 14137": no waiting makes this request fit.
fn over_rate<'t>(text: &'t str, words: &[(WordRole, Range<usize>)]) -> Option<LimitComparison<'t>> {
    let requested = words.iter().position(|(role, _)| *role == WordRole::Requested)?;
    let before = words[..requested].iter().rev();
    let (_, limit_at) = before
        .into_iter()
        .find(|(role, _)| *role == WordRole::RateLimit)?;
    let requested_at = &words[requested].1;
    let limit = first_number(&text[limit_at.end..])?;
    let requested = first_number(&text[requested_at.end..])?;
    let begin = text[requested_at.end..].find(|c: char| c.is_ascii_digit())? + requested_at.end;
    let length = text[begin..].find(|c: char| !c.is_ascii_digit() && c != ',');
    let said = text[limit_at.start..length.map_or(text.len(), |length| begin + length)].trim_end_matches(',');
    (requested > limit && said.len() < MAX_RATE_LENGTH).then_some(LimitComparison {
        code: REQUEST_OVER_LIMIT,
        text: said,
    })
}

/// "213462 tokens > 200000", "188240 + 21333 > 200000", "prompt tokens (140000) exceed max context (131072)".
fn over_window<'t>(text: &'t str, words: &[(WordRole, Range<usize>)]) -> Option<LimitComparison<'t>> {
    let about_size = words.iter().any(|(role, _)| *role == WordRole::Size);
    let signs = words.iter().filter(|(role, _)| *role == WordRole::Over);
    signs.into_iter().find_map(|(_, sign)| {
        let from = text.floor_char_boundary(sign.start.saturating_sub(REACH));
        let to = text.floor_char_boundary(sign.end + REACH);
        let requested = number_at_end(&text[from..sign.start])?;
        let limit = first_number(&text[sign.end..to])?;
        let around = text[from..to].to_ascii_lowercase();
        let others = ["byte", "pixel", " mb", " kb", "second", "image"];
        let size = !others.iter().any(|word| around.contains(word));
        let fits = requested.total <= limit || limit < MIN_LIMIT;
        (!fits && size && (about_size || requested.is_sum)).then(|| LimitComparison {
            code: TOKENS_OVER_LIMIT,
            text: text[from + requested.from..to].trim(),
        })
    })
}

struct RequestedNumber {
    total: u64,
    is_sum: bool,
    from: usize,
}

/// The number, or the sum of two, at the end of `text`; brackets and a word such as "tokens" may follow it.
fn number_at_end(text: &str) -> Option<RequestedNumber> {
    let tail = text
        .trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_alphabetic() || matches!(c, ')' | '='));
    let (last, from) = last_number(tail)?;
    let before = tail[..from].trim_end();
    let sum = before
        .strip_suffix('+')
        .and_then(|before| last_number(before.trim_end()));
    Some(match sum {
        Some((first, from)) => RequestedNumber {
            total: first.saturating_add(last),
            is_sum: true,
            from,
        },
        None => RequestedNumber {
            total: last,
            is_sum: false,
            from,
        },
    })
}

fn last_number(text: &str) -> Option<(u64, usize)> {
    let from = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_ascii_digit() || *c == ',')
        .last()?
        .0;
    Some((parse_number(&text[from..])?, from))
}

/// The first number, if it is near the beginning.
fn first_number(text: &str) -> Option<u64> {
    let from = text.bytes().take(REACH).position(|byte| byte.is_ascii_digit())?;
    let digits = &text[from..];
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(digits.len());
    parse_number(digits[..end].trim_end_matches(','))
}

fn parse_number(digits: &str) -> Option<u64> {
    let plain: String = digits.chars().filter(|c| *c != ',').collect();
    (plain.len() <= 12).then(|| plain.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bl_14_bl_15_numbers_that_do_not_fit() {
        for (text, expected) in [
            (
                "prompt is too long: 213462 tokens > 200000 maximum",
                Some(TOKENS_OVER_LIMIT),
            ),
            ("190000 + 20000 > 200000", Some(TOKENS_OVER_LIMIT)),
            (
                "prompt tokens (140000) >= max context (131072)",
                Some(TOKENS_OVER_LIMIT),
            ),
            ("prompt of 140,000 tokens > 131,072", Some(TOKENS_OVER_LIMIT)),
            (
                "The total number of tokens (40000) exceeds the limit (32768)",
                Some(TOKENS_OVER_LIMIT),
            ),
            (
                "your input has 9000 tokens which is more than the 8192 allowed",
                Some(TOKENS_OVER_LIMIT),
            ),
            ("prompt of 1000 tokens > 131072", None),
            ("at 12 tokens exceeded 300 times", None),
            ("190000 > 200000 tokens", None),
            ("image exceeds 5 MB: 6000000 bytes > 5242880 bytes, prompt", None),
            ("retries 9 > 3 for this prompt", None),
            ("14000 > 12000", None),
            ("Limit 12000, Requested 14137, please", Some(REQUEST_OVER_LIMIT)),
            (
                "Limit 12000, Used 11000, Requested 14,137.",
                Some(REQUEST_OVER_LIMIT),
            ),
            ("Limit 12000, Used 11000, Requested 2000.", None),
            ("é > é", None),
            ("99999999999999999999 > 1000 tokens", None),
        ] {
            assert_eq!(find(text).map(|comparison| comparison.code), expected, "{text}");
        }
    }
}
