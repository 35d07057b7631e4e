//! The secrets of one attempt, and texts without them: providers and proxies echo what they were sent.

use std::fmt::Write as _;
use std::sync::Arc;

use openclaw_classify::{Failure, Header};
use secrecy::{ExposeSecret, SecretString};

use super::Endpoint;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";
/// How JSON begins a character that it writes by its number.
const BY_NUMBER: &str = "\\u";
/// Shorter values are no secrets, and would be found in any text.
const SHORTEST: usize = 6;

/// Every form of the secrets of one attempt, the longest first.
#[derive(Clone)]
pub(super) struct Secrets(Arc<[SecretString]>);

impl Secrets {
    /// The key in use and what the endpoint sends: configured headers, user and password of its URL, its query.
    pub(super) fn of(endpoint: &Endpoint, key: Option<&SecretString>) -> Self {
        let mut forms = Vec::new();
        if let Some(key) = key {
            add(&mut forms, key.expose_secret());
        }
        for value in endpoint.headers().values().chain(endpoint.login()) {
            let value = String::from_utf8_lossy(value.as_bytes());
            add(&mut forms, &value);
            // `Bearer …`, whose second word is the secret.
            if let Some((_, credential)) = value.split_once(' ') {
                add(&mut forms, credential);
            }
        }
        for text in endpoint.url_secrets() {
            add(&mut forms, &text);
        }
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self(forms.into_iter().map(SecretString::from).collect())
    }

    /// `failure` without them, wherever they stand.
    pub(super) fn scrub(&self, failure: Failure) -> Failure {
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

    fn without(&self, text: String) -> String {
        let clean = self.replaced(text);
        if clean.contains(BY_NUMBER) {
            let spelled_out = spelled_out(&clean);
            let cleaner = self.replaced(spelled_out.clone());
            if cleaner != spelled_out {
                return cleaner;
            }
        }
        clean
    }

    fn replaced(&self, mut text: String) -> String {
        for secret in &*self.0 {
            if text.contains(secret.expose_secret()) {
                text = text.replace(secret.expose_secret(), REDACTED);
            }
        }
        text
    }

    /// Bytes that are no text are left as they are unless a secret stands in them.
    fn without_bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8_lossy(&bytes);
        let clean = self.without(text.clone().into_owned());
        if clean == text {
            return bytes;
        }
        clean.into_bytes()
    }
}

/// The text as it is, as JSON writes it and as a URL does.
fn add(forms: &mut Vec<String>, secret: &str) {
    let secret = secret.trim();
    if secret.len() < SHORTEST {
        return;
    }
    forms.push(secret.to_owned());
    let json = serde_json::Value::from(secret).to_string();
    forms.push(json.trim_matches('"').to_owned());
    forms.push(json.trim_matches('"').replace('/', "\\/"));
    for (unreserved, upper) in [("-._~", true), ("-._~", false), ("-._~/+=:@!$'()*,;", true)] {
        let encoded = url_encoded(secret, unreserved, upper);
        forms.push(encoded.replace("%20", "+"));
        forms.push(encoded);
    }
}

/// JSON without characters that are written by their number: libraries write `+`, `&`, `/` or all of them like that, and
/// whoever reads the text sees what they mean.
fn spelled_out(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let number = escape.strip_prefix(BY_NUMBER).and_then(|digits| digits.get(..4));
        let number = number.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let character = number.and_then(char::from_u32).filter(|c| !c.is_control());
        if let Some(character) = character {
            if matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
            rest = &escape[BY_NUMBER.len() + 4..];
        } else {
            // A backslash and what it stands before.
            let end = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
            text.push_str(&escape[..end]);
            rest = &escape[end..];
        }
    }
    text + rest
}

fn url_encoded(text: &str, unreserved: &str, upper: bool) -> String {
    let mut encoded = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || unreserved.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
            continue;
        }
        // A string takes any text.
        let _ = if upper {
            write!(encoded, "%{byte:02X}")
        } else {
            write!(encoded, "%{byte:02x}")
        };
    }
    encoded
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;

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
            ("api-key: header-key", "api-key: [redacted]"),
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
