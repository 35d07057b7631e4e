//! Makes one attempt against an endpoint, in one wire format.

mod plain_request;

pub use plain_request::{FetchError, PlainRequest};

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Method;
use http::header::{HeaderValue, LOCATION};
use http_body_util::BodyExt;
use openclaw_classify::{Failure, Phase, TimeoutPhase};
use openclaw_wire::{BodyKind, ResponseBody};
use tokio::time::Instant;

use crate::arrival::{declared_kind, excerpt, first_bytes, first_content, whole};
use crate::call::Call;
use crate::client::{Client, ConnectionSettings, ResendPolicy, transport_failure};
use crate::deadlines::{AttemptDeadline, Deadlines};
use crate::facts::AttemptFacts;
use crate::streaming_answer::LiveAnswer;
use crate::worker_runtimes::{current_worker, max_workers};

/// The HTTP clients that all attempts share.
#[derive(Debug, Clone)]
pub struct Upstream {
    settings: ConnectionSettings,
    default: ClientPerWorker,
    /// Clients with other limits for a connection, made when first needed: as many as there are limits in a configuration.
    by_limit: Arc<Mutex<HashMap<Duration, ClientPerWorker>>>,
}

/// One client for each worker thread, since a connection is driven by the thread that made it.
#[derive(Debug, Clone)]
struct ClientPerWorker(Arc<[Client]>);

impl ClientPerWorker {
    fn new(limit: Duration, settings: &ConnectionSettings) -> Self {
        let clients = (0..max_workers()).map(|_| Client::new(limit, settings.clone()));
        Self(clients.collect())
    }

    /// The client of the current thread.
    fn current(&self) -> &Client {
        &self.0[current_worker() % self.0.len()]
    }
}

/// The answer of a successful attempt.
pub enum Answer {
    /// A whole body with content, byte for byte.
    Whole(Bytes),
    /// A stream at its first content.
    Live(Box<LiveAnswer>),
}

impl Upstream {
    /// Clients that call themselves `user_agent`, and go through the proxies that the environment names.
    pub fn new(user_agent: HeaderValue) -> Self {
        let settings = ConnectionSettings::from_environment(user_agent);
        Self {
            default: ClientPerWorker::new(Deadlines::DEFAULT.connect, &settings),
            settings,
            by_limit: Arc::default(),
        }
    }

    /// The client whose connections may take `limit`.
    fn client(&self, limit: Duration) -> Cow<'_, Client> {
        if limit == Deadlines::DEFAULT.connect {
            return Cow::Borrowed(self.default.current());
        }
        let mut by_limit = self.by_limit.lock().unwrap_or_else(PoisonError::into_inner);
        let clients = by_limit
            .entry(limit)
            .or_insert_with(|| ClientPerWorker::new(limit, &self.settings));
        Cow::Owned(clients.current().clone())
    }

    /// Makes one attempt. A plain answer returns when it is whole, a stream at its first content.
    ///
    /// # Errors
    /// Every other outcome, as a failure with all facts that are known. Dropping the future closes the exchange.
    pub async fn attempt(&self, call: &Call<'_>) -> Result<Answer, Failure> {
        let mut facts = AttemptFacts::new(call.endpoint, call.secret);
        let outcome = self.exchange(call, &mut facts).await;
        outcome.map_err(|failure| facts.complete(failure))
    }

    async fn exchange(&self, call: &Call<'_>, facts: &mut AttemptFacts) -> Result<Answer, Failure> {
        let deadlines = &call.deadlines;
        let end = AttemptDeadline::after(deadlines.total);
        let wants_stream = call.wants_stream();
        let head_limit = if wants_stream {
            deadlines.stream_head
        } else {
            deadlines.plain_head
        };
        let client = self.client(deadlines.connect);
        let sending = client.send(
            Method::POST,
            call.endpoint.target(call.wire),
            call.request_headers(wants_stream)?,
            call.body.with_model(call.model),
            ResendPolicy::RefusedOrClosed,
        );
        let sending = end.within(head_limit, TimeoutPhase::FirstByte, sending);
        let answer = match sending.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(transport_failure::of_error(&error, Phase::BeforeFirstByte)),
            // No byte came, whichever limit was over.
            Err(_) => {
                return Err(transport_failure::timeout(
                    TimeoutPhase::FirstByte,
                    Phase::BeforeFirstByte,
                ));
            }
        };
        let (head, source) = answer.into_parts();
        facts.set_headers(head.headers);
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

#[cfg(test)]
mod tests;
