//! Pages that proxies and gateways send instead of an error object (classify.md C-5, beyond.md BL-85).

/// True for a text that is a page.
pub(super) fn is_page(text: &str) -> bool {
    let head = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}');
    ["<!doctype html", "<html", "<head", "<body", "<center", "<title"]
        .iter()
        .any(|tag| starts_with_ignore_case(head, tag))
}

/// The title or first heading of a page, as one line.
pub(crate) fn page_title(text: &str) -> Option<String> {
    ["title", "h1", "h2"]
        .iter()
        .find_map(|tag| element(text, tag))
        .map(words)
        .filter(|title| !title.is_empty())
}

/// The words of a page without tags, scripts and styles.
pub(super) fn words(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(open) = rest.find('<') {
        push_words(&mut out, &rest[..open]);
        rest = &rest[open..];
        let skipped = ["script", "style"]
            .iter()
            .find(|tag| starts_with_ignore_case(&rest[1..], tag))
            .map(|tag| find_ignore_case(rest, &format!("</{tag}")).unwrap_or(rest.len()));
        if let Some(end) = skipped {
            rest = &rest[end..];
        }
        rest = rest.find('>').map_or("", |end| &rest[end + 1..]);
    }
    push_words(&mut out, rest);
    out
}

fn push_words(out: &mut String, text: &str) {
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
}

fn element<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let open = find_ignore_case(text, &format!("<{tag}"))?;
    let inner = &text[open..];
    let inner = &inner[inner.find('>')? + 1..];
    let end = find_ignore_case(inner, &format!("</{tag}")).unwrap_or(inner.len());
    Some(&inner[..end])
}

fn starts_with_ignore_case(text: &str, prefix: &str) -> bool {
    text.as_bytes()
        .get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn find_ignore_case(text: &str, needle: &str) -> Option<usize> {
    text.as_bytes()
        .windows(needle.len())
        .position(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
}
