//! Reading a message or body: clips it, takes embedded objects out and separates quoted upstream errors (classify.md
//! C-2.1, C-2.4).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::byte_set::{ByteKind, ByteSet};
use super::{
    Facts, Origin, PageDetail, SentenceFilter, announcements, error_names, limit_comparison, members, status,
};
use crate::text::constant_regex::compile;
use crate::text::html;
use crate::text::lenient_json::{self, Json};
use crate::text::normal::append;
use crate::text::patterns::starts_with_ignore_case;

/// Of longer texts, in bytes, only the two ends are read (C-1.4).
const MAX_TEXT: usize = 64 * 1024;
/// How deep texts inside texts are unwrapped; deeper ones are read as plain text.
const MAX_NESTING: usize = 8;
/// Objects without facts are searched for inner objects until this many times the length of the text was read; from
/// then on they are skipped whole, which keeps the time linear.
const MAX_READINGS: usize = 4;
/// After this many objects without facts the search ends.
const MAX_MISSES: usize = 1024;

/// The beginnings of a quoted upstream error, each with the offset of its `v`.
const QUOTES_UPSTREAM: &[(&str, usize)] = &[("error from provider", 14), ("all variants failed", 4)];

/// Adds the facts of `text`.
pub(super) fn read(facts: &mut Facts<'_>, origin: Origin, field: &'static str, text: &str, nesting: usize) {
    let clipped = clip(text);
    let text = if is_trimmed(&clipped) {
        &clipped
    } else {
        clipped.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
    };
    if text.is_empty() {
        return;
    }
    let kinds = ByteSet::of(text);
    let page = || html::page_start(text);
    if let Some(at) = kinds.may_contain(ByteKind::Tag).then(page).flatten() {
        read_plain(facts, origin, field, &text[..at], kinds);
        read_page(facts, origin, field, &text[at..]);
    } else if let Some(at) = quotation(text, origin, kinds) {
        read_mixed(facts, Origin::Own, field, &text[..at], nesting, kinds);
        read_mixed(facts, Origin::Upstream, field, &text[at..], nesting, kinds);
    } else {
        read_mixed(facts, origin, field, text, nesting, kinds);
    }
}

/// The offset where a quoted upstream error begins.
fn quotation(text: &str, origin: Origin, kinds: ByteSet) -> Option<usize> {
    let may_quote = origin == Origin::Own && kinds.may_contain(ByteKind::Quotation);
    may_quote.then(|| upstream_quote(text)).flatten()
}

/// `text` without blanks around it.
pub(super) fn trimmed(text: &str) -> &str {
    if is_trimmed(text) { text } else { text.trim() }
}

/// True for texts without blanks around them, which nearly all are. May be false for some of them.
fn is_trimmed(text: &str) -> bool {
    matches!(text.as_bytes(), [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic())
}

/// Adds the facts of an HTML page: the status in its title, and its text as far as the options ask for it.
fn read_page(facts: &mut Facts<'_>, origin: Origin, field: &'static str, text: &str) {
    facts.page |= origin == Origin::Own;
    let title = html::page_title(text).unwrap_or_default();
    let stated = status::find(&title).or_else(|| {
        let (_, tail) = title.rsplit_once('|')?;
        status::find(tail.trim())
    });
    let whole = origin == Origin::Upstream || facts.options.pages == PageDetail::Full;
    let layer = facts.layer(origin);
    layer.status = layer.status.or(stated.map(|stated| stated.status));
    if whole {
        let words: Vec<&str> = html::text_parts(text).collect();
        layer.add_text(field, &words.join(" "));
    } else if html::text_parts(text).any(has_text) {
        layer.add_text(field, "x");
    }
}

/// Whether the normal form of `words` is not empty.
fn has_text(words: &str) -> bool {
    let mut normal = String::new();
    append(&mut normal, words);
    !normal.is_empty()
}

/// Adds the facts of a text that may contain objects.
fn read_mixed(
    facts: &mut Facts<'_>,
    origin: Origin,
    field: &'static str,
    text: &str,
    nesting: usize,
    kinds: ByteSet,
) {
    if nesting >= MAX_NESTING {
        return read_plain(facts, origin, field, text, kinds);
    }
    if let Some(unquoted) = unquoted(text, kinds) {
        return read(facts, origin, field, &unquoted, nesting + 1);
    }
    let object = || next_object(text, 0);
    let Some(first) = kinds.may_contain(ByteKind::Object).then(object).flatten() else {
        return read_plain(facts, origin, field, text, kinds);
    };
    let mut outside = String::new();
    let mut at = 0;
    let mut from = first;
    let mut left = text.len().saturating_mul(MAX_READINGS);
    let mut misses = 0;
    while let Some(open) = next_object(text, from).filter(|_| misses < MAX_MISSES) {
        let kept = at;
        at = open + 1;
        from = at;
        if let Some(found) = lenient_json::parse(&text[open..]) {
            if members::read_value(facts, origin, field, &found.value, nesting) {
                outside.push_str(&text[kept..open]);
                if !outside.is_empty() {
                    outside.push(' ');
                }
                at = open + found.length;
                from = at;
                if open == first && at == text.len() {
                    // The text is the object and what precedes it, so nothing needs to be joined.
                    return read_plain(facts, origin, field, &text[..first], kinds);
                }
                continue;
            }
            misses += 1;
            left = left.saturating_sub(found.length);
            if left == 0 {
                at = open + found.length;
                from = at;
            }
        }
        outside.push_str(&text[kept..at]);
    }
    outside.push_str(&text[at..]);
    read_plain(facts, origin, field, &outside, kinds);
}

/// Adds the facts of a text without objects.
fn read_plain(facts: &mut Facts<'_>, origin: Origin, field: &'static str, text: &str, kinds: ByteSet) {
    let text = &without_request_id(text, kinds);
    let text = trimmed(text);
    if text.is_empty() {
        return;
    }
    let stated = kinds
        .may_contain(ByteKind::Status)
        .then(|| status::find(text))
        .flatten();
    let layer = facts.layer(origin);
    layer.status = layer.status.or(stated.as_ref().map(|stated| stated.status));
    if kinds.may_contain(ByteKind::Body) && status::says_no_body(text) {
        return;
    }
    error_names::for_each(text, kinds.may_contain(ByteKind::Name), |name| {
        facts.add_code(origin, field, name);
    });
    let announced = announcements::find(text, kinds);
    if announced.size
        && let Some(comparison) = limit_comparison::find(head(text, 4096))
    {
        let codes = facts.options.codes;
        facts.layer(origin).add_comparison(codes, field, &comparison);
    }
    let layer = facts.layer(origin);
    match stated {
        // A text that is only a status is kept, because it is no empty response.
        Some(stated) if stated.range == (0..text.len()) => layer.add_text(field, text),
        Some(stated) => {
            layer.add_text(field, &text[..stated.range.start]);
            layer.add_text(field, &text[stated.range.end..]);
        }
        None => layer.add_text(field, text),
    }
    let kept = match facts.options.sentences {
        SentenceFilter::All => text.chars().any(char::is_alphanumeric),
        SentenceFilter::WithTime => announced.time || super::may_state_end(text),
    };
    if kept {
        facts.sentences.push(text.to_owned());
    }
}

/// `text` without request ids, whose random letters and digits could match something.
fn without_request_id(text: &str, kinds: ByteSet) -> Cow<'_, str> {
    static ID: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)[(\[]?\brequest[ _-]?id\b\W{1,3}[\w-]+[)\]]?"));
    let may_request = kinds.may_contain(ByteKind::Request) && may_name_request_id(text.as_bytes());
    if may_request && (text.contains("equest") || text.contains("EQUEST")) {
        ID.replace_all(text, "")
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether "id" follows right after a word like "request", which is found by its rarest letter, `q`.
fn may_name_request_id(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'q', b'Q', text).any(|at| {
        let is_request = matches!(text[at + 1..], [b'u' | b'U', b'e' | b'E', ..]);
        let behind = &text[at + 1..text.len().min(at + 9)];
        is_request && behind.windows(2).any(|pair| pair.eq_ignore_ascii_case(b"id"))
    })
}

/// The next offset where an object or a list of objects may begin.
fn next_object(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let holds_key = |at: usize| {
        bytes.get(at).is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"\"'_$@}".contains(byte)
        })
    };
    let opens = |at: usize| match (bytes[at], bytes.get(at + 1)) {
        (b'{', _) => holds_key(at + 1),
        (_, Some(b'{')) => holds_key(at + 2),
        (_, next) => next == Some(&b'"'),
    };
    let marks = memchr::memchr2_iter(b'{', b'[', bytes.get(from..)?);
    marks.map(|mark| from + mark).find(|at| opens(*at))
}

/// The unescaped text, when `text` is one quoted string or an object with escaped quotes.
fn unquoted(text: &str, kinds: ByteSet) -> Option<Cow<'_, str>> {
    if text.starts_with('"') {
        let found = lenient_json::parse(text)?;
        if text[found.length..].trim().is_empty() && found.length > 1 {
            return match found.value {
                Json::Text(inner) => Some(inner),
                Json::Null | Json::Bool | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
            };
        }
    }
    (kinds.may_contain(ByteKind::Escape)
        && memchr::memchr(b'\\', text.as_bytes()).is_some()
        && text.contains("{\\\"")
        && !text.contains("{\"")
        && !text.contains(":\""))
    .then(|| Cow::Owned(text.replace("\\\"", "\"").replace("\\\\", "\\")))
}

/// The offset of a quoted upstream error, found by the one `v` that both beginnings have, because `v` is rare.
fn upstream_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'v', b'V', bytes).find_map(|at| {
        QUOTES_UPSTREAM.iter().find_map(|(mark, v)| {
            let start = at.checked_sub(*v)?;
            starts_with_ignore_case(&bytes[start..], mark).then_some(start)
        })
    })
}

/// The first and last 32 KiB of a text longer than 64 KiB, any other text as it is (C-1.4).
pub(crate) fn clip(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT {
        return text.into();
    }
    let front = head(text, MAX_TEXT / 2);
    let back = &text[text.ceil_char_boundary(text.len() - MAX_TEXT / 2)..];
    format!("{front}\n…\n{back}").into()
}

/// At most the first `length` bytes, without cutting a character.
pub(super) fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
