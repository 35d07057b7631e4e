//! Links inside tokens, which are removed because a link to a help page is no evidence (classify.md C-5).

use std::ops::Range;

use super::token::{COLON, SLASH, Token};

/// The range of the link in a token, if it has one.
pub(super) fn find(token: &Token<'_>) -> Option<Range<usize>> {
    let text = token.text;
    let mut secure = None;
    let plain = schemes(token).find_map(|colon| {
        let before = text.as_bytes().get(..colon)?;
        if ends_with_ignore_case(before, b"https") {
            secure = secure.or(Some(colon - 5));
        }
        ends_with_ignore_case(before, b"http").then_some(colon.checked_sub(4)?)
    });
    let start = plain.or(secure)?;
    let end = text[start..]
        .find(|c: char| !c.is_ascii() || matches!(c, '"' | '\'' | ')' | '>' | '<' | '`' | ']' | '}' | ','))
        .map_or(text.len(), |length| start + length);
    Some(start..end)
}

/// The offsets of `://` in a token.
fn schemes<'t>(token: &Token<'t>) -> impl Iterator<Item = usize> + 't {
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
