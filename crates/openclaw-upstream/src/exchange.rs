//! One attempt against an endpoint, in one wire format.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header::{AUTHORIZATION, HeaderMap, LOCATION};
use http::{Method, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper_util::client::legacy;
use openclaw_classify::{Failure, Phase, TimeoutPhase};
use openclaw_wire::{BodyKind, RequestBody, ResponseBody, WireFormat};
use secrecy::SecretString;
use tokio::time::Instant;
use url::Url;

use super::arrival::{declared_kind, excerpt, first_bytes, first_content, whole};
use super::client::{Client, ConnectionSettings, ResendPolicy};
use super::deadlines::End;
use super::endpoint::{login_of, without_login};
use super::facts::AttemptFacts;
use super::live::LiveAnswer;
use super::{Deadlines, Endpoint, headers, transport, worker_runtimes};

/// The HTTP clients that all attempts share.
#[derive(Debug, Clone)]
pub struct Upstream {
    ways: ConnectionSettings,
    usual: ClientPerWorker,
    /// Those with another limit for a connection; made when first needed, and as many as there are limits in the
    /// configuration.
    by_limit: Arc<Mutex<HashMap<Duration, ClientPerWorker>>>,
}

/// A client for each thread that serves, as a connection is driven by the thread that made it.
#[derive(Debug, Clone)]
struct ClientPerWorker(Arc<[Client]>);

impl ClientPerWorker {
    fn new(limit: Duration, ways: &ConnectionSettings) -> Self {
        let clients = (0..worker_runtimes::most()).map(|_| Client::new(limit, ways.clone()));
        Self(clients.collect())
    }

    /// That of this thread.
    fn here(&self) -> &Client {
        &self.0[worker_runtimes::here() % self.0.len()]
    }
}

/// What an attempt sends, and where.
pub struct Call<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// The model, as the provider names it.
    pub model: &'a str,
    /// The key or token; none for providers that need none.
    pub secret: Option<&'a SecretString>,
    /// How the format's own key header is used.
    pub kind: SecretKind,
    /// The format of request and answer.
    pub wire: WireFormat,
    /// The client's headers that belong to the format and are passed on as they came.
    pub headers: &'a HeaderMap,
    /// The client's request.
    pub body: &'a RequestBody,
    /// How long to wait for what.
    pub deadlines: Deadlines,
}

/// What a secret is, for formats that send keys and tokens under different names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
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
pub enum Answer {
    /// A whole body with content, byte for byte.
    Whole(Bytes),
    /// A stream at its first content.
    Live(Box<LiveAnswer>),
}

impl Default for Upstream {
    fn default() -> Self {
        let ways = ConnectionSettings::of_environment();
        Self {
            usual: ClientPerWorker::new(Deadlines::DEFAULT.connect, &ways),
            ways,
            by_limit: Arc::default(),
        }
    }
}

impl Upstream {
    /// The client whose connections may take `limit`.
    fn within(&self, limit: Duration) -> Cow<'_, Client> {
        if limit == Deadlines::DEFAULT.connect {
            return Cow::Borrowed(self.usual.here());
        }
        let mut by_limit = self.by_limit.lock().unwrap_or_else(PoisonError::into_inner);
        let clients = by_limit
            .entry(limit)
            .or_insert_with(|| ClientPerWorker::new(limit, &self.ways));
        Cow::Owned(clients.here().clone())
    }

    /// Asks an address that is no provider's endpoint, for an answer of at most `most` bytes. It says by itself how
    /// long it may take.
    ///
    /// # Errors
    /// When no answer comes, or a larger one.
    pub async fn ask(
        &self,
        question: PlainRequest,
        most: usize,
    ) -> Result<(StatusCode, Vec<u8>), FetchError> {
        let PlainRequest {
            method,
            url,
            mut headers,
            body,
        } = question;
        if let Some(login) = login_of(&url) {
            headers.entry(AUTHORIZATION).or_insert(login);
        }
        let to = Uri::try_from(without_login(&url).as_str()).map_err(|_| FetchError::Address)?;
        let answer = self
            .usual
            .here()
            .send(method, &to, headers, body, ResendPolicy::Refused)
            .await?;
        let status = answer.status();
        let mut source = answer.into_body();
        let mut read = Vec::new();
        while let Some(frame) = source.frame().await {
            if let Ok(piece) = frame?.into_data() {
                read.extend_from_slice(&piece);
            }
            if read.len() > most {
                return Err(FetchError::TooLarge(most));
            }
        }
        Ok((status, read))
    }

    /// Makes one attempt. A plain answer returns when it is whole, a stream at its first content.
    ///
    /// # Errors
    /// Every other outcome, with all facts known. Dropping the future hangs up.
    pub async fn attempt(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let mut facts = AttemptFacts::new(call.endpoint, call.secret);
        let outcome = self.exchange(call, &mut facts).await;
        outcome.map_err(|failure| facts.complete(failure))
    }

    async fn exchange(&self, call: &Call<'_>, facts: &mut AttemptFacts) -> Result<Answer, Failure> {
        let deadlines = &call.deadlines;
        let end = End::after(deadlines.total);
        let wants_stream = call.wants_stream();
        let head_limit = if wants_stream {
            deadlines.stream_head
        } else {
            deadlines.plain_head
        };
        let client = self.within(deadlines.connect);
        let sending = client.send(
            Method::POST,
            call.endpoint.target(call.wire),
            headers::of(call, wants_stream)?,
            call.body.with_model(call.model),
            ResendPolicy::RefusedOrClosed,
        );
        let sending = end.within(head_limit, TimeoutPhase::FirstByte, sending);
        let answer = match sending.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(transport::failure(&error, Phase::BeforeFirstByte)),
            // Nothing was heard, whichever limit was over.
            Err(_) => {
                return Err(transport::timeout(
                    TimeoutPhase::FirstByte,
                    Phase::BeforeFirstByte,
                ));
            }
        };
        let (head, source) = answer.into_parts();
        facts.heard(head.headers);
        let status = head.status;
        if status.is_redirection() {
            let to = facts
                .headers()
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            let path = call.wire.path();
            let to = to.and_then(|to| call.endpoint.url(path).join(to).ok());
            return Err(facts.redirected(status.as_u16(), to.as_ref(), path));
        }
        if !status.is_success() {
            let body = excerpt(source, deadlines.error_body).await;
            return Err(facts.refused(status.as_u16(), body));
        }
        facts.succeeded(status.as_u16());
        let mut source = source.into_data_stream();
        let body = if wants_stream {
            let (said, heard) = (declared_kind(facts.headers()), Instant::now());
            let (first, kind) = first_bytes(&mut source, said, deadlines, heard, end).await?;
            let source = stream::iter([Ok(first)]).chain(source);
            match kind {
                BodyKind::Document => whole(source, deadlines, end, facts).await?,
                BodyKind::Events => {
                    let source = Box::pin(source);
                    let answer = first_content(call.wire, source, deadlines, heard, end, facts).await?;
                    return Ok(Answer::Live(Box::new(answer)));
                }
            }
        } else {
            whole(source, deadlines, end, facts).await?
        };
        match call.wire.read_response(&body) {
            ResponseBody::Answer if wants_stream => match LiveAnswer::of_whole(call.wire, &body, facts) {
                Some(live) => Ok(Answer::Live(Box::new(live))),
                None => Err(facts.no_stream()),
            },
            ResponseBody::Answer => Ok(Answer::Whole(body)),
            ResponseBody::Empty => Err(facts.empty(Phase::BeforeFirstContent)),
            ResponseBody::Error | ResponseBody::Unreadable => {
                let body = call.wire.error_body(&body);
                Err(facts.error_event(&body, Phase::BeforeFirstContent))
            }
        }
    }
}

/// A request that no wire format has.
pub struct PlainRequest {
    /// How it is asked.
    pub method: Method,
    /// Whom; user and password in it become a header.
    pub url: Url,
    /// Headers of its own.
    pub headers: HeaderMap,
    /// Empty for requests without one.
    pub body: Bytes,
}

/// A question got no answer.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Nothing that a request can name.
    #[error("the address cannot be called")]
    Address,
    /// It broke off.
    #[error("the answer broke off")]
    Broken(#[from] hyper::Error),
    /// It did not begin.
    #[error("cannot reach it")]
    Unreachable(#[from] legacy::Error),
    /// It did not end.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
}

#[cfg(test)]
mod tests;
