//! Reads a text: clips it, takes embedded objects out, separates what is quoted from upstream (classify.md C-2.1, C-2.4).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::byte_set::{Mark, Marks};
use super::{
    Facts, Pages, Sentences, Speaker, announcements, error_names, limit_comparison, members, status,
};
use crate::text::constant_regex::compile;
use crate::text::html;
use crate::text::lenient_json::{self as loose, Node};
use crate::text::normal::append;
use crate::text::patterns::starts_with_ignore_case;

/// Longer texts are judged on their ends (C-1.4).
const LIMIT: usize = 64 * 1024;
/// Texts inside texts inside texts: deeper ones are read as they stand.
const MAX_NESTING: usize = 8;
/// Objects that told nothing are searched for inner ones until they were read so many times their text; then they
/// are skipped whole, which keeps it linear.
const MAX_READINGS: usize = 4;
/// After so many of them a text is no longer searched; as many do not fit a text that means something.
const MAX_MISSES: usize = 1024;

/// What begins a quotation of somebody behind the party that answered, and where its `v` stands.
const QUOTES_UPSTREAM: &[(&str, usize)] = &[("error from provider", 14), ("all variants failed", 4)];

/// Reads `text` as said by `speaker`.
pub(super) fn read(facts: &mut Facts<'_>, speaker: Speaker, field: &'static str, text: &str, nesting: usize) {
    let clipped = clip(text);
    let text = if is_trimmed(&clipped) {
        &clipped
    } else {
        clipped.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}')
    };
    if text.is_empty() {
        return;
    }
    let marks = Marks::of(text);
    let page = || html::page_start(text);
    if let Some(at) = marks.may_hold(Mark::Tag).then(page).flatten() {
        plain(facts, speaker, field, &text[..at], marks);
        read_page(facts, speaker, field, &text[at..]);
    } else if let Some(at) = quotation(text, speaker, marks) {
        read_mixed(facts, Speaker::Own, field, &text[..at], nesting, marks);
        read_mixed(facts, Speaker::Upstream, field, &text[at..], nesting, marks);
    } else {
        read_mixed(facts, speaker, field, text, nesting, marks);
    }
}

/// Where our party begins to quote somebody behind it.
fn quotation(text: &str, speaker: Speaker, marks: Marks) -> Option<usize> {
    let may_quote = speaker == Speaker::Own && marks.may_hold(Mark::Quotation);
    may_quote.then(|| upstream_quote(text)).flatten()
}

/// Without blanks around it.
pub(super) fn trimmed(text: &str) -> &str {
    if is_trimmed(text) { text } else { text.trim() }
}

/// Whether there is nothing to trim, as with nearly all texts.
fn is_trimmed(text: &str) -> bool {
    matches!(text.as_bytes(), [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic())
}

fn read_page(facts: &mut Facts<'_>, speaker: Speaker, field: &'static str, text: &str) {
    facts.page |= speaker == Speaker::Own;
    let title = html::page_title(text).unwrap_or_default();
    let stated = status::stated(&title).or_else(|| {
        let (_, tail) = title.rsplit_once('|')?;
        status::stated(tail.trim())
    });
    let whole = speaker == Speaker::Upstream || facts.wanted.pages == Pages::Whole;
    let layer = facts.layer(speaker);
    layer.status = layer.status.or(stated.map(|stated| stated.status));
    if whole {
        let words: Vec<&str> = html::words(text).collect();
        layer.words(field, &words.join(" "));
    } else if html::words(text).any(is_said) {
        layer.words(field, "x");
    }
}

/// Whether the normal form of `words` is not empty.
fn is_said(words: &str) -> bool {
    let mut normal = String::new();
    append(&mut normal, words);
    !normal.is_empty()
}

/// A text that may hold objects.
fn read_mixed(
    facts: &mut Facts<'_>,
    speaker: Speaker,
    field: &'static str,
    text: &str,
    nesting: usize,
    marks: Marks,
) {
    if nesting >= MAX_NESTING {
        return plain(facts, speaker, field, text, marks);
    }
    if let Some(unquoted) = unquoted(text, marks) {
        return read(facts, speaker, field, &unquoted, nesting + 1);
    }
    let object = || next_object(text, 0);
    let Some(first) = marks.may_hold(Mark::Object).then(object).flatten() else {
        return plain(facts, speaker, field, text, marks);
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
        if let Some(found) = loose::read(&text[open..]) {
            if members::value(facts, speaker, field, &found.value, nesting) {
                outside.push_str(&text[kept..open]);
                if !outside.is_empty() {
                    outside.push(' ');
                }
                at = open + found.length;
                from = at;
                if open == first && at == text.len() {
                    // Nothing but the object, and what stands in front of it.
                    return plain(facts, speaker, field, &text[..first], marks);
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
    plain(facts, speaker, field, &outside, marks);
}

/// A text without objects.
fn plain(facts: &mut Facts<'_>, speaker: Speaker, field: &'static str, text: &str, marks: Marks) {
    let text = &without_request_id(text, marks);
    let text = trimmed(text);
    if text.is_empty() {
        return;
    }
    let stated = marks
        .may_hold(Mark::Status)
        .then(|| status::stated(text))
        .flatten();
    let layer = facts.layer(speaker);
    layer.status = layer.status.or(stated.as_ref().map(|stated| stated.status));
    if marks.may_hold(Mark::Body) && status::says_no_body(text) {
        return;
    }
    error_names::names(text, marks.may_hold(Mark::Name), |name| {
        facts.code(speaker, field, name);
    });
    let announced = announcements::announced(text, marks);
    if announced.size
        && let Some(relation) = limit_comparison::stated(head(text, 4096))
    {
        let codes = facts.wanted.codes;
        facts.layer(speaker).relation(codes, field, &relation);
    }
    let layer = facts.layer(speaker);
    match stated {
        // A bare number is all that was said; it is no empty answer.
        Some(stated) if stated.at == (0..text.len()) => layer.words(field, text),
        Some(stated) => {
            layer.words(field, &text[..stated.at.start]);
            layer.words(field, &text[stated.at.end..]);
        }
        None => layer.words(field, text),
    }
    let kept = match facts.wanted.sentences {
        Sentences::All => text.chars().any(char::is_alphanumeric),
        Sentences::Timed => announced.time,
    };
    if kept {
        facts.sentences.push(text.to_owned());
    }
}

/// The id of a request is no part of what was said, and its letters and digits are chance.
fn without_request_id(text: &str, marks: Marks) -> Cow<'_, str> {
    static ID: LazyLock<Regex> =
        LazyLock::new(|| compile(r"(?i)[(\[]?\brequest[ _-]?id\b\W{1,3}[\w-]+[)\]]?"));
    let may_request = marks.may_hold(Mark::Request) && may_name_request_id(text.as_bytes());
    if may_request && (text.contains("equest") || text.contains("EQUEST")) {
        ID.replace_all(text, "")
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether "id" stands right behind a word like "request", whose rarest letter is the `q`.
fn may_name_request_id(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'q', b'Q', text).any(|at| {
        let is_request = matches!(text[at + 1..], [b'u' | b'U', b'e' | b'E', ..]);
        let behind = &text[at + 1..text.len().min(at + 9)];
        is_request && behind.windows(2).any(|pair| pair.eq_ignore_ascii_case(b"id"))
    })
}

/// The next place where an object or a list of objects may begin.
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

/// The text inside, when `text` is one quoted string or an object with escaped quotes.
fn unquoted(text: &str, marks: Marks) -> Option<Cow<'_, str>> {
    if text.starts_with('"') {
        let found = loose::read(text)?;
        if text[found.length..].trim().is_empty() && found.length > 1 {
            return match found.value {
                Node::Text(inner) => Some(inner),
                Node::Null | Node::Bool | Node::Number(_) | Node::List(_) | Node::Object(_) => None,
            };
        }
    }
    (marks.may_hold(Mark::Escape)
        && memchr::memchr(b'\\', text.as_bytes()).is_some()
        && text.contains("{\\\"")
        && !text.contains("{\"")
        && !text.contains(":\""))
    .then(|| Cow::Owned(text.replace("\\\"", "\"").replace("\\\\", "\\")))
}

/// Both marks have one `v`, which is rare.
fn upstream_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'v', b'V', bytes).find_map(|at| {
        QUOTES_UPSTREAM.iter().find_map(|(mark, v)| {
            let start = at.checked_sub(*v)?;
            starts_with_ignore_case(&bytes[start..], mark).then_some(start)
        })
    })
}

/// The first and last 32 KiB of a text longer than 64 KiB (C-1.4).
pub(crate) fn clip(text: &str) -> Cow<'_, str> {
    if text.len() <= LIMIT {
        return text.into();
    }
    let front = head(text, LIMIT / 2);
    let back = &text[text.ceil_char_boundary(text.len() - LIMIT / 2)..];
    format!("{front}\n…\n{back}").into()
}

/// At most `length` bytes from the front, never half a character.
pub(super) fn head(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}
