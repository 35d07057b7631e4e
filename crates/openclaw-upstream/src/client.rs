//! The HTTP client below all calls: pools of connections, bounded buffers, and what goes wrong in its own words.

mod connection_retry;
mod connector;
mod tls;

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
use tokio::time::Instant;

use connection_retry::ConnectionUse;
pub(crate) use connection_retry::{ResendPolicy, answer_had_begun};
use connector::Connector;
pub(crate) use connector::{ConnectTimeout, DnsError};
use tls::Tls;

use openclaw_providers::is_loopback_host;

/// How long an unused connection is kept. Short, because a provider may close it at the moment it is used again.
const KEEP_LIMIT: Duration = Duration::from_secs(20);
/// The most that is read ahead of one answer, and the largest head of one, in bytes. Heads of providers have some
/// hundred bytes; what is read at once is held by every stream.
const READ_AHEAD: u32 = 32 * 1024;
/// What this program calls itself.
const AGENT: HeaderValue = HeaderValue::from_static(concat!("openclaw-gateway/", env!("CARGO_PKG_VERSION")));

/// Pools of connections with one limit for new ones. Redirects are answers: a key must not follow one.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pools: legacy::Client<Connector, Full<Bytes>>,
    ways: ConnectionSettings,
}

/// What all clients of a process share.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionSettings {
    /// The usual proxy variables.
    proxies: Arc<Matcher>,
    tls: Tls,
}

impl ConnectionSettings {
    /// The ways that the environment names.
    pub(crate) fn of_environment() -> Self {
        Self {
            proxies: Arc::new(Matcher::from_env()),
            tls: Tls::default(),
        }
    }
}

impl Client {
    /// A client whose connections may take `limit` to come about.
    pub(crate) fn new(limit: Duration, ways: ConnectionSettings) -> Self {
        let connector = Connector::new(limit, Arc::clone(&ways.proxies), ways.tls.clone());
        let pools = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEEP_LIMIT)
            .http1_max_buf_size(READ_AHEAD as usize)
            .http2_max_header_list_size(READ_AHEAD)
            .build(connector);
        Self { pools, ways }
    }

    /// Sends a request; the answer has come as far as its head. A connection on which the provider did not take it is
    /// no failure: it is sent on another one, as far as `when` allows.
    ///
    /// # Errors
    /// Everything that keeps a head from coming. An answer of any status is none.
    pub(crate) async fn send(
        &self,
        method: Method,
        to: &Uri,
        mut headers: HeaderMap,
        body: Bytes,
        when: ResendPolicy,
    ) -> Result<Response<Incoming>, legacy::Error> {
        headers.entry(USER_AGENT).or_insert(AGENT);
        // Inside a tunnel the proxy reads nothing, and its own request carries this.
        if to.scheme_str() == Some("http")
            && let Some(proxy) = proxy_of(&self.ways.proxies, to)
            && let Some(proof) = proxy.basic_auth()
        {
            headers
                .entry(PROXY_AUTHORIZATION)
                .or_insert_with(|| proof.clone());
        }
        let mut left = connection_retry::MOST;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = to.clone();
            *request.headers_mut() = headers.clone();
            let began = Instant::now();
            match self.pools.request(request).await {
                Ok(answer) => {
                    ConnectionUse::note(answer.extensions());
                    return Ok(answer);
                }
                Err(error) if left > 0 && when.allows(&error, began.elapsed()) => left -= 1,
                Err(error) => return Err(error),
            }
        }
    }
}

/// The proxy on the way to an address; none to this machine itself, which a proxy cannot reach.
fn proxy_of(proxies: &Matcher, to: &Uri) -> Option<hyper_util::client::proxy::matcher::Intercept> {
    let is_here = to.host().is_none_or(is_loopback_host);
    if is_here { None } else { proxies.intercept(to) }
}
