//! The reason of a notice: a short text of why another model answered (S-10.4).

use openclaw_ids::ModelRef;

use super::NO_REASON;

/// One failed attempt, as far as a notice shows it. All texts are redacted already (M2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedAttempt<'a> {
    /// The candidate.
    pub model: &'a ModelRef,
    /// The wire name of the reason, for example `rate_limit`.
    pub reason: Option<&'a str>,
    /// The provider's error code.
    pub code: Option<&'a str>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// What the provider said.
    pub error: &'a str,
}

/// The longest text of one attempt, in characters.
const MAX_LEN: usize = 80;

/// The reason of a turn: its first failed attempt, and how many more there were (S-10.4a).
pub fn reason_summary(attempts: &[FailedAttempt<'_>]) -> String {
    let Some((first, more)) = attempts.split_first() else {
        return NO_REASON.to_owned();
    };
    let base = attempt_text(first);
    match more.len() {
        0 => base,
        more => format!("{base} (+{more} more attempts)"),
    }
}

/// One attempt in a few words, the first that applies: what the provider said when it helps, the reason, the code,
/// the status, whatever was said (S-10.4b).
pub(super) fn attempt_text(attempt: &FailedAttempt<'_>) -> String {
    let words = preview(attempt)
        .or_else(|| attempt.reason.map(|reason| reason.replace('_', " ")))
        .or_else(|| attempt.code.map(str::to_owned))
        .or_else(|| attempt.status.map(|status| format!("HTTP {status}")));
    clip(&words.unwrap_or_else(|| attempt.error.to_owned()))
}

/// Reasons whose provider text can tell when or why better than the reason does.
const PREVIEWED: &[&str] = &[
    "empty_response",
    "no_error_details",
    "overloaded",
    "rate_limit",
    "timeout",
    "unclassified",
];

/// Words that make a provider's text worth showing; whole words, in any case.
const HINTS: &[&str] = &[
    "429",
    "hour",
    "hours",
    "minute",
    "minutes",
    "overloaded",
    "quota",
    "retry after",
    "retry-after",
    "second",
    "seconds",
    "service unavailable",
    "temporarily unavailable",
    "throttl",
    "too many requests",
    "try again in",
    "usage limit",
];

fn preview(attempt: &FailedAttempt<'_>) -> Option<String> {
    let reason = attempt.reason?;
    if !PREVIEWED.contains(&reason) {
        return None;
    }
    let lower = attempt.error.to_lowercase();
    if !HINTS.iter().any(|hint| contains_word(&lower, hint)) && !names_server_error(&lower) {
        return None;
    }
    let text = attempt
        .error
        .trim_start_matches(|c: char| matches!(c, '⚠' | '\u{fe0f}') || c.is_whitespace());
    let text = collapse(text);
    (!text.is_empty() && !text.to_lowercase().contains("unknown error")).then_some(text)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Whether a number from 500 to 599 stands alone.
fn names_server_error(text: &str) -> bool {
    let mut words = text.split(|c| !is_word(c));
    words.any(|word| word.len() == 3 && word.starts_with('5') && word.bytes().all(|b| b.is_ascii_digit()))
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One line of at most [`MAX_LEN`] characters, the last of them `…` when something is missing.
pub(super) fn clip(text: &str) -> String {
    let text = collapse(text);
    if text.chars().nth(MAX_LEN).is_none() {
        return text;
    }
    let kept: String = text.chars().take(MAX_LEN - 1).collect();
    format!("{}…", kept.trim_end())
}
