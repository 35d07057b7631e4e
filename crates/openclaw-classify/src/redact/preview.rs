//! Short, redacted forms of provider texts for people (beyond.md BL-85, runner.md ).

use super::redact;
use crate::text::html::{page_start, page_title};

/// How much text after the cut is redacted too, in UTF-16 units.
const MARGIN: usize = 4096;

/// `text` redacted, an HTML page as one line, and cut to at most `max` UTF-16 units; `…` then follows the cut.
///
/// Never cuts a code point in half; the ellipsis comes on top of `max`.
pub fn preview(text: &str, max: usize) -> String {
    let text = text.trim();
    let page = one_line(text);
    let text = page.as_deref().unwrap_or(text);
    // The margin keeps a secret whole that the cut falls into, so that it is recognised; text after it is not needed.
    let ahead = end_of(text, max.saturating_add(MARGIN));
    let masked = redact(&text[..ahead]);
    let cut = end_of(&masked, max);
    if cut == masked.len() && ahead == text.len() {
        return masked;
    }
    format!("{}…", &masked[..cut])
}

/// An HTML page as one line; `None` for any other text.
fn one_line(text: &str) -> Option<String> {
    let at = page_start(text)?;
    let before = text[..at].split_whitespace().collect::<Vec<_>>().join(" ");
    let title = page_title(text).unwrap_or_else(|| "untitled".to_owned());
    let gap = if before.is_empty() { "" } else { " " };
    Some(format!("{before}{gap}HTML page: {title}"))
}

/// The byte offset of the last code point boundary within `max` UTF-16 units.
fn end_of(text: &str, max: usize) -> usize {
    // No text has more UTF-16 units than bytes.
    if text.len() <= max {
        return text.len();
    }
    let mut units = 0;
    for (at, c) in text.char_indices() {
        units += c.len_utf16();
        if units > max {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bl_85_pages_are_one_line_and_cuts_are_clean() {
        for (text, max, expected) in [
            ("short", 10, "short"),
            ("0123456789", 4, "0123…"),
            ("ab😀cd", 3, "ab…"),
            ("ab😀cd", 4, "ab😀…"),
            (
                "<html>\n<head><title>502 Bad\nGateway</title></head><body>x</body></html>",
                200,
                "HTML page: 502 Bad Gateway",
            ),
            (
                "HTTP 502: <html><body>x</body></html>",
                200,
                "HTTP 502: HTML page: untitled",
            ),
            ("", 10, ""),
        ] {
            assert_eq!(preview(text, max), expected, "{text}");
        }
    }

    #[test]
    fn bl_84_a_secret_at_the_cut_is_masked_first() {
        let text = format!("{} sk-proj-{}", "x".repeat(30), "a1".repeat(40));
        assert!(!preview(&text, 50).contains("a1a1a1"), "{}", preview(&text, 50));
    }
}
