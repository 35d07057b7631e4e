//! HTML pages that proxies and gateways send instead of an error object (classify.md C-5, beyond.md BL-85).

use crate::text::patterns::starts_with_ignore_case;

/// The most bytes before a page, which clients put in front of it.
const MAX_LEAD: usize = 256;

/// The offset where an HTML page begins in `text`, if there is one.
pub(crate) fn page_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', &bytes[..MAX_LEAD.min(bytes.len())]).find(|at| {
        ["!doctype html", "html", "head>", "body", "center>", "title>"]
            .iter()
            .any(|tag| starts_with_ignore_case(&bytes[at + 1..], tag))
    })
}

/// The title or first heading of a page, as one line.
pub(crate) fn page_title(text: &str) -> Option<String> {
    [("<title", "</title"), ("<h1", "</h1"), ("<h2", "</h2")]
        .iter()
        .find_map(|(open, close)| element(text, open, close))
        .map(|element| {
            let words: Vec<&str> = text_parts(element).flat_map(str::split_whitespace).collect();
            words.join(" ")
        })
        .filter(|title| !title.is_empty())
}

/// The text of a page without tags, scripts and styles: each part between two tags that is not blank.
pub(crate) fn text_parts(page: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(page);
    let between = std::iter::from_fn(move || {
        let text = rest?;
        let Some(open) = find(text, b'<') else {
            rest = None;
            return Some(text);
        };
        rest = Some(after_tag(&text[open..]));
        Some(&text[..open])
    });
    between.map(str::trim).filter(|words| !words.is_empty())
}

/// The text after the tag at the beginning of `text`, or after its element when that is a script or style.
fn after_tag(text: &str) -> &str {
    let skipped = ["</script", "</style"]
        .iter()
        .find(|end| starts_with_ignore_case(&text.as_bytes()[1..], &end[2..]))
        .map(|end| find_ignore_case(text, end).unwrap_or(text.len()));
    let text = &text[skipped.unwrap_or(0)..];
    find(text, b'>').map_or("", |end| &text[end + 1..])
}

/// The offset of a byte. Most tags and most text between them are short, so the first bytes are compared one by one.
fn find(text: &str, byte: u8) -> Option<usize> {
    const NEAR: usize = 24;
    let (near, far) = text.as_bytes().split_at(NEAR.min(text.len()));
    near.iter()
        .position(|other| *other == byte)
        .or_else(|| memchr::memchr(byte, far).map(|at| near.len() + at))
}

fn element<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let inner = &text[find_ignore_case(text, open)?..];
    let inner = &inner[find(inner, b'>')? + 1..];
    let end = find_ignore_case(inner, close).unwrap_or(inner.len());
    Some(&inner[..end])
}

/// The offset of `pattern`, which begins with `<`, in any case.
fn find_ignore_case(text: &str, pattern: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).find(|at| starts_with_ignore_case(&bytes[*at..], pattern))
}
