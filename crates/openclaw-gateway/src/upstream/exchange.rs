//! One attempt against an endpoint, in one wire format.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use bytes::Bytes;
use openclaw_classify::{Failure, Phase, TimeoutPhase};
use reqwest::Client;
use secrecy::SecretString;

use super::arrival::{as_stream, excerpt, first_content, whole};
use super::deadlines::End;
use super::endpoint::is_loopback_host;
use super::facts::Facts;
use super::live::LiveAnswer;
use super::wire::{Whole, Wire};
use super::{Deadlines, Endpoint, RequestBody, headers, transport};

/// How long an unused connection is kept. Short, because a provider that closes it at the moment it is used again
/// looks like one that failed.
const KEEP_LIMIT: Duration = Duration::from_secs(20);

/// The HTTP clients that all attempts share.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    usual: Clients,
    /// Those with another limit for a connection, which only a client as a whole can have; made when first needed, and
    /// as many as there are limits in the configuration.
    by_limit: Arc<Mutex<HashMap<Duration, Clients>>>,
}

/// One pool of connections for each way out.
#[derive(Debug, Clone)]
struct Clients {
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
    /// How the format's own key header is used.
    pub(crate) kind: SecretKind,
    /// The format of request and answer.
    pub(crate) wire: Wire,
    /// The client's headers that belong to the format and are passed on as they came.
    pub(crate) headers: &'a HeaderMap,
    /// The client's request.
    pub(crate) body: &'a RequestBody,
    /// How long to wait for what.
    pub(crate) deadlines: Deadlines,
}

/// What a secret is, for formats that send keys and tokens under different names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecretKind {
    /// An API key.
    Key,
    /// A token of a login.
    Token,
}

impl Call<'_> {
    fn wants_stream(&self) -> bool {
        self.wire.streams() && self.body.wants_stream()
    }
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
    /// # Errors
    /// When the machine's certificates or proxy settings cannot be used.
    pub(crate) fn try_new() -> Result<Self, UpstreamError> {
        Ok(Self {
            usual: Clients::try_new(Deadlines::DEFAULT.connect).map_err(UpstreamError)?,
            by_limit: Arc::default(),
        })
    }

    /// The client for `endpoint`, with the usual limit for a connection.
    pub(crate) fn client(&self, endpoint: &Endpoint) -> &Client {
        self.usual.to(endpoint)
    }

    /// The client for `endpoint` whose connections may take `limit`.
    fn client_within(&self, limit: Duration, endpoint: &Endpoint) -> Client {
        if limit == Deadlines::DEFAULT.connect {
            return self.client(endpoint).clone();
        }
        let mut by_limit = self.by_limit.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clients) = by_limit.get(&limit) {
            return clients.to(endpoint).clone();
        }
        match Clients::try_new(limit) {
            Ok(clients) => by_limit.entry(limit).or_insert(clients).to(endpoint).clone(),
            // The usual ones were set up in the same way, so they are worth a try.
            Err(_) => self.client(endpoint).clone(),
        }
    }

    /// The client for an address that is no provider's endpoint.
    pub(crate) fn client_of(&self, url: &reqwest::Url) -> &Client {
        if url.host_str().is_some_and(is_loopback_host) {
            &self.usual.inward
        } else {
            &self.usual.outward
        }
    }

    /// Makes one attempt. A plain answer returns when it is whole, a stream at its first content.
    ///
    /// # Errors
    /// Every other outcome, with all facts known. Dropping the future hangs up.
    pub(crate) async fn attempt(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let facts = Facts::new(call.endpoint, call.secret);
        let outcome = self.exchange(call, facts.clone()).await;
        outcome.map_err(|failure| facts.complete(failure))
    }

    async fn exchange(&self, call: &Call<'_>, mut facts: Facts) -> Result<Answer, Failure> {
        let deadlines = &call.deadlines;
        let end = End::after(deadlines.total);
        let wants_stream = call.wants_stream();
        let head_limit = if wants_stream {
            deadlines.stream_head
        } else {
            deadlines.plain_head
        };
        let request = self
            .client_within(deadlines.connect, call.endpoint)
            .post(call.endpoint.url(call.wire.path()))
            .headers(headers::of(call, wants_stream)?)
            .body(call.body.with_model(call.model));
        let sending = end.within(head_limit, TimeoutPhase::FirstByte, request.send());
        let response = match sending.await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(transport::failure(error, Phase::BeforeFirstByte)),
            // Nothing was heard, whichever limit was over.
            Err(_) => {
                return Err(transport::timeout(
                    TimeoutPhase::FirstByte,
                    Phase::BeforeFirstByte,
                ));
            }
        };
        facts.heard(response.headers());
        let status = response.status();
        if status.is_redirection() {
            let to = response
                .headers()
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            let to = to.and_then(|to| response.url().join(to).ok());
            return Err(facts.redirected(status.as_u16(), to.as_ref(), call.wire.path()));
        }
        if !status.is_success() {
            let body = excerpt(response, deadlines.error_body).await;
            return Err(facts.refused(status.as_u16(), body));
        }
        facts.succeeded(status.as_u16());
        if wants_stream && !is_document(response.headers()) {
            let source = Box::pin(response.bytes_stream());
            let answer = first_content(call.wire, source, deadlines, end, facts).await?;
            return Ok(Answer::Live(Box::new(answer)));
        }
        let body = whole(response, deadlines, end, &facts).await?;
        match call.wire.read_whole(&body) {
            Whole::Answer if wants_stream => match as_stream(call.wire, &body, &facts) {
                Some(live) => Ok(Answer::Live(Box::new(live))),
                None => Err(facts.no_stream()),
            },
            Whole::Answer => Ok(Answer::Whole(body)),
            Whole::Empty => Err(facts.empty(Phase::BeforeFirstContent)),
            Whole::Error | Whole::Unreadable => {
                let body = call.wire.error_body(&body);
                Err(facts.error_event(&body, Phase::BeforeFirstContent))
            }
        }
    }
}

impl Clients {
    /// No redirects: a key must not follow one. No retries of their own: every attempt is the runner's decision.
    fn try_new(connect_limit: Duration) -> reqwest::Result<Self> {
        let builder = || {
            Client::builder()
                .connect_timeout(connect_limit)
                .pool_idle_timeout(KEEP_LIMIT)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .user_agent(concat!("openclaw-gateway/", env!("CARGO_PKG_VERSION")))
        };
        Ok(Self {
            outward: builder().build()?,
            inward: builder().no_proxy().build()?,
        })
    }

    fn to(&self, endpoint: &Endpoint) -> &Client {
        if endpoint.is_loopback() {
            &self.inward
        } else {
            &self.outward
        }
    }
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

#[cfg(test)]
mod tests;
