//! The HTTP client below all calls: pools of connections and bounded buffers.

mod connection_retry;
mod connector;
mod tls;
pub(crate) mod transport_failure;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, PROXY_AUTHORIZATION, USER_AGENT};
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use openclaw_providers::is_loopback_host;
use tokio::time::Instant;

use connection_retry::ConnectionUse;
pub(crate) use connection_retry::{ResendPolicy, answer_had_begun};
use connector::Connector;
pub(crate) use connector::{ConnectTimeout, DnsError};
use tls::Tls;

/// How long an unused connection is kept. Short, because a provider may close it at the moment it is used again.
const KEEP_LIMIT: Duration = Duration::from_secs(20);
/// The most that is read ahead of one answer, and the largest head of one, in bytes. Heads of providers have some
/// hundred bytes, and every stream holds a buffer of this size at most.
const READ_AHEAD: u32 = 32 * 1024;

/// Pools of connections with one limit for new ones. Redirects are answers: a key must not follow one.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pools: legacy::Client<Connector, Full<Bytes>>,
    settings: ConnectionSettings,
}

/// What all clients of one [`Upstream`](crate::Upstream) share.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionSettings {
    /// The name of the program in the header `user-agent`.
    user_agent: HeaderValue,
    /// The proxies of the usual variables.
    proxies: Arc<Matcher>,
    tls: Tls,
}

impl ConnectionSettings {
    /// The proxies that the environment names.
    pub(crate) fn from_environment(user_agent: HeaderValue) -> Self {
        Self {
            user_agent,
            proxies: Arc::new(Matcher::from_env()),
            tls: Tls::default(),
        }
    }
}

impl Client {
    /// A client that gives up a new connection after `limit`.
    pub(crate) fn new(limit: Duration, settings: ConnectionSettings) -> Self {
        let connector = Connector::new(limit, &settings);
        let pools = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEEP_LIMIT)
            .http1_max_buf_size(READ_AHEAD as usize)
            .http2_max_header_list_size(READ_AHEAD)
            .build(connector);
        Self { pools, settings }
    }

    /// Sends a request and returns the head of its answer. When the provider did not take it on one connection, it is sent on
    /// another one, as far as `resend` allows.
    ///
    /// # Errors
    /// When no head comes. An answer of any status is no error.
    pub(crate) async fn send(
        &self,
        method: Method,
        to: &Uri,
        mut headers: HeaderMap,
        body: Bytes,
        resend: ResendPolicy,
    ) -> Result<Response<Incoming>, legacy::Error> {
        headers
            .entry(USER_AGENT)
            .or_insert_with(|| self.settings.user_agent.clone());
        // Within a tunnel the proxy cannot read this; the request that opens the tunnel carries it.
        if to.scheme_str() == Some("http")
            && let Some(proxy) = proxy_of(&self.settings.proxies, to)
            && let Some(proof) = proxy.basic_auth()
        {
            headers
                .entry(PROXY_AUTHORIZATION)
                .or_insert_with(|| proof.clone());
        }
        let mut retries_left = connection_retry::MAX_RETRIES;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = to.clone();
            *request.headers_mut() = headers.clone();
            let began = Instant::now();
            match self.pools.request(request).await {
                Ok(answer) => {
                    ConnectionUse::note_answer(answer.extensions());
                    return Ok(answer);
                }
                Err(error) if retries_left > 0 && resend.allows(&error, began.elapsed()) => retries_left -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The proxy for an address; none for this machine itself, which a proxy cannot reach.
fn proxy_of(proxies: &Matcher, to: &Uri) -> Option<hyper_util::client::proxy::matcher::Intercept> {
    let is_here = to.host().is_none_or(is_loopback_host);
    if is_here { None } else { proxies.intercept(to) }
}
