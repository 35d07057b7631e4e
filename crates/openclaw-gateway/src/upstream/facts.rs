//! Who was called and what came back, as every failure of one attempt repeats it.

use axum::http::header::{HeaderMap, HeaderName};
use openclaw_classify::{Failure, Header, Phase};
use openclaw_ids::ProviderId;

use super::Endpoint;

/// How much of an error's body is kept.
pub(super) const MAX_EXCERPT: usize = 64 * 1024;

/// Response headers that say when to come back or whom to ask, by prefix.
const HEADERS_OF_INTEREST: &[&str] = &[
    "anthropic-ratelimit-",
    "content-type",
    "request-id",
    "retry-after",
    "x-amz-retry-after",
    "x-amzn-errortype",
    "x-amzn-requestid",
    "x-ms-retry-after-ms",
    "x-ratelimit-",
    "x-request-id",
    "x-should-retry",
];

/// What every failure of one attempt shares.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    provider: ProviderId,
    host: String,
    status: Option<u16>,
    headers: Vec<Header>,
}

impl Facts {
    /// Nothing has come back yet.
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        Self {
            provider: endpoint.provider().clone(),
            host: endpoint.host().to_owned(),
            status: None,
            headers: Vec::new(),
        }
    }

    /// The head of an answer came.
    pub(super) fn heard(&mut self, headers: &HeaderMap) {
        self.headers = of_interest(headers);
    }

    /// The head said that all is well.
    pub(super) fn succeeded(&mut self, status: u16) {
        self.status = Some(status);
    }

    /// An answer with `status` that is an error.
    pub(super) fn refused(&self, status: u16, body: Vec<u8>) -> Failure {
        self.complete(Failure {
            status: Some(status),
            phase: Some(Phase::BeforeFirstContent),
            body: Some(body),
            ..Failure::default()
        })
    }

    /// An error object, or anything else that is no answer, under a success status.
    pub(super) fn error_event(&self, data: &[u8], phase: Phase) -> Failure {
        let body = data[..data.len().min(MAX_EXCERPT)].to_vec();
        self.complete(Failure {
            status: self.status,
            phase: Some(phase),
            body: Some(body),
            ..Failure::default()
        })
    }

    /// An answer with nothing in it (`empty_response`).
    pub(super) fn empty(&self, phase: Phase) -> Failure {
        self.complete(Failure {
            status: self.status,
            phase: Some(phase),
            ..Failure::default()
        })
    }

    /// One document in answer to a request for a stream, in a format that cannot be made one.
    pub(super) fn no_stream(&self) -> Failure {
        self.complete(Failure {
            message: Some("the provider answered a request for a stream with one document".to_owned()),
            phase: Some(Phase::BeforeFirstContent),
            ..Failure::default()
        })
    }

    /// Adds who was called and what headers came to `failure`.
    pub(super) fn complete(&self, failure: Failure) -> Failure {
        let headers = if failure.headers.is_empty() {
            self.headers.clone()
        } else {
            failure.headers
        };
        Failure {
            provider: Some(self.provider.clone()),
            host: Some(self.host.clone()),
            headers,
            ..failure
        }
    }
}

fn of_interest(headers: &HeaderMap) -> Vec<Header> {
    let is_wanted = |name: &HeaderName| {
        HEADERS_OF_INTEREST
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
