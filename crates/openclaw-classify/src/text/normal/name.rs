//! Which tokens name something rather than say it: models, files, parameters, and what the user wrote (classify.md C-5).

use std::ops::Range;

use super::is_alphanumeric;
use super::token::{COLON, DIGIT, DOT, FOREIGN, KINDS, LINE, QUOTE, SLASH, Token};

/// A word after which an identifier names something of the request and says nothing about the failure.
const NAMING: &[&str] = &[
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

/// True for a token that names a model, a file, a path or a parameter rather than saying something.
pub(super) fn is_name(token: &Token<'_>, previous: &str, alone: bool) -> bool {
    let text = token.text;
    // What has nothing that names have is at most a quoted word.
    if !token.holds(FOREIGN | LINE | DOT | SLASH | COLON | QUOTE) {
        return false;
    }
    let bare = bare(text);
    let (before, after) = (&text[..bare.start], &text[bare.end..]);
    let bare = &text[bare];
    let holds = bare.bytes().fold(0, |all, byte| all | KINDS[usize::from(byte)]);
    if bare.is_empty() || holds & FOREIGN != 0 {
        return false;
    }
    if !alone && is_quoted(before, after) {
        return true;
    }
    if holds & (LINE | DOT | SLASH | COLON) == 0 {
        return false;
    }
    let digits = holds & DIGIT != 0;
    let path = holds & SLASH != 0 && (digits || holds & (LINE | DOT | COLON) != 0 || text.starts_with('/'));
    if path || holds & DOT != 0 && holds & (LINE | SLASH) != 0 && is_file(bare) {
        return true;
    }
    let label = &previous[self::bare(previous)];
    let of_a_path =
        previous.ends_with(':') && label.contains('.') && label.bytes().any(|byte| byte.is_ascii_digit());
    let model = digits && holds & LINE != 0 && label.eq_ignore_ascii_case("model");
    of_a_path || model || NAMING.iter().any(|word| word.eq_ignore_ascii_case(label))
}

/// A token without the marks around it.
pub(super) fn bare(token: &str) -> Range<usize> {
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

fn is_file(bare: &str) -> bool {
    bare.rsplit_once('.')
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

/// The closing quote, when `token` opens a quotation of what the user wrote.
pub(super) fn opens_prompt(previous: &str, token: &str) -> Option<char> {
    const SAID: &[&str] = &[
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
    SAID.iter()
        .any(|word| word.eq_ignore_ascii_case(label))
        .then_some(close)
}

/// An apostrophe inside a word closes no quotation.
pub(super) fn closes_prompt(token: &str, close: char) -> bool {
    match close {
        '\'' | '’' => token
            .trim_end_matches(|c: char| c != close && !is_alphanumeric(c))
            .ends_with(close),
        _ => token.contains(close),
    }
}
