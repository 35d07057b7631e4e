//! One attempt against an OpenAI-compatible endpoint.

use std::collections::VecDeque;
use std::time::Duration;

use axum::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use openclaw_classify::{Failure, Header, Phase, TimeoutPhase, Transport};
use openclaw_ids::ProviderId;
use reqwest::{Client, Response};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout, timeout_at};

use super::live::{ByteStream, LiveAnswer};
use super::progress::Progress;
use super::sse::SseParser;
use super::wire::{Piece, Shows, Whole, chunk_of_whole, read_piece, read_whole};
use super::{Endpoint, RequestBody, transport};

/// How much of an error's body is kept.
const MAX_EXCERPT: usize = 64 * 1024;
/// The largest event of a stream, and the most that is held back before the first content.
const MAX_EVENT: usize = 16 * 1024 * 1024;
/// The largest plain answer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;
/// How long a connection may take; part of the wait for the head.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

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

/// The HTTP clients that all attempts share.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    /// For hosts beyond this machine; honours the usual proxy variables.
    outward: Client,
    /// For this machine itself, which a proxy cannot reach.
    inward: Client,
}

/// The HTTP client cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the HTTP client; check the machine's CA certificates and proxy settings")]
pub struct UpstreamError(#[source] reqwest::Error);

/// What an attempt sends, and where.
pub(crate) struct Call<'a> {
    /// The endpoint.
    pub(crate) endpoint: &'a Endpoint,
    /// The model, as the provider names it.
    pub(crate) model: &'a str,
    /// The key or token; none for providers that need none.
    pub(crate) secret: Option<&'a SecretString>,
    /// The client's request.
    pub(crate) body: &'a RequestBody,
}

/// What an attempt brought back.
pub(crate) enum Answer {
    /// A whole body with content, byte for byte.
    Whole(Bytes),
    /// A stream at its first content.
    Live(Box<LiveAnswer>),
}

impl Upstream {
    /// Sets up the clients.
    ///
    /// No redirects: a key must not follow one. No retries of their own: every attempt is the runner's decision.
    pub(crate) fn try_new() -> Result<Self, UpstreamError> {
        let builder = || {
            Client::builder()
                .connect_timeout(CONNECT_LIMIT)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .user_agent(concat!("openclaw-gateway/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Self {
            outward: builder().build().map_err(UpstreamError)?,
            inward: builder().no_proxy().build().map_err(UpstreamError)?,
        })
    }

    /// The client for `endpoint`.
    pub(crate) fn client(&self, endpoint: &Endpoint) -> &Client {
        if endpoint.is_loopback() {
            &self.inward
        } else {
            &self.outward
        }
    }

    /// Makes one attempt. A plain answer returns when it is whole, a stream at its first content.
    ///
    /// # Errors
    /// Every other outcome, with all facts known. Dropping the future hangs up.
    pub(crate) async fn attempt(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let facts = Facts::new(call.endpoint);
        let outcome = self.exchange(call, facts.clone()).await;
        outcome.map_err(|failure| facts.complete(failure))
    }

    async fn exchange(&self, call: &Call<'_>, mut facts: Facts) -> Result<Answer, Failure> {
        let deadlines = call.endpoint.deadlines();
        let wants_stream = call.body.wants_stream();
        let head_limit = if wants_stream {
            deadlines.stream_head
        } else {
            deadlines.plain_head
        };
        let request = self
            .client(call.endpoint)
            .post(call.endpoint.url("chat/completions"))
            .headers(headers(call)?)
            .body(call.body.with_model(call.model));
        let response = match timeout(head_limit, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(transport::failure(error, Phase::BeforeFirstByte)),
            Err(_) => {
                return Err(transport::timeout(
                    TimeoutPhase::FirstByte,
                    Phase::BeforeFirstByte,
                ));
            }
        };
        facts.headers = of_interest(response.headers());
        let status = response.status();
        if !status.is_success() {
            let body = excerpt(response, deadlines.error_body).await;
            return Err(Failure {
                phase: Some(Phase::BeforeFirstContent),
                ..facts.answered(status.as_u16(), body)
            });
        }
        facts.status = Some(status.as_u16());
        if wants_stream && !is_document(response.headers()) {
            let answer = first_content(response, deadlines.first_content, deadlines.idle, facts).await?;
            return Ok(Answer::Live(Box::new(answer)));
        }
        let body = whole(response, deadlines.idle, &facts).await?;
        match read_whole(&body) {
            Whole::Answer if wants_stream => Ok(Answer::Live(Box::new(as_stream(&body, facts)))),
            Whole::Answer => Ok(Answer::Whole(body)),
            Whole::Empty => Err(facts.empty(Phase::BeforeFirstContent)),
            Whole::Error | Whole::Unreadable => Err(facts.error_event(&body, Phase::BeforeFirstContent)),
        }
    }
}

/// What every failure of one attempt shares.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    provider: ProviderId,
    host: String,
    status: Option<u16>,
    headers: Vec<Header>,
}

impl Facts {
    fn new(endpoint: &Endpoint) -> Self {
        Self {
            provider: endpoint.provider().clone(),
            host: endpoint.host().to_owned(),
            status: None,
            headers: Vec::new(),
        }
    }

    /// An answer with `status` that is an error.
    fn answered(&self, status: u16, body: Vec<u8>) -> Failure {
        Failure {
            status: Some(status),
            body: Some(body),
            headers: self.headers.clone(),
            ..Failure::default()
        }
    }

    /// An error object, or anything else that is no answer, under a success status.
    pub(super) fn error_event(&self, data: &[u8], phase: Phase) -> Failure {
        let body = data[..data.len().min(MAX_EXCERPT)].to_vec();
        Failure {
            phase: Some(phase),
            body: Some(body),
            ..self.complete(Failure {
                status: self.status,
                ..Failure::default()
            })
        }
    }

    /// An answer with nothing in it (`empty_response`).
    pub(super) fn empty(&self, phase: Phase) -> Failure {
        self.complete(Failure {
            status: self.status,
            phase: Some(phase),
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

/// The headers of the request. A key that no header can carry is a wrong key.
#[expect(
    clippy::result_large_err,
    reason = "a failure is made and moved once, off the fast path"
)]
fn headers(call: &Call<'_>) -> Result<HeaderMap, Failure> {
    let accept = if call.body.wants_stream() {
        "text/event-stream"
    } else {
        "application/json"
    };
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if let Some(secret) = call.secret {
        let bearer = format!("Bearer {}", secret.expose_secret().trim());
        let mut value = HeaderValue::from_str(&bearer).map_err(|_| Failure {
            code: Some("invalid_api_key".to_owned()),
            message: Some("the API key holds characters that cannot be sent; store it again".to_owned()),
            phase: Some(Phase::BeforeRequest),
            ..Failure::default()
        })?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    for (name, value) in call.endpoint.headers() {
        headers.insert(name.clone(), value.clone());
    }
    Ok(headers)
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

/// Whether an answer to a streaming request is one document (JSON, an error page) instead of events.
fn is_document(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    media_type.ends_with("json") || media_type.eq_ignore_ascii_case("text/html")
}

/// Up to 64 KiB of a body, and what of it arrived when it broke off or dawdled.
async fn excerpt(response: Response, limit: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let mut source = response.bytes_stream();
    let reading = async {
        while let Some(Ok(chunk)) = source.next().await {
            let room = MAX_EXCERPT.saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if room <= chunk.len() {
                break;
            }
        }
    };
    // What arrived in time is enough to judge by.
    let _ = timeout(limit, reading).await;
    body
}

/// A whole body.
async fn whole(response: Response, idle: Duration, facts: &Facts) -> Result<Bytes, Failure> {
    let mut body = BytesMut::new();
    let mut source = response.bytes_stream();
    loop {
        match timeout(idle, source.next()).await {
            Ok(Some(Ok(chunk))) => body.extend_from_slice(&chunk),
            Ok(Some(Err(error))) => return Err(transport::failure(error, Phase::BeforeFirstContent)),
            Ok(None) => return Ok(body.freeze()),
            Err(_) => return Err(transport::timeout(TimeoutPhase::Idle, Phase::BeforeFirstContent)),
        }
        if body.len() > MAX_ANSWER {
            let message = format!("the answer is larger than {MAX_ANSWER} bytes");
            return Err(facts.complete(Failure {
                message: Some(message),
                ..Failure::default()
            }));
        }
    }
}

/// Reads a stream up to its first content, and holds everything back until then.
async fn first_content(
    response: Response,
    limit: Duration,
    idle: Duration,
    facts: Facts,
) -> Result<LiveAnswer, Failure> {
    const PHASE: Phase = Phase::BeforeFirstContent;
    let deadline = Instant::now() + limit;
    let mut source: ByteStream = Box::pin(response.bytes_stream());
    let mut parser = SseParser::new(MAX_EVENT);
    let mut progress = Progress::default();
    let (mut held, mut held_bytes) = (VecDeque::new(), 0);
    loop {
        while let Some(event) = parser
            .next_event()
            .map_err(|too_large| said(too_large.to_string()))?
        {
            let data = event.data.as_deref().unwrap_or_default();
            match read_piece(event.name.as_deref(), data) {
                Piece::Deltas(deltas) => progress.add(&deltas),
                Piece::Other => {}
                Piece::Done => return Err(facts.empty(PHASE)),
                Piece::Error => return Err(facts.error_event(data, PHASE)),
            }
            held_bytes += event.raw.len();
            held.push_back(event.raw);
            if progress.shown() > Shows::Nothing {
                return Ok(LiveAnswer {
                    source,
                    parser,
                    progress,
                    held,
                    idle,
                    facts,
                });
            }
            if held_bytes > MAX_EVENT {
                return Err(said(format!("the stream sent {MAX_EVENT} bytes without content")));
            }
        }
        match timeout_at(deadline, source.next()).await {
            Ok(Some(Ok(chunk))) => parser.push(&chunk),
            Ok(Some(Err(error))) => return Err(transport::failure(error, PHASE)),
            Ok(None) => break,
            Err(_) => return Err(transport::timeout(TimeoutPhase::FirstContent, PHASE)),
        }
    }
    // The bytes ended: with the rest of an error, as an empty answer, or in the middle of nothing.
    if let Some(data) = parser.finish().and_then(|event| event.data) {
        match read_piece(None, &data) {
            Piece::Error => return Err(facts.error_event(&data, PHASE)),
            Piece::Done => return Err(facts.empty(PHASE)),
            Piece::Deltas(_) | Piece::Other => {}
        }
    }
    if progress.may_end() {
        return Err(facts.empty(PHASE));
    }
    Err(Failure {
        transport: Some(Transport::Reset),
        ..said("stream ended before any content".to_owned())
    })
}

fn said(message: String) -> Failure {
    Failure {
        message: Some(message),
        phase: Some(Phase::BeforeFirstContent),
        ..Failure::default()
    }
}

/// A plain answer to a streaming request, as the stream it should have been.
fn as_stream(body: &[u8], facts: Facts) -> LiveAnswer {
    let mut progress = Progress::default();
    let chunk = chunk_of_whole(body);
    if let Piece::Deltas(deltas) = read_piece(None, &chunk) {
        progress.add(&deltas);
    }
    let event = [b"data: ", &chunk[..], b"\n\n"].concat();
    LiveAnswer {
        source: Box::pin(futures_util::stream::empty()),
        parser: SseParser::new(MAX_EVENT),
        progress,
        held: VecDeque::from([Bytes::from(event)]),
        idle: Duration::ZERO,
        facts,
    }
}

#[cfg(test)]
mod tests;
