//! Names of errors in messages: at the beginning, in brackets or after a label (classify.md C-2.1).

use super::message::head;

/// How many bytes at the beginning of a text are searched.
const WINDOW: usize = 1024;
/// The most names that are taken from one text.
const MAX_NAMES: usize = 8;

/// Words before `:` or `=` that say that a name follows.
const LABELS: &[&str] = &["code", "type", "status", "reason"];

/// Calls `take` with each name in `text`, the leading one first. `punctuated` is false when the text has none of `(`,
/// `:` and `=`.
pub(super) fn for_each<'t>(text: &'t str, punctuated: bool, mut take: impl FnMut(&'t str)) {
    let head = head(text, WINDOW);
    let mut left = MAX_NAMES;
    if let Some(name) = leading(head) {
        take(name);
        left -= 1;
    }
    if !punctuated {
        return;
    }
    let marks = memchr::memchr3_iter(b'(', b':', b'=', head.as_bytes());
    let found = marks.filter_map(|at| match head.as_bytes()[at] {
        b'(' => bracketed(&head[at + 1..]),
        _ => labelled(&head[..at], &head[at + 1..]),
    });
    found.take(left).for_each(take);
}

/// `ThrottlingException: …`, `Error: overloaded_error`, `[1305][…`.
fn leading(text: &str) -> Option<&str> {
    if let Some(number) = text.strip_prefix('[').and_then(|text| text.get(..4))
        && is_number(number)
        && text[5..].starts_with(']')
    {
        return Some(number);
    }
    let text =
        text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '[' | '(' | '·'));
    after_error(text)
        .and_then(leading_name)
        .or_else(|| leading_name(text))
}

/// The text after `Error:` or a number of one or two digits.
fn after_error(text: &str) -> Option<&str> {
    let behind = text
        .strip_prefix("Error:")
        .or_else(|| text.strip_prefix("error:"));
    if let Some(text) = behind {
        return Some(text.trim_start());
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let text = text.get(digits..).filter(|_| (1..=2).contains(&digits))?;
    text.starts_with(char::is_whitespace).then(|| text.trim_start())
}

fn leading_name(text: &str) -> Option<&str> {
    let name = name(text, |byte| matches!(byte, b'.' | b'_' | b'-'))?;
    let rest = &text[name.len()..];
    let after = rest.trim_start();
    let ends = rest.starts_with([':', '(', '"', '\'', ']'])
        || after.is_empty()
        || after.len() < rest.len() && after.starts_with(['·', '-']);
    ends.then_some(name)
}

/// The name at the beginning of `text`: a letter, then letters and digits, joined by single characters that `joins`
/// accepts.
fn name(text: &str, joins: impl Fn(u8) -> bool) -> Option<&str> {
    let bytes = text.as_bytes();
    if !bytes.first()?.is_ascii_alphabetic() {
        return None;
    }
    let mut end = 1;
    while let Some(byte) = bytes.get(end) {
        let joined = joins(*byte) && bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
        if !byte.is_ascii_alphanumeric() && !joined {
            break;
        }
        end += 1;
    }
    Some(&text[..end])
}

/// `(ExpiredTokenException)`, `(1008)`.
fn bracketed(text: &str) -> Option<&str> {
    let name = &text[..text.bytes().take(64).position(|byte| byte == b')')?];
    let words = name.bytes().all(|byte| byte.is_ascii_alphabetic())
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && (name.ends_with("Exception") || name.ends_with("Error"));
    (words || is_number(name)).then_some(name)
}

/// `code: 1305`, `type=overloaded_error`.
fn labelled<'t>(before: &str, after: &'t str) -> Option<&'t str> {
    let before = before.trim_end().as_bytes();
    let is_label = |label: &&str| {
        let at = before.len().checked_sub(label.len());
        at.is_some_and(|at| {
            before[at..].eq_ignore_ascii_case(label.as_bytes())
                && at.checked_sub(1).is_none_or(|at| !is_word(before[at]))
        })
    };
    if !LABELS.iter().any(is_label) {
        return None;
    }
    let after = after.trim_start();
    let after = after.strip_prefix(['"', '\'']).unwrap_or(after);
    let number = after.get(..4).filter(|number| is_number(number));
    if number.is_some() && !after.as_bytes().get(4).is_some_and(|byte| is_word(*byte)) {
        return number;
    }
    let length = after
        .bytes()
        .take_while(|byte| is_word(*byte) && byte.is_ascii() || *byte == b'.')
        .count();
    let word = after[..length].starts_with(|c: char| c.is_ascii_alphabetic());
    (word && length > 1).then(|| &after[..length])
}

fn is_number(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether the byte is part of a word; bytes outside ASCII count as letters.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::for_each;

    #[test]
    fn c_2_1_names_in_texts() {
        for (text, expected) in [
            ("ThrottlingException: slow down", vec!["ThrottlingException"]),
            ("Error: overloaded_error", vec!["overloaded_error"]),
            ("Error: it broke", vec!["Error"]),
            ("\"rate_limit_exceeded\"", vec!["rate_limit_exceeded"]),
            ("[1305][busy]", vec!["1305"]),
            ("12 UNAVAILABLE: no", vec!["UNAVAILABLE"]),
            (
                "An error occurred (ExpiredTokenException) when",
                vec!["ExpiredTokenException"],
            ),
            ("insufficient balance (1008)", vec!["1008"]),
            (
                "failed, code: 1305, type=\"server_busy\"",
                vec!["1305", "server_busy"],
            ),
            ("failed, Reason : QUOTA.gone", vec!["QUOTA.gone"]),
            ("failed, barcode: 1305", vec![]),
            ("failed, code: 13055", vec![]),
            ("two words: here", vec![]),
            ("overloaded · retry", vec!["overloaded"]),
            ("", vec![]),
            ("code:", vec!["code"]),
            ("code=é", vec![]),
        ] {
            let mut found = Vec::new();
            for_each(text, true, |name| found.push(name));
            assert_eq!(found, expected, "{text}");
        }
    }
}
