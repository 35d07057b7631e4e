//! Removes the secrets of an attempt from its failure: providers and proxies echo what they were sent.

use std::ops::Range;

use openclaw_classify::{Failure, Header};
use secrecy::{ExposeSecret, SecretString};

use crate::endpoint::Endpoint;

/// Replaces a secret.
const REDACTED: &str = "[redacted]";
/// Values of fewer bytes are not searched for: they would be found in any text, and can be guessed.
const SHORTEST: usize = 6;

/// The secrets of one attempt.
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    /// The key in use and what the endpoint sends: configured headers, user and password of its URL, its query.
    pub(crate) fn of(endpoint: &Endpoint, key: Option<&SecretString>) -> Self {
        let mut secrets = Vec::new();
        if let Some(key) = key {
            add(&mut secrets, key.expose_secret());
        }
        for value in endpoint.headers().values().chain(endpoint.login()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            add(&mut secrets, &value);
            // `Bearer …`, whose second word is the secret.
            if let Some((_, credential)) = value.split_once(' ') {
                add(&mut secrets, credential);
            }
        }
        for text in endpoint.url_secrets() {
            add(&mut secrets, &text);
        }
        Self(secrets)
    }

    /// `failure` without them, in every member.
    pub(crate) fn scrub(&self, failure: Failure) -> Failure {
        if self.0.is_empty() {
            return failure;
        }
        let text = |text: Option<String>| text.map(|text| self.without(text));
        let header = |header: Header| Header {
            name: header.name,
            value: self.without(header.value),
        };
        Failure {
            code: text(failure.code),
            kind: text(failure.kind),
            message: text(failure.message),
            body: failure.body.map(|body| self.without_bytes(body)),
            headers: failure.headers.into_iter().map(header).collect(),
            cause: failure.cause.map(|cause| Box::new(self.scrub(*cause))),
            ..failure
        }
    }

    fn without(&self, mut text: String) -> String {
        for copy in self.copies(text.as_bytes()).into_iter().rev() {
            text.replace_range(copy, REDACTED);
        }
        text
    }

    /// The ranges of all copies in order; those that overlap are one.
    fn copies(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut copies: Vec<Range<usize>> = Vec::new();
        for start in 0..text.len() {
            let found = self.0.iter().map(|secret| secret.expose_secret().as_bytes());
            let Some(length) = found.filter_map(|secret| copy(&text[start..], secret)).max() else {
                continue;
            };
            match copies.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(start + length),
                _ => copies.push(start..start + length),
            }
        }
        copies
    }

    /// Bytes that are no text stay as they are unless they hold a secret.
    fn without_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8_lossy(&bytes);
        let clean = self.without(text.clone().into_owned());
        if clean == text {
            return bytes;
        }
        clean.into_bytes()
    }
}

fn add(secrets: &mut Vec<SecretString>, text: &str) {
    let text = text.trim();
    if text.len() >= SHORTEST {
        secrets.push(SecretString::from(text));
    }
}

/// The length of the copy of `secret` that `text` begins with. An echo may have changed the case of its letters and written
/// any of its characters as JSON and URLs write them.
fn copy(text: &[u8], secret: &[u8]) -> Option<usize> {
    let plain = text.get(..secret.len());
    if plain.is_some_and(|plain| plain.eq_ignore_ascii_case(secret)) {
        return Some(secret.len());
    }
    let first = *secret.first()?;
    // Most positions of a text end here, before anything is allocated.
    plain_length(text, first).or_else(|| encoded_length(text, first))?;
    // A secret that looks encoded can be read in two ways, so every possible end is tracked.
    let mut ends = vec![0_usize];
    for byte in secret {
        let further = ends.iter().flat_map(|end| {
            let rest = text.get(*end..).unwrap_or_default();
            let lengths = [plain_length(rest, *byte), encoded_length(rest, *byte)];
            lengths.into_iter().flatten().map(move |length| end + length)
        });
        let mut further: Vec<usize> = further.collect();
        further.sort_unstable();
        further.dedup();
        if further.is_empty() {
            return None;
        }
        ends = further;
    }
    ends.last().copied()
}

fn plain_length(text: &[u8], byte: u8) -> Option<usize> {
    text.first()
        .is_some_and(|first| first.eq_ignore_ascii_case(&byte))
        .then_some(1)
}

/// The length of an encoding of `byte` that `text` begins with.
fn encoded_length(text: &[u8], byte: u8) -> Option<usize> {
    let is_meant = |hex: [u8; 2]| {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        let code = digit(hex[0])
            .zip(digit(hex[1]))
            .map(|(high, low)| high * 16 + low);
        code == Some(u32::from(byte.to_ascii_lowercase()))
            || code == Some(u32::from(byte.to_ascii_uppercase()))
    };
    match *text {
        [b'%', high, low, ..] if is_meant([high, low]) => Some(3),
        [b'\\', b'u', b'0', b'0', high, low, ..] if is_meant([high, low]) => Some(6),
        [b'\\', escaped, ..] if escaped == byte && byte.is_ascii_punctuation() => Some(2),
        [b'+', ..] if byte == b' ' => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn secrets() -> Secrets {
        let base_url = "https://user:pa%2Fss-word@relay.example/v1?api-version=7&key=query-key";
        let mut headers = HeaderMap::new();
        headers.insert("x-team", "t".parse().unwrap());
        headers.insert("api-key", "header-key".parse().unwrap());
        headers.insert("proxy-authorization", "Basic dXNlcjpwYXNz".parse().unwrap());
        let endpoint = Endpoint::try_new("relay".parse().unwrap(), base_url).unwrap();
        let key = SecretString::from(" k/e+y \"1= ");
        Secrets::of(&endpoint.with_headers(headers), Some(&key))
    }

    #[test]
    fn every_form_of_a_secret_is_replaced() {
        for (text, clean) in [
            ("no k/e+y \"1=!", "no [redacted]!"),
            (r#"{"got":"k/e+y \"1="}"#, r#"{"got":"[redacted]"}"#),
            (r#"{"got":"k\/e+y \"1="}"#, r#"{"got":"[redacted]"}"#),
            ("?k=k%2Fe%2By%20%221%3D&", "?k=[redacted]&"),
            ("?k=k%2fe%2by%20%221%3d&", "?k=[redacted]&"),
            ("?k=k%2Fe%2By+%221%3D&", "?k=[redacted]&"),
            ("?k=k%2fe%2By+\"1=&", "?k=[redacted]&"),
            ("?k=%6B%2F%65%2By \"1=&", "?k=[redacted]&"),
            (r#"{"got":"k\u002fe\u002By \u00221="}"#, r#"{"got":"[redacted]"}"#),
            ("K/E+Y \"1=", "[redacted]"),
            ("K%2FE%2BY%20%221%3D", "[redacted]"),
            ("api-key: header-key", "api-key: [redacted]"),
            ("HEADER-KEY, Header-Key", "[redacted], [redacted]"),
            ("header-header-key é", "header-[redacted] é"),
            (
                "got dXNlcjpwYXNz and Basic dXNlcjpwYXNz",
                "got [redacted] and [redacted]",
            ),
            ("user:pa/ss-word@", "user:[redacted]@"),
            ("pa%2Fss-word query-key", "[redacted] [redacted]"),
            (
                r#"{"got":"\u006b\u002Fe\u002by \u00221\u003d"}"#,
                r#"{"got":"[redacted]"}"#,
            ),
            (r"k\u002fe+y \u00221= \", "[redacted] \\"),
            (
                r"header\u002Dkey \\u002D \ud800 \u0",
                r"[redacted] \\u002D \ud800 \u0",
            ),
            (r"\u00e9 \n stays", r"\u00e9 \n stays"),
            // As the base URL's user and password are sent.
            ("Basic dXNlcjpwYS9zcy13b3Jk", "[redacted]"),
            ("got dXNlcjpwYS9zcy13b3Jk", "got [redacted]"),
            ("team t, api-version=7, user", "team t, api-version=7, user"),
        ] {
            assert_eq!(secrets().without(text.to_owned()), clean, "{text}");
        }
    }

    #[test]
    fn a_secret_that_looks_encoded_is_found_plain_length() {
        let endpoint = Endpoint::try_new("relay".parse().unwrap(), "https://relay.example/v1").unwrap();
        let key = SecretString::from(r"100%25 \\ 5%41");
        let secrets = Secrets::of(&endpoint, Some(&key));
        for text in [r"100%25 \\ 5%41", r"100%25 \\\\ 5%41", "100%2525+%5C%5c+5%2541"] {
            assert_eq!(secrets.without(text.to_owned()), REDACTED, "{text}");
        }
    }

    #[test]
    fn secrets_that_overlap_are_hidden_together() {
        let endpoint = Endpoint::try_new("relay".parse().unwrap(), "https://relay.example/v1").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("one", "abcdef".parse().unwrap());
        headers.insert("two", "defghijk".parse().unwrap());
        headers.insert("short", "short".parse().unwrap());
        let secrets = Secrets::of(&endpoint.with_headers(headers), None);
        let clean = secrets.without("xabcdefghijky short".to_owned());
        assert_eq!(clean, "x[redacted]y short");
    }

    #[test]
    fn every_member_of_a_failure_is_cleaned() {
        let echo = || Some("header-key".to_owned());
        let failure = Failure {
            code: echo(),
            kind: echo(),
            message: echo(),
            body: Some(b"\xff header-key".to_vec()),
            headers: vec![Header {
                name: "x-request-id".to_owned(),
                value: "header-key".to_owned(),
            }],
            cause: Some(Box::new(Failure {
                message: echo(),
                ..Failure::default()
            })),
            ..Failure::default()
        };
        let clean = secrets().scrub(failure);
        let cause = clean.cause.unwrap();
        let texts = [clean.code, clean.kind, clean.message, cause.message];
        assert!(
            texts.iter().all(|text| text.as_deref() == Some(REDACTED)),
            "{texts:?}"
        );
        assert_eq!(clean.headers[0].value, REDACTED);
        assert_eq!(clean.body.unwrap(), "\u{fffd} [redacted]".as_bytes());
        let binary = secrets().without_bytes(vec![0xff, 0]);
        assert_eq!(binary, [0xff, 0]);
    }
}
