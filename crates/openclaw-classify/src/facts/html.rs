//! Pages that proxies and gateways send instead of an error object (classify.md C-5, beyond.md BL-85).

use crate::needles::starts_with_ignore_case;

/// How far into a text a page may begin; before it stands what a client put in front.
const LEAD: usize = 256;

/// Where a page begins in `text`, if it is one.
pub(crate) fn page_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', &bytes[..LEAD.min(bytes.len())]).find(|at| {
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
        .map(|element| words(element).split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|title| !title.is_empty())
}

/// The words of a page without tags, scripts and styles; blanks between them as they come.
pub(super) fn words(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(open) = find(rest, b'<') {
        push_words(&mut out, &rest[..open]);
        rest = &rest[open..];
        let skipped = ["</script", "</style"]
            .iter()
            .find(|end| starts_with_ignore_case(&rest.as_bytes()[1..], &end[2..]))
            .map(|end| find_ignore_case(rest, end).unwrap_or(rest.len()));
        if let Some(end) = skipped {
            rest = &rest[end..];
        }
        rest = find(rest, b'>').map_or("", |end| &rest[end + 1..]);
    }
    push_words(&mut out, rest);
    out
}

fn push_words(out: &mut String, text: &str) {
    let text = text.trim();
    if !text.is_empty() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(text);
    }
}

fn find(text: &str, byte: u8) -> Option<usize> {
    memchr::memchr(byte, text.as_bytes())
}

fn element<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let inner = &text[find_ignore_case(text, open)?..];
    let inner = &inner[find(inner, b'>')? + 1..];
    let end = find_ignore_case(inner, close).unwrap_or(inner.len());
    Some(&inner[..end])
}

/// The place of a needle that begins with `<`.
fn find_ignore_case(text: &str, needle: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'<', bytes).find(|at| starts_with_ignore_case(&bytes[*at..], needle))
}
