//! The normal form of text, in which phrases are matched (classify.md C-2.3).

mod link;
mod name;
mod token;

use std::borrow::Cow;
use std::ops::Range;

use name::{closes_prompt, inner_range, is_name, opens_prompt};
use token::{Token, first_token, is_blank, plain_run, without_blanks};

/// Replaces separators inside names. It counts as a letter, so that no phrase matches inside a name.
pub(crate) const NAME_JOINT: char = '·';
/// Separates texts of different fields; no phrase matches across it.
pub(crate) const SEGMENT: char = '\u{1}';

/// Appends the normal form of `text`: lower case, one blank for each run of blanks, `_` and `-`, straight quotes, no
/// links, and [`NAME_JOINT`] in names of models, files and parameters.
pub(crate) fn append(out: &mut String, text: &str) {
    let text = text.trim();
    let start = out.len();
    // A joint is longer than the separator that it replaces.
    out.reserve(text.len() + text.len() / 16 + 16);
    let mut previous = "";
    let mut quoted_prompt: Option<char> = None;
    let mut rest = text;
    loop {
        rest = without_blanks(rest);
        if rest.is_empty() {
            break;
        }
        if quoted_prompt.is_none() {
            let run = plain_run(rest);
            if run.end > 0 {
                push_separator(out, start);
                out.push_str(&rest[..run.end]);
                previous = &rest[run.last..run.end];
                rest = &rest[run.end..];
                continue;
            }
        }
        let token = first_token(rest);
        rest = &rest[token.text.len()..];
        if let Some(close) = quoted_prompt {
            if closes_prompt(token.text, close) {
                quoted_prompt = None;
            }
            continue;
        }
        if let Some(close) = opens_prompt(previous, token.text) {
            push_separator(out, start);
            out.push(NAME_JOINT);
            let opened = token.text.chars().next().map_or(0, char::len_utf8);
            quoted_prompt = (!closes_prompt(&token.text[opened..], close)).then_some(close);
            previous = token.text;
            continue;
        }
        push_separator(out, start);
        let name = is_name(&token, previous, token.text.len() == text.len());
        push_token(out, start, &token, name);
        previous = token.text;
    }
    let end = out.trim_end_matches(' ').len();
    out.truncate(end.max(start));
    // Characters outside ASCII are in lower case already.
    out[start..].make_ascii_lowercase();
}

/// The normal form of a phrase, in which nothing is a name or a link.
pub(crate) fn phrase_form(text: &str) -> String {
    let mut out = String::new();
    for token in text.split(is_blank).filter(|token| !token.is_empty()) {
        push_separator(&mut out, 0);
        push_token(&mut out, 0, &first_token(token), false);
    }
    out.make_ascii_lowercase();
    out
}

/// The form in which codes are compared: letters and digits only, in lower case (C-4).
pub(crate) fn code_key(code: &str) -> Cow<'_, str> {
    let is_kept = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if code.bytes().all(is_kept) {
        return Cow::Borrowed(code);
    }
    let mut key = String::with_capacity(code.len());
    for c in code.chars().filter(|c| is_alphanumeric(*c)) {
        if c.is_ascii() {
            key.push(c.to_ascii_lowercase());
        } else {
            key.extend(c.to_lowercase());
        }
    }
    Cow::Owned(key)
}

/// Whether `key`, lower-case ASCII letters and digits, is the [`code_key`] of `code`.
pub(crate) fn is_code_key(code: &str, key: &str) -> bool {
    if !code.is_ascii() {
        return code_key(code) == key;
    }
    let letters = code.bytes().filter(u8::is_ascii_alphanumeric);
    letters.map(|byte| byte.to_ascii_lowercase()).eq(key.bytes())
}

/// Same as `char::is_alphanumeric`, without its table look-up for ASCII and common punctuation.
pub(crate) fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || !c.is_ascii() && !('\u{2000}'..='\u{206F}').contains(&c) && c.is_alphanumeric()
}

fn push_separator(out: &mut String, start: usize) {
    if out.len() > start && !out.ends_with([' ', SEGMENT]) {
        out.push(' ');
    }
}

/// Appends a token; its ASCII letters are lower-cased later.
fn push_token(out: &mut String, start: usize, token: &Token<'_>, name: bool) {
    let text = token.text;
    let link = link::find(token);
    if token.holds(token::NON_ASCII | token::SPECIAL) || link.is_some() {
        return push_characters(out, start, text, link.as_ref(), name);
    }
    if !name {
        return push_parts(out, start, token);
    }
    let inner = inner_range(text);
    push_edge(out, start, &text[..inner.start]);
    out.push(NAME_JOINT);
    let mut from = inner.start;
    for (at, _) in text[inner.clone()]
        .bytes()
        .enumerate()
        .filter(|(_, byte)| !byte.is_ascii_alphanumeric())
    {
        let at = inner.start + at;
        out.push_str(&text[from..at]);
        out.push(NAME_JOINT);
        from = at + 1;
    }
    out.push_str(&text[from..inner.end]);
    push_edge(out, start, &text[inner.end..]);
}

/// Appends the punctuation around a name, as elsewhere.
fn push_edge(out: &mut String, start: usize, punctuation: &str) {
    for c in punctuation.chars() {
        match c {
            '_' | '-' => push_separator(out, start),
            _ => out.push(c),
        }
    }
}

/// Appends a token with a link, or with characters outside ASCII that have a normal form.
fn push_characters(out: &mut String, start: usize, token: &str, link: Option<&Range<usize>>, name: bool) {
    let opening = token.find(is_alphanumeric).filter(|_| name && link.is_none());
    for (index, c) in token.char_indices() {
        if opening == Some(index) {
            out.push(NAME_JOINT);
        }
        if link.is_some_and(|link| link.contains(&index)) {
            if link.is_some_and(|link| link.start == index) {
                out.push(NAME_JOINT);
            }
            continue;
        }
        match c {
            _ if name && !is_alphanumeric(c) && !is_edge(token, index) => out.push(NAME_JOINT),
            '_' | '-' | '\u{2010}'..='\u{2015}' => push_separator(out, start),
            '‘' | '’' | '‚' | '‛' | '′' => out.push('\''),
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => out.push('"'),
            '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}'
            | '\u{AD}'
            | SEGMENT => {}
            '\u{FF01}'..='\u{FF5E}' => {
                let ascii = u32::from(c) - 0xFEE0;
                out.extend(char::from_u32(ascii).into_iter().flat_map(char::to_lowercase));
            }
            _ if c.is_ascii() => out.push(c),
            _ => out.extend(c.to_lowercase()),
        }
    }
}

/// Appends a token in which only separators are replaced.
fn push_parts(out: &mut String, start: usize, token: &Token<'_>) {
    if !token.holds(token::SEPARATOR) {
        return out.push_str(token.text);
    }
    for (number, part) in token.text.split(['_', '-']).enumerate() {
        if number > 0 {
            push_separator(out, start);
        }
        out.push_str(part);
    }
}

/// Whether the character at `index` is before or after all letters and digits of the token.
fn is_edge(token: &str, index: usize) -> bool {
    let inner = |part: &str| part.chars().any(is_alphanumeric);
    !inner(&token[..index]) || !inner(&token[index..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut out = String::new();
        append(&mut out, text);
        out
    }

    #[test]
    fn c_2_3_case_separators_and_quotes_are_equal() {
        for (text, expected) in [
            ("  Rate_LIMIT--exceeded\n\tnow ", "rate limit exceeded now"),
            ("isn’t “so it”", "isn't \"so it\""),
            ("too\u{a0}many\u{2028}requests", "too many requests"),
            ("ＲＡＴＥ ｌｉｍｉｔ", "rate limit"),
            ("\u{202e}Too many requests\u{202c}", "too many requests"),
            ("Too many\0 requests", "too many\0 requests"),
            (
                "see https://x.example/rate-limit, then retry",
                "see ·, then retry",
            ),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn c_5_phrases_do_not_match_inside_names() {
        for (text, expected) in [
            ("model `rate-limit-9b` is gone", "model `·rate·limit·9b` is gone"),
            ("acme/overloaded-7b", "·acme·overloaded·7b"),
            ("parameter: rate_limit", "parameter: ·rate·limit"),
            (
                "property 'authentication' is bad",
                "property '·authentication' is bad",
            ),
            ("open rate_limit.ts now", "open ·rate·limit·ts now"),
            ("Weekly/Monthly Limit", "weekly/monthly limit"),
            ("your prompt \"say rate limit\" is bad", "your prompt · is bad"),
            ("they said 'don't rate limit me', so", "they said · so"),
        ] {
            assert_eq!(normal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn c_4_codes_are_letters_and_digits() {
        assert_eq!(
            code_key(" Throttling.Allocation-Quota_1 "),
            "throttlingallocationquota1"
        );
    }
}
