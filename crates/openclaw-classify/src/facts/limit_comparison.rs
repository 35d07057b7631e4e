//! Numbers of a text that say by themselves what did not fit (beyond.md BL-14, BL-15).

use std::ops::Range;

use crate::text::patterns::Needles;

/// Codes that a relation is booked as; no provider sends them.
pub(crate) const OVER_WINDOW: &str = "tokensoverlimit";
pub(crate) const OVER_RATE: &str = "requestoverlimit";

/// Smaller numbers count other things than the tokens of a prompt.
const SMALL: u64 = 256;
/// How many words of one text are looked at.
const MAX_MARKS: usize = 64;
/// How far from a comparison its numbers may stand, in bytes.
const REACH: usize = 48;
/// How far behind the limit the rest of "Limit …, Used …, Requested …" may stand, in bytes.
const SPAN: usize = 96;

/// What a word of a text says about the numbers around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Stands between what was asked for and the limit.
    Over,
    /// The limit of a rate follows.
    RateLimit,
    /// What was asked of a rate follows.
    Requested,
    /// The numbers count what fits into a model.
    Size,
}

/// The words that are looked for, and what each of them says.
const WORDS: [(&str, Mark); 12] = [
    (">", Mark::Over),
    ("exceed", Mark::Over),
    ("more than", Mark::Over),
    ("above", Mark::Over),
    ("greater than", Mark::Over),
    ("larger than", Mark::Over),
    ("longer than", Mark::Over),
    ("limit ", Mark::RateLimit),
    ("requested ", Mark::Requested),
    ("token", Mark::Size),
    ("prompt", Mark::Size),
    ("context", Mark::Size),
];
/// Words without which the numbers of a text say nothing.
pub(super) const DECISIVE: [&str; 8] = [
    ">",
    "exceed",
    "more than",
    "above",
    "greater than",
    "larger than",
    "longer than",
    "requested ",
];
static NEEDLES: Needles<{ WORDS.len() }> = Needles::new({
    let mut words = [""; WORDS.len()];
    let mut at = 0;
    while at < words.len() {
        words[at] = WORDS[at].0;
        at += 1;
    }
    words
});

/// A relation and the part of the text that states it.
pub(super) struct Relation<'t> {
    pub(super) code: &'static str,
    pub(super) said: &'t str,
}

/// What the numbers of `text` say, if they say something.
pub(super) fn stated(text: &str) -> Option<Relation<'_>> {
    let found = NEEDLES.find_in(text).take(MAX_MARKS);
    let marks: Vec<(Mark, Range<usize>)> = found.map(|(word, at)| (WORDS[word].1, at)).collect();
    over_rate(text, &marks).or_else(|| over_window(text, &marks))
}

/// "Limit 12000, Used 100, Requested 14137": no waiting makes this request fit.
fn over_rate<'t>(text: &'t str, marks: &[(Mark, Range<usize>)]) -> Option<Relation<'t>> {
    let requested = marks.iter().position(|(mark, _)| *mark == Mark::Requested)?;
    let before = marks[..requested].iter().rev();
    let (_, limit_at) = before.into_iter().find(|(mark, _)| *mark == Mark::RateLimit)?;
    let requested_at = &marks[requested].1;
    let limit = first_number(&text[limit_at.end..])?;
    let requested = first_number(&text[requested_at.end..])?;
    let begin = text[requested_at.end..].find(|c: char| c.is_ascii_digit())? + requested_at.end;
    let length = text[begin..].find(|c: char| !c.is_ascii_digit() && c != ',');
    let said = text[limit_at.start..length.map_or(text.len(), |length| begin + length)].trim_end_matches(',');
    (requested > limit && said.len() < SPAN).then_some(Relation {
        code: OVER_RATE,
        said,
    })
}

/// "213462 tokens > 200000", "188240 + 21333 > 200000", "prompt tokens (140000) exceed max context (131072)".
fn over_window<'t>(text: &'t str, marks: &[(Mark, Range<usize>)]) -> Option<Relation<'t>> {
    let about_size = marks.iter().any(|(mark, _)| *mark == Mark::Size);
    let signs = marks.iter().filter(|(mark, _)| *mark == Mark::Over);
    signs.into_iter().find_map(|(_, sign)| {
        let from = text.floor_char_boundary(sign.start.saturating_sub(REACH));
        let to = text.floor_char_boundary(sign.end + REACH);
        let need = number_at_end(&text[from..sign.start])?;
        let limit = first_number(&text[sign.end..to])?;
        let around = text[from..to].to_ascii_lowercase();
        let others = ["byte", "pixel", " mb", " kb", "second", "image"];
        let size = !others.iter().any(|word| around.contains(word));
        let fits = need.total <= limit || limit < SMALL;
        (!fits && size && (about_size || need.is_sum)).then(|| Relation {
            code: OVER_WINDOW,
            said: text[from + need.from..to].trim(),
        })
    })
}

struct Need {
    total: u64,
    is_sum: bool,
    from: usize,
}

/// The number, or the sum of two, that `text` ends with; brackets and the word "tokens" may follow it.
fn number_at_end(text: &str) -> Option<Need> {
    let tail = text
        .trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_alphabetic() || matches!(c, ')' | '='));
    let (last, from) = last_number(tail)?;
    let before = tail[..from].trim_end();
    let sum = before
        .strip_suffix('+')
        .and_then(|before| last_number(before.trim_end()));
    Some(match sum {
        Some((first, from)) => Need {
            total: first.saturating_add(last),
            is_sum: true,
            from,
        },
        None => Need {
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
    Some((whole(&text[from..])?, from))
}

/// The first number, unless too many words stand before it.
fn first_number(text: &str) -> Option<u64> {
    let from = text.bytes().take(REACH).position(|byte| byte.is_ascii_digit())?;
    let digits = &text[from..];
    let end = digits
        .find(|c: char| !c.is_ascii_digit() && c != ',')
        .unwrap_or(digits.len());
    whole(digits[..end].trim_end_matches(','))
}

fn whole(digits: &str) -> Option<u64> {
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
                Some(OVER_WINDOW),
            ),
            ("190000 + 20000 > 200000", Some(OVER_WINDOW)),
            (
                "prompt tokens (140000) >= max context (131072)",
                Some(OVER_WINDOW),
            ),
            ("prompt of 140,000 tokens > 131,072", Some(OVER_WINDOW)),
            (
                "The total number of tokens (40000) exceeds the limit (32768)",
                Some(OVER_WINDOW),
            ),
            (
                "your input has 9000 tokens which is more than the 8192 allowed",
                Some(OVER_WINDOW),
            ),
            ("prompt of 1000 tokens > 131072", None),
            ("at 12 tokens exceeded 300 times", None),
            ("190000 > 200000 tokens", None),
            ("image exceeds 5 MB: 6000000 bytes > 5242880 bytes, prompt", None),
            ("retries 9 > 3 for this prompt", None),
            ("14000 > 12000", None),
            ("Limit 12000, Requested 14137, please", Some(OVER_RATE)),
            ("Limit 12000, Used 11000, Requested 14,137.", Some(OVER_RATE)),
            ("Limit 12000, Used 11000, Requested 2000.", None),
            ("é > é", None),
            ("99999999999999999999 > 1000 tokens", None),
        ] {
            assert_eq!(stated(text).map(|relation| relation.code), expected, "{text}");
        }
    }
}
