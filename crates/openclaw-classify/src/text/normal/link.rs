//! Links inside tokens: help pages say nothing about the failure (classify.md C-5).

use std::ops::Range;

use super::token::{COLON, SLASH, Token};

/// Where the link of a token stands, if it has one.
pub(super) fn find(token: &Token<'_>) -> Option<Range<usize>> {
    let text = token.text;
    let mut secure = None;
    let plain = marks(token).find_map(|mark| {
        let before = text.as_bytes().get(..mark)?;
        if ends_with_ignore_case(before, b"https") {
            secure = secure.or(Some(mark - 5));
        }
        ends_with_ignore_case(before, b"http").then_some(mark.checked_sub(4)?)
    });
    let start = plain.or(secure)?;
    let end = text[start..]
        .find(|c: char| !c.is_ascii() || matches!(c, '"' | '\'' | ')' | '>' | '<' | '`' | ']' | '}' | ','))
        .map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// Where `://` stands in a token.
fn marks<'t>(token: &Token<'t>) -> impl Iterator<Item = usize> + 't {
    let colons =
        (token.holds(COLON) && token.holds(SLASH)).then(|| memchr::memchr_iter(b':', token.text.as_bytes()));
    let bytes = token.text.as_bytes();
    colons
        .into_iter()
        .flatten()
        .filter(|at| bytes[*at..].starts_with(b"://"))
}

fn ends_with_ignore_case(text: &[u8], end: &[u8]) -> bool {
    let from = text.len().checked_sub(end.len());
    from.is_some_and(|from| text[from..].eq_ignore_ascii_case(end))
}
