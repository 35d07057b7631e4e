//! Links inside tokens: help pages say nothing about the failure (classify.md C-5).

use std::ops::Range;

/// Where the link of a token stands, if it has one.
pub(super) fn find(token: &str) -> Option<Range<usize>> {
    if !holds_mark(token) {
        return None;
    }
    let start = find_ignore_case(token, "http://").or_else(|| find_ignore_case(token, "https://"))?;
    let end = token[start..]
        .find(|c: char| !c.is_ascii() || matches!(c, '"' | '\'' | ')' | '>' | '<' | '`' | ']' | '}' | ','))
        .map_or(token.len(), |length| start + length);
    Some(start..end)
}

pub(super) fn holds_mark(token: &str) -> bool {
    let bytes = token.as_bytes();
    memchr::memchr_iter(b':', bytes).any(|at| bytes[at..].starts_with(b"://"))
}

fn find_ignore_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}
