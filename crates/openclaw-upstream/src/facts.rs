//! The facts that every failure of one attempt repeats: endpoint, status, headers.

mod redaction;

use http::header::{HeaderMap, HeaderName};
use openclaw_classify::{Failure, Header, Phase};
use secrecy::SecretString;
use url::Url;

use crate::endpoint::Endpoint;
use crate::endpoint::without_secrets;
use redaction::Secrets;

/// The most that is kept of the body of an error, in bytes.
pub(crate) const MAX_EXCERPT: usize = 64 * 1024;

/// Prefixes of the response headers that classification or support reads.
const KEPT_HEADERS: &[&str] = &[
    "anthropic-ratelimit-",
    "content-type",
    "request-id",
    "retry-after",
    "x-amz-retry-after",
    "x-amzn-errortype",
    "x-amzn-requestid",
    "x-codex-",
    "x-ms-retry-after-ms",
    "x-ratelimit-",
    "x-request-id",
    "x-should-retry",
];

/// What every failure of one attempt shares. Most attempts have none, so nothing is rendered before one comes.
#[derive(Clone)]
pub(crate) struct AttemptFacts {
    endpoint: Endpoint,
    key: Option<SecretString>,
    status: Option<u16>,
    headers: HeaderMap,
}

impl AttemptFacts {
    /// Nothing has come back yet.
    pub(crate) fn new(endpoint: &Endpoint, key: Option<&SecretString>) -> Self {
        Self {
            endpoint: endpoint.clone(),
            key: key.cloned(),
            status: None,
            headers: HeaderMap::new(),
        }
    }

    /// Keeps the headers of the answer.
    pub(crate) fn set_headers(&mut self, headers: HeaderMap) {
        self.headers = headers;
    }

    /// The headers of the answer; none before it begins.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The head has a success status.
    pub(crate) fn succeeded(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// An answer with `status` that is an error.
    pub(crate) fn refused(&self, status: u16, body: Vec<u8>) -> Failure {
        self.complete(Failure {
            status: Some(status),
            phase: Some(Phase::BeforeFirstContent),
            ..with_body(body)
        })
    }

    /// A redirect, which a key must not follow.
    pub(crate) fn redirected(&self, status: u16, to: Option<&Url>, path: &str) -> Failure {
        let provider = self.endpoint.provider();
        let message = match to {
            Some(url) => format!(
                "redirect refused, because a key must not follow one; set models.providers.{provider}.baseUrl to `{}`",
                without_secrets(url).trim_end_matches(path).trim_end_matches('/')
            ),
            None => format!(
                "redirect refused; correct models.providers.{provider}.baseUrl, which answers with a redirect to nowhere"
            ),
        };
        self.complete(Failure {
            status: Some(status),
            phase: Some(Phase::BeforeFirstContent),
            message: Some(message),
            ..Failure::default()
        })
    }

    /// An error object, or anything else that is no answer, under a success status.
    pub(crate) fn error_event(&self, data: &[u8], phase: Phase) -> Failure {
        let body = data[..data.len().min(MAX_EXCERPT)].to_vec();
        self.complete(Failure {
            status: self.status,
            phase: Some(phase),
            ..with_body(body)
        })
    }

    /// An answer with nothing in it (`empty_response`).
    pub(crate) fn empty(&self, phase: Phase) -> Failure {
        self.complete(Failure {
            status: self.status,
            phase: Some(phase),
            ..Failure::default()
        })
    }

    /// One document in answer to a request for a stream, which cannot be written as a stream: a response that is made later.
    pub(crate) fn no_stream(&self) -> Failure {
        self.complete(Failure {
            message: Some(
                "the provider answered a request for a stream with one document that is no finished answer"
                    .to_owned(),
            ),
            phase: Some(Phase::BeforeFirstContent),
            ..Failure::default()
        })
    }

    /// Adds endpoint and headers to `failure` and removes the secrets of the attempt. Every failure passes here before it
    /// leaves this crate.
    pub(crate) fn complete(&self, failure: Failure) -> Failure {
        let headers = if failure.headers.is_empty() {
            kept_headers(&self.headers)
        } else {
            failure.headers
        };
        Secrets::of(&self.endpoint, self.key.as_ref()).scrub(Failure {
            provider: Some(self.endpoint.provider().clone()),
            host: Some(self.endpoint.host().to_owned()),
            headers,
            ..failure
        })
    }
}

/// A failure with a body; of binary data only the size is kept.
fn with_body(body: Vec<u8>) -> Failure {
    if is_text(&body) {
        return Failure {
            body: Some(body),
            ..Failure::default()
        };
    }
    Failure {
        message: Some(format!(
            "the answer is no text but {} bytes of binary data",
            body.len()
        )),
        ..Failure::default()
    }
}

/// Whether `body` is text, perhaps in an older encoding: no zero bytes, and few others that are no characters.
fn is_text(body: &[u8]) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for character in String::from_utf8_lossy(body).chars() {
        all += 1;
        let is_odd = character == char::REPLACEMENT_CHARACTER
            || (character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{1b}'));
        odd += usize::from(is_odd);
    }
    !body.contains(&0) && odd * 5 <= all
}

fn kept_headers(headers: &HeaderMap) -> Vec<Header> {
    let is_wanted = |name: &HeaderName| {
        KEPT_HEADERS
            .iter()
            .any(|prefix| name.as_str().starts_with(prefix))
    };
    let wanted = headers.iter().filter(|(name, _)| is_wanted(name));
    wanted
        .map(|(name, value)| Header {
            name: name.to_string(),
            value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_binary_bodies_only_the_size_is_kept() {
        for (body, is_read) in [
            (&b""[..], true),
            (b"{\"error\":\"x\"}", true),
            ("überlastet".as_bytes(), true),
            (b"f\xfcr diese Anfrage ist kein Guthaben da", true),
            (b"\x1b[31mred\x1b[0m", true),
            (b"\x1f\x8b\x08\x00\x00\x00", false),
            (b"text\x00text", false),
            (b"\xff\xfe\xfd\xfc text", false),
        ] {
            let failure = with_body(body.to_vec());
            assert_eq!(failure.body.is_some(), is_read, "{body:?}");
            assert_eq!(failure.message.is_some(), !is_read, "{body:?}");
        }
    }
}
