//! Brings text into the one form that phrases are matched in (classify.md C-2.3).

use std::borrow::Cow;

/// Stands for a separator inside a name; counts as a letter, so that no phrase matches inside a name.
pub(crate) const NAME_JOINT: char = '·';
/// Stands between texts from different places; no phrase reaches across it.
pub(crate) const SEGMENT: char = '\u{1}';

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

/// Appends the normal form of `text`: lower case, one blank for each run of blanks, `_` and `-`, straight quotes,
/// links removed, names of models, files and parameters closed to matching.
pub(crate) fn append(out: &mut String, text: &str) {
    let text = text.trim();
    let start = out.len();
    out.reserve(text.len());
    let mut previous = "";
    let mut quoted_prompt: Option<char> = None;
    let mut rest = text;
    loop {
        rest = without_blanks(rest);
        if rest.is_empty() {
            break;
        }
        if quoted_prompt.is_none() {
            let run = plain_run(rest);
            if run.end > 0 {
                push_separator(out, start);
                let from = out.len();
                out.push_str(&rest[..run.end]);
                out[from..].make_ascii_lowercase();
                previous = &rest[run.last..run.end];
                rest = &rest[run.end..];
                continue;
            }
        }
        let token = first_token(rest);
        rest = &rest[token.len()..];
        if let Some(close) = quoted_prompt {
            if closes_prompt(token, close) {
                quoted_prompt = None;
            }
            continue;
        }
        if let Some(close) = opens_prompt(previous, token) {
            push_separator(out, start);
            out.push(NAME_JOINT);
            let opened = token.chars().next().map_or(0, char::len_utf8);
            quoted_prompt = (!closes_prompt(&token[opened..], close)).then_some(close);
            previous = token;
            continue;
        }
        push_separator(out, start);
        push_token(
            out,
            start,
            token,
            is_name(token, previous, token.len() == text.len()),
        );
        previous = token;
    }
    let end = out.trim_end_matches(' ').len();
    out.truncate(end.max(start));
}

/// The normal form of a phrase that somebody wrote to be found: nothing in it is a name or a link.
pub(crate) fn phrase_form(text: &str) -> String {
    let mut out = String::new();
    for token in text.split(is_blank).filter(|token| !token.is_empty()) {
        push_separator(&mut out, 0);
        push_token(&mut out, 0, token, false);
    }
    out
}

/// The form in which codes are compared: letters and digits only, lower case (C-4).
pub(crate) fn code_key(code: &str) -> Cow<'_, str> {
    let is_kept = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if code.bytes().all(is_kept) {
        return Cow::Borrowed(code);
    }
    let mut key = String::with_capacity(code.len());
    for c in code.chars().filter(|c| is_alphanumeric(*c)) {
        if c.is_ascii() {
            key.push(c.to_ascii_lowercase());
        } else {
            key.extend(c.to_lowercase());
        }
    }
    Cow::Owned(key)
}

/// Whether `key`, lower-case ASCII letters and digits, is the [`code_key`] of `code`.
pub(crate) fn is_code_key(code: &str, key: &str) -> bool {
    if !code.is_ascii() {
        return code_key(code) == key;
    }
    let letters = code.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).eq(key.bytes())
}

/// Plain tokens with one blank between them, at the front of a text.
struct Run {
    /// Where the last of them begins.
    last: usize,
    /// Where it ends, 0 when there is none.
    end: usize,
}

/// What a byte is to a token that cannot be a name or a link and has nothing to be replaced; most are such.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    /// Plain at the end of a token only.
    Final,
    Blank,
    Other,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'.' | b':' => Class::Final,
            b'\t'..=b'\r' | b' ' => Class::Blank,
            // Separators, what may stand in a name or a path, quotes, and what is no text.
            b'-' | b'_' | b'/' | b'"' | b'\'' | b'`' | 0..=31 | 127 => Class::Other,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

fn class(bytes: &[u8], at: usize) -> Class {
    bytes
        .get(at)
        .map_or(Class::Blank, |byte| CLASSES[usize::from(*byte)])
}

/// The longest run of plain tokens that `text` begins with.
fn plain_run(text: &str) -> Run {
    let bytes = text.as_bytes();
    let mut run = Run { last: 0, end: 0 };
    let mut from = 0;
    loop {
        let mut at = from;
        while class(bytes, at) == Class::Plain {
            at += 1;
        }
        if class(bytes, at) == Class::Final {
            at += 1;
        }
        if at == from || class(bytes, at) != Class::Blank {
            return run;
        }
        run = Run { last: from, end: at };
        if bytes.get(at) != Some(&b' ') {
            return run;
        }
        from = at + 1;
    }
}

fn without_blanks(text: &str) -> &str {
    match text.as_bytes() {
        [b' ', next, ..] if next.is_ascii_graphic() => &text[1..],
        _ => text.trim_start_matches(is_blank),
    }
}

/// What stands before the next blank.
fn first_token(text: &str) -> &str {
    let bytes = text.as_bytes();
    let ascii = bytes
        .iter()
        .position(|byte| CLASSES[usize::from(*byte)] == Class::Blank || !byte.is_ascii());
    match ascii {
        None => text,
        Some(end) if bytes[end].is_ascii() => &text[..end],
        Some(end) => {
            let more = text[end..].find(is_blank);
            &text[..more.map_or(text.len(), |more| end + more)]
        }
    }
}

/// As the standard library has it, without its tables for the punctuation that texts are full of.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || !c.is_ascii() && !('\u{2000}'..='\u{206F}').contains(&c) && c.is_alphanumeric()
}

fn is_blank(c: char) -> bool {
    c.is_whitespace()
}

fn push_separator(out: &mut String, start: usize) {
    if out.len() > start && !out.ends_with([' ', SEGMENT]) {
        out.push(' ');
    }
}

fn push_token(out: &mut String, start: usize, token: &str, name: bool) {
    // Most tokens that are not plain are so for a mark that stays what it is.
    if !name && token.bytes().all(is_kept) && !holds_link_mark(token) {
        let from = out.len();
        out.push_str(token);
        out[from..].make_ascii_lowercase();
        return;
    }
    if !name
        && token
            .bytes()
            .all(|byte| is_kept(byte) || matches!(byte, b'_' | b'-'))
        && !holds_link_mark(token)
    {
        return push_parts(out, start, token);
    }
    let link = link(token);
    let opening = token.find(is_alphanumeric).filter(|_| name && link.is_none());
    for (index, c) in token.char_indices() {
        if opening == Some(index) {
            out.push(NAME_JOINT);
        }
        if link.as_ref().is_some_and(|link| link.contains(&index)) {
            if link.as_ref().is_some_and(|link| link.start == index) {
                out.push(NAME_JOINT);
            }
            continue;
        }
        match c {
            _ if name && !is_alphanumeric(c) && !is_edge(token, index) => out.push(NAME_JOINT),
            '_' | '-' | '\u{2010}'..='\u{2015}' => push_separator(out, start),
            '‘' | '’' | '‚' | '‛' | '′' => out.push('\''),
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => out.push('"'),
            '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{AD}'
            | SEGMENT => {}
            '\u{FF01}'..='\u{FF5E}' => {
                let ascii = u32::from(c) - 0xFEE0;
                out.extend(char::from_u32(ascii).into_iter().flat_map(char::to_lowercase));
            }
            _ if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            _ => out.extend(c.to_lowercase()),
        }
    }
}

/// A token in which separators are all that is replaced.
fn push_parts(out: &mut String, start: usize, token: &str) {
    for (number, part) in token.split(['_', '-']).enumerate() {
        if number > 0 {
            push_separator(out, start);
        }
        let from = out.len();
        out.push_str(part);
        out[from..].make_ascii_lowercase();
    }
}

/// Punctuation around a name stays what it is.
fn is_edge(token: &str, index: usize) -> bool {
    let inner = |part: &str| part.chars().any(is_alphanumeric);
    !inner(&token[..index]) || !inner(&token[index..])
}

/// The link inside a token: help pages say nothing about the failure.
fn link(token: &str) -> Option<std::ops::Range<usize>> {
    if !holds_link_mark(token) {
        return None;
    }
    let start = find_ignore_case(token, "http://").or_else(|| find_ignore_case(token, "https://"))?;
    let end = token[start..]
        .find(|c: char| !c.is_ascii() || matches!(c, '"' | '\'' | ')' | '>' | '<' | '`' | ']' | '}' | ','))
        .map_or(token.len(), |length| start + length);
    Some(start..end)
}

fn holds_link_mark(token: &str) -> bool {
    let bytes = token.as_bytes();
    memchr::memchr_iter(b':', bytes).any(|at| bytes[at..].starts_with(b"://"))
}

/// Whether a byte of a token that is no name appears in its normal form, lower-cased at most.
fn is_kept(byte: u8) -> bool {
    byte.is_ascii() && !matches!(byte, b'_' | b'-' | 1)
}

fn find_ignore_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}

/// True for a token that names a model, a file, a path or a parameter rather than saying something.
fn is_name(token: &str, previous: &str, alone: bool) -> bool {
    let bare = bare(token);
    let (before, after) = (&token[..bare.start], &token[bare.end..]);
    let bare = &token[bare];
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
    let path = holds & SLASH != 0 && (digits || holds & (LINE | DOT | COLON) != 0 || token.starts_with('/'));
    if path || holds & DOT != 0 && holds & (LINE | SLASH) != 0 && is_file(bare) {
        return true;
    }
    let label = &previous[self::bare(previous)];
    let of_a_path =
        previous.ends_with(':') && label.contains('.') && label.bytes().any(|byte| byte.is_ascii_digit());
    let model = digits && holds & LINE != 0 && label.eq_ignore_ascii_case("model");
    of_a_path || model || NAMING.iter().any(|word| word.eq_ignore_ascii_case(label))
}

/// What a byte of a token says about whether it is a name.
const KINDS: [u8; 256] = {
    let mut kinds = [FOREIGN; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            b'-' | b'_' => LINE,
            b'.' => DOT,
            b'/' => SLASH,
            b':' => COLON,
            b'0'..=b'9' => DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};
const LINE: u8 = 1;
const DOT: u8 = 2;
const SLASH: u8 = 4;
const COLON: u8 = 8;
const DIGIT: u8 = 16;
const FOREIGN: u8 = 32;

/// A token without the marks around it.
fn bare(token: &str) -> std::ops::Range<usize> {
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
fn opens_prompt(previous: &str, token: &str) -> Option<char> {
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
fn closes_prompt(token: &str, close: char) -> bool {
    match close {
        '\'' | '’' => token
            .trim_end_matches(|c: char| c != close && !is_alphanumeric(c))
            .ends_with(close),
        _ => token.contains(close),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut out = String::new();
        append(&mut out, text);
        out
    }

    #[test]
    fn c_2_3_case_separators_and_quotes_are_equal() {
        for (text, expected) in [
            ("  Rate_LIMIT--exceeded\n\tnow ", "rate limit exceeded now"),
            ("isn’t “so it”", "isn't \"so it\""),
            ("too\u{a0}many\u{2028}requests", "too many requests"),
            ("ＲＡＴＥ ｌｉｍｉｔ", "rate limit"),
            ("\u{202e}Too many requests\u{202c}", "too many requests"),
            ("Too many\0 requests", "too many\0 requests"),
            (
                "see https://x.example/rate-limit, then retry",
                "see ·, then retry",
            ),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn c_5_names_are_closed_to_matching() {
        for (text, expected) in [
            ("model `rate-limit-9b` is gone", "model `·rate·limit·9b` is gone"),
            ("acme/overloaded-7b", "·acme·overloaded·7b"),
            ("parameter: rate_limit", "parameter: ·rate·limit"),
            (
                "property 'authentication' is bad",
                "property '·authentication' is bad",
            ),
            ("open rate_limit.ts now", "open ·rate·limit·ts now"),
            ("Weekly/Monthly Limit", "weekly/monthly limit"),
            ("your prompt \"say rate limit\" is bad", "your prompt · is bad"),
            ("they said 'don't rate limit me', so", "they said · so"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn c_4_codes_are_letters_and_digits() {
        assert_eq!(
            code_key(" Throttling.Allocation-Quota_1 "),
            "throttlingallocationquota1"
        );
    }
}
