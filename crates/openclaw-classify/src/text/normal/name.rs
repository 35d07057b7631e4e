//! Tokens that are names of models, files or parameters, and quotations of the user's prompt (classify.md C-5).

use std::ops::Range;

use super::is_alphanumeric;
use super::token::{COLON, DIGIT, DOT, KINDS, NON_ASCII, QUOTE, SEPARATOR, SLASH, Token};

/// Words before the name of a parameter or field, which is no evidence.
const NAME_LABELS: &[&str] = &[
    "parameter",
    "parameters",
    "param",
    "field",
    "property",
    "argument",
    "column",
    "header",
    "attribute",
    "variable",
];
const FILE_ENDINGS: &[&str] = &[
    "c", "cpp", "cs", "css", "csv", "go", "html", "java", "js", "json", "jsonl", "jsx", "log", "lock", "md",
    "mjs", "pdf", "php", "png", "py", "rb", "rs", "sh", "sql", "toml", "ts", "tsx", "txt", "xml", "yaml",
    "yml",
];

/// Whether a token is the name of a model, file, path or parameter.
pub(super) fn is_name(token: &Token<'_>, previous: &str, alone: bool) -> bool {
    let text = token.text;
    // Names have one of these characters, or are quoted.
    if !token.holds(NON_ASCII | SEPARATOR | DOT | SLASH | COLON | QUOTE) {
        return false;
    }
    let range = inner_range(text);
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let inner = &text[range];
    let holds = inner.bytes().fold(0, |all, byte| all | KINDS[usize::from(byte)]);
    if inner.is_empty() || holds & NON_ASCII != 0 {
        return false;
    }
    if !alone && is_quoted(before, after) {
        return true;
    }
    if holds & (SEPARATOR | DOT | SLASH | COLON) == 0 {
        return false;
    }
    let digits = holds & DIGIT != 0;
    let path =
        holds & SLASH != 0 && (digits || holds & (SEPARATOR | DOT | COLON) != 0 || text.starts_with('/'));
    if path || holds & DOT != 0 && holds & (SEPARATOR | SLASH) != 0 && is_file(inner) {
        return true;
    }
    let label = &previous[inner_range(previous)];
    let of_a_path =
        previous.ends_with(':') && label.contains('.') && label.bytes().any(|byte| byte.is_ascii_digit());
    let model = digits && holds & SEPARATOR != 0 && label.eq_ignore_ascii_case("model");
    of_a_path || model || NAME_LABELS.iter().any(|word| word.eq_ignore_ascii_case(label))
}

/// The range of a token without the punctuation around it.
pub(super) fn inner_range(token: &str) -> Range<usize> {
    if token.is_ascii() {
        let is_inner = u8::is_ascii_alphanumeric;
        let start = token.bytes().position(|byte| is_inner(&byte));
        let end = token.bytes().rposition(|byte| is_inner(&byte));
        return start
            .zip(end)
            .map_or(token.len()..token.len(), |(start, end)| start..end + 1);
    }
    let tail = token.trim_start_matches(|c: char| !is_alphanumeric(c));
    let start = token.len() - tail.len();
    start..start + tail.trim_end_matches(|c: char| !is_alphanumeric(c)).len()
}

fn is_file(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(stem, ending)| FILE_ENDINGS.contains(&ending) && stem.contains(['-', '_', '/']))
}

fn is_quoted(before: &str, after: &str) -> bool {
    matches!(
        (before.chars().next_back(), after.chars().next()),
        (Some('`'), Some('`'))
            | (Some('\''), Some('\''))
            | (Some('"'), Some('"'))
            | (Some('‘' | '’'), Some('’'))
            | (Some('“' | '”'), Some('”'))
    )
}

/// The closing quote, when `token` opens a quotation of the user's prompt.
pub(super) fn opens_prompt(previous: &str, token: &str) -> Option<char> {
    const PROMPT_LABELS: &[&str] = &[
        "prompt", "input", "query", "question", "said", "asked", "wrote", "content",
    ];
    let close = match token.chars().next()? {
        '"' => '"',
        '“' => '”',
        '\'' => '\'',
        '‘' => '’',
        _ => return None,
    };
    let label = previous.trim_end_matches(':');
    PROMPT_LABELS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(label))
        .then_some(close)
}

/// Whether `token` closes the quotation; an apostrophe inside a word does not.
pub(super) fn closes_prompt(token: &str, close: char) -> bool {
    match close {
        '\'' | '’' => token
            .trim_end_matches(|c: char| c != close && !is_alphanumeric(c))
            .ends_with(close),
        _ => token.contains(close),
    }
}
