//! Pages that proxies and gateways send instead of an error object (classify.md C-5, beyond.md BL-85).

/// How far into a text a page may begin; before it stands what a client put in front.
const LEAD: usize = 256;

/// Where a page begins in `text`, if it is one.
pub(crate) fn page_start(text: &str) -> Option<usize> {
    text.match_indices('<')
        .map(|(at, _)| at)
        .take_while(|at| *at < LEAD)
        .find(|at| {
            ["!doctype html", "html", "head>", "body", "center>", "title>"]
                .iter()
                .any(|tag| starts_with_ignore_case(&text[at + 1..], tag))
        })
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

/// The place of a needle that begins with `<`.
fn find_ignore_case(text: &str, needle: &str) -> Option<usize> {
    text.match_indices('<')
        .map(|(at, _)| at)
        .find(|at| starts_with_ignore_case(&text[*at..], needle))
}
