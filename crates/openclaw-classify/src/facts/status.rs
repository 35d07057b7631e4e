//! The HTTP status in a message (classify.md C-2.2): leading or labelled, never a number somewhere in prose.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::message::head;
use crate::text::constant_regex::compile;
use crate::text::patterns::starts_with_ignore_case;

/// A status in a message.
pub(super) struct StatusText {
    pub(super) status: u16,
    /// The bytes of the status with its label and reason phrase; they are no part of the message.
    pub(super) range: Range<usize>,
}

/// How many bytes at the beginning of a text are searched.
const WINDOW: usize = 256;

/// A number at the beginning of the text or after a label that says that it is a status.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?ix)
        (?: ^ [\s"'\[(<]* (?: error \s* :? \s* )?
          | (?: ^ | [\s:·.\[(/-] ) (?: http (?: /[\d.]+ )? | status (?: [\s_]code )? | (?: http | api | response ) \s (?: status | error | code ) (?: \s code )?
              | error | upstream | upstream \s error | got \s status ) \s* [:=(\[]? \s*
          | \b (?: error | exception ) \s \(
        )
        ( [45]\d\d ) (?: \b | $ )
        | (?: ^ | [\s:·.\[(-] ) error \s code \s* [:=]? \s* ( [45]\d\d ) \s* [-–{(:]"#,
    )
});

/// A number with its reason phrase, anywhere in the text.
static WITH_PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    let pairs: Vec<String> = PHRASES
        .iter()
        .map(|(status, phrases)| format!("{status}[\\s:-]+(?:{})", phrases.join("|").replace(' ', "\\s")))
        .collect();
    compile(&format!(
        r"(?i)\b(?:{}|[45]\d\d\sstatus\scode)\b",
        pairs.join("|")
    ))
});

/// The reason phrases of HTTP, which add nothing to the status.
#[rustfmt::skip]
const PHRASES: &[(&str, &[&str])] = &[
    ("400", &["bad request"]), ("401", &["unauthorized", "authorization required"]), ("402", &["payment required"]), ("403", &["forbidden"]),
    ("404", &["not found"]), ("405", &["method not allowed"]), ("408", &["request timeout", "request time-out"]), ("409", &["conflict"]), ("410", &["gone"]),
    ("413", &["payload too large", "request entity too large", "content too large", "request too large"]),
    ("422", &["unprocessable entity", "unprocessable content"]), ("429", &["too many requests"]), ("500", &["internal server error"]), ("502", &["bad gateway"]),
    ("503", &["service temporarily unavailable", "service unavailable"]), ("504", &["gateway timeout", "gateway time-out"]),
];

/// Statements of clients that there was no body.
static NO_BODY: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?ix) ^ \W* (?: http \s* )? (?: [1-5]\d\d [\s:]* )* (?: status \s code )? \W* (?: no \s body (?: \s response )? | no \s response \s body | empty \s (?: response \s )? body ) \W* $",
    )
});

/// The status at the beginning of `text`.
pub(super) fn find(text: &str) -> Option<StatusText> {
    let head = head(text, WINDOW);
    if !may_contain_status(head) {
        return None;
    }
    if let Some(number) = leading(head) {
        let end = phrase_end(head, number).unwrap_or(number + 3);
        let decimal = end == number + 3 && is_decimal(head, end);
        return (!decimal)
            .then(|| status_text(head, &(number..end), 0..end))
            .flatten();
    }
    by_regex(head)
}

fn by_regex(head: &str) -> Option<StatusText> {
    let phrase = WITH_PHRASE.find(head).map(|found| found.range());
    let label = LABELLED.captures(head).and_then(|found| {
        Some((
            found.get(0)?.start(),
            found.get(1).or_else(|| found.get(2))?.range(),
        ))
    });
    match (phrase, label) {
        (Some(phrase), Some((start, number)))
            if number.start >= phrase.start || number.end > phrase.start =>
        {
            status_text(head, &phrase, start.min(phrase.start)..phrase.end)
        }
        (_, Some((start, number))) => (!is_decimal(head, number.end))
            .then(|| status_text(head, &number, start..number.end))
            .flatten(),
        (Some(phrase), None) => status_text(head, &phrase, phrase.clone()),
        (None, None) => None,
    }
}

/// False for texts without a number that could be a status, which are most and need no regular expression.
fn may_contain_status(text: &str) -> bool {
    memchr::memchr2_iter(b'4', b'5', text.as_bytes()).any(|at| is_status(text.as_bytes(), at))
}

/// Whether a number from 400 to 599 is at `at`, with no word character after it.
fn is_status(text: &[u8], at: usize) -> bool {
    matches!(text.get(at..), Some([b'4' | b'5', ten, one, rest @ ..])
        if ten.is_ascii_digit() && one.is_ascii_digit() && !rest.first().copied().is_some_and(is_word))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

fn skip(text: &[u8], from: usize, skipped: impl Fn(u8) -> bool) -> usize {
    text[from..]
        .iter()
        .position(|byte| !skipped(*byte))
        .map_or(text.len(), |length| from + length)
}

/// The offset of the number in the most common beginnings: `429`, `Error: 429`, `HTTP 429`, `HTTP/1.1 429`. With
/// [`phrase_end`] it finds in ASCII what the regular expressions find, only faster; all else is left to them.
fn leading(head: &str) -> Option<usize> {
    if !head.is_ascii() {
        return None;
    }
    let bytes = head.as_bytes();
    let label = ["error", "http"]
        .iter()
        .find(|label| starts_with_ignore_case(bytes, label));
    let number = match label {
        None => skip(bytes, 0, |byte| is_blank(byte) || b"\"'[(<".contains(&byte)),
        Some(label) => {
            let mut at = label.len();
            if *label == "http" && bytes.get(at) == Some(&b'/') {
                let version = skip(bytes, at + 1, |byte| byte.is_ascii_digit() || byte == b'.');
                if version == at + 1 {
                    return None;
                }
                at = version;
            }
            at = skip(bytes, at, is_blank);
            if matches!(bytes.get(at), Some(b':' | b'=' | b'(' | b'[')) {
                at = skip(bytes, at + 1, is_blank);
            }
            if is_word(bytes[at - 1]) {
                return None;
            }
            at
        }
    };
    is_status(bytes, number).then_some(number)
}

/// The end of the reason phrase, or of the words "status code", after the status at `number`.
fn phrase_end(head: &str, number: usize) -> Option<usize> {
    let bytes = head.as_bytes();
    let ends = |from: usize, phrase: &str| {
        let end = from + phrase.len();
        let found = bytes.get(from..end)?;
        let same = found
            .iter()
            .zip(phrase.bytes())
            .all(|(byte, wanted)| byte.to_ascii_lowercase() == wanted || wanted == b' ' && is_blank(*byte));
        (same && !bytes.get(end).copied().is_some_and(is_word)).then_some(end)
    };
    let after = number + 3;
    let (_, phrases) = PHRASES
        .iter()
        .find(|(status, _)| status.as_bytes().first_chunk::<3>() == bytes[number..].first_chunk())
        .unwrap_or(&("", &[]));
    let from = skip(bytes, after, |byte| is_blank(byte) || matches!(byte, b':' | b'-'));
    let phrase = phrases
        .iter()
        .filter(|_| from > after)
        .find_map(|phrase| ends(from, phrase));
    phrase.or_else(|| ends(after, " status code"))
}

fn is_decimal(head: &str, end: usize) -> bool {
    head[end..].starts_with(['.', '_', '%']) && !ends_sentence(head, end)
}

fn status_text(head: &str, number: &Range<usize>, range: Range<usize>) -> Option<StatusText> {
    let status = head.get(number.start..number.start + 3)?.parse().ok()?;
    Some(StatusText { status, range })
}

fn ends_sentence(head: &str, dot: usize) -> bool {
    head[dot..].starts_with('.') && !head[dot + 1..].starts_with(|c: char| c.is_ascii_digit())
}

/// True when the text says only that there was no body.
pub(super) fn says_no_body(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut marks = memchr::memchr2_iter(b'b', b'B', bytes);
    text.len() < 80 && marks.any(|at| starts_with_ignore_case(&bytes[at..], "body")) && NO_BODY.is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_2_2_leading_and_labelled_numbers_only() {
        for (text, expected) in [
            ("429 {\"a\":1}", Some(429)),
            ("429\nslow down", Some(429)),
            ("HTTP 503", Some(503)),
            ("http 599", Some(599)),
            ("HTTP/1.1 502 Bad Gateway", Some(502)),
            ("Error:503 maintenance", Some(503)),
            ("Error: 400 This model's", Some(400)),
            ("Error: HTTP 403: x", Some(403)),
            ("API Error (529 {", Some(529)),
            ("Please run /login · API Error: 403 {", Some(403)),
            ("Error code: 429 - {", Some(429)),
            ("Google Generative AI API error (500): {", Some(500)),
            ("Ollama API error 400: context", Some(400)),
            ("API error occurred: Status 429\nBody", Some(429)),
            ("Request failed with status code 502", Some(502)),
            ("[API Error: got status: 429 Too Many Requests.", Some(429)),
            ("Upstream 429: {", Some(429)),
            ("Response code 429 (Too Many Requests)", Some(429)),
            (
                "Error fetching from x: [503 Service Unavailable] The model",
                Some(503),
            ),
            ("401 status code (no body)", Some(401)),
            ("Row 402 failed", None),
            ("Expected 401 items in list", None),
            ("server returned a 402 today", None),
            ("could not read file 403 in batch", None),
            ("code: 4021", None),
            ("4290 slow down", None),
            ("_401_", None),
            ("x401y", None),
            ("HTTP 50", None),
            ("error code: 524", None),
            ("400 Too many requests", Some(400)),
            ("unknown error, 520 (1000)", None),
            ("max_tokens must be at most 4290", None),
        ] {
            assert_eq!(find(text).map(|stated| stated.status), expected, "{text}");
        }
    }

    #[rustfmt::skip]
    #[test]
    fn c_2_2_common_beginnings_are_read_as_the_regular_expressions_read_them() {
        let fronts = [
            "", "\"[(", "Error: ", "error", "ERROR =(", "error[ ", "HTTP ", "http", "HTTP/1.1 ", "http/ ", "http/2.0", "http:", "errors ",
        ];
        let numbers = ["429", "503", "413", "408", "410", "4290", "599", "4x9"];
        let backs = [
            "", " ", ".", ".5", "%", "_", ": x", " Too Many Requests", "  too\tmany requestS.", " -- too many requestsx", "Too many requests", " service unavailable",
            " Service Temporarily Unavailable", " request entity too large", " Request time-out", " request timeout", " gone", " status code", "  status code",
            " STATUS\ncode: 500", " status code_", "-gone 500 internal server error", "é",
        ];
        for (front, number, back) in fronts
            .iter()
            .flat_map(|front| numbers.iter().map(move |number| (front, number)))
            .flat_map(|(front, number)| backs.iter().map(move |back| (front, number, back)))
        {
            let text = format!("{front}{number}{back}");
            let read = |stated: Option<StatusText>| stated.map(|stated| (stated.status, stated.range));
            assert_eq!(read(find(&text)), read(by_regex(&text)), "{text:?}");
        }
    }

    #[test]
    fn c_7_no_body_is_no_text() {
        for text in [
            "400 status code (no body)",
            "no body",
            "HTTP 400: no response body",
            "400 no body response",
            "400 400 status code (no body)",
        ] {
            assert!(says_no_body(text), "{text}");
        }
        assert!(!says_no_body("nobody answered"));
    }
}
