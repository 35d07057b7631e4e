//! Makes connections: directly or through a proxy, plain or encrypted, within one deadline.

use std::error::Error;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::header::{HeaderMap, USER_AGENT};
use http::uri::{Authority, Scheme};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiResolver, Name};
use hyper_util::client::legacy::connect::proxy::{SocksV4, SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tower_service::Service;

use super::connection_retry::ConnectionUse;
use super::{ConnectionSettings, proxy_of};

/// TCP keepalive: the silence before and between probes, the number of probes, and how long sent bytes may stay
/// unacknowledged.
const KEEPALIVE_AFTER: Duration = Duration::from_secs(15);
const KEEPALIVE_PROBES: u32 = 3;
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

type BoxError = Box<dyn Error + Send + Sync>;
type Connecting<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;
type Tcp = HttpConnector<Resolver>;

/// A connection took longer than its limit.
#[derive(Debug, thiserror::Error)]
#[error("operation timed out")]
pub(crate) struct ConnectTimeout;

/// A name could not be resolved.
#[derive(Debug, thiserror::Error)]
#[error("dns error")]
pub(crate) struct DnsError(#[source] io::Error);

/// Makes connections for the pools.
#[derive(Debug, Clone)]
pub(super) struct Connector {
    limit: Duration,
    route: Route,
}

impl Connector {
    pub(super) fn new(limit: Duration, settings: &ConnectionSettings) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Resolver(GaiResolver::new()));
        tcp.enforce_http(false);
        // Small events must not be delayed to be sent together.
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_keepalive(Some(KEEPALIVE_AFTER));
        tcp.set_keepalive_interval(Some(KEEPALIVE_AFTER));
        tcp.set_keepalive_retries(Some(KEEPALIVE_PROBES));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        Self {
            limit,
            route: Route {
                tcp,
                settings: settings.clone(),
            },
        }
    }
}

impl Service<Uri> for Connector {
    type Response = TokioIo<ObservedConnection>;
    type Error = BoxError;
    type Future = Connecting<Self::Response>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Self { limit, route } = self.clone();
        Box::pin(async move {
            let connecting = async {
                if to.scheme() != Some(&Scheme::HTTPS) {
                    let raw = route.connect(to).await?;
                    return Ok(ObservedConnection::new(
                        MaybeHttpsStream::Http(raw.io),
                        raw.proxy_sends_request,
                    ));
                }
                let config = route.settings.tls.to_provider().await?;
                let io = HttpsConnector::from((route, config)).call(to).await?;
                Ok(ObservedConnection::new(io, false))
            };
            match tokio::time::timeout(limit, connecting).await {
                Ok(made) => made,
                Err(_) => Err(ConnectTimeout.into()),
            }
        })
    }
}

/// Connects to an address, without encryption towards it.
#[derive(Debug, Clone)]
struct Route {
    tcp: Tcp,
    settings: ConnectionSettings,
}

impl Route {
    async fn connect(self, to: Uri) -> Result<RawConnection, BoxError> {
        let Self { mut tcp, settings } = self;
        match proxy_of(&settings.proxies, &to) {
            None => Ok(RawConnection::through(MaybeHttpsStream::Http(
                tcp.call(to).await?,
            ))),
            Some(proxy) => ProxyConnector { tcp, settings }.connect(&proxy, to).await,
        }
    }
}

impl Service<Uri> for Route {
    type Response = Io;
    type Error = BoxError;
    type Future = Connecting<Io>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let route = self.clone();
        Box::pin(async move { Ok(route.connect(to).await?.io) })
    }
}

/// Connects to a proxy, encrypted if its URL says so.
#[derive(Debug, Clone)]
struct ProxyConnector {
    tcp: Tcp,
    settings: ConnectionSettings,
}

impl ProxyConnector {
    /// Connects to an address by the proxy: through a tunnel, unless the proxy can send a plain request itself.
    async fn connect(mut self, proxy: &Intercept, to: Uri) -> Result<RawConnection, BoxError> {
        let at = proxy.uri().clone();
        match at.scheme_str() {
            Some("socks4" | "socks4a") => {
                let resolves_locally = at.scheme_str() == Some("socks4");
                let mut socks = SocksV4::new(at, self.tcp).local_dns(resolves_locally);
                Ok(RawConnection::through(MaybeHttpsStream::Http(
                    socks.call(with_port(to)?).await?,
                )))
            }
            Some("socks5" | "socks5h") => {
                let resolves_locally = at.scheme_str() == Some("socks5");
                let mut socks = SocksV5::new(at, self.tcp).local_dns(resolves_locally);
                if let Some((user, password)) = proxy.raw_auth() {
                    socks = socks.with_auth(user.to_owned(), password.to_owned());
                }
                Ok(RawConnection::through(MaybeHttpsStream::Http(
                    socks.call(with_port(to)?).await?,
                )))
            }
            _ if to.scheme() == Some(&Scheme::HTTPS) => {
                let mut headers = HeaderMap::new();
                headers.insert(USER_AGENT, self.settings.user_agent.clone());
                let mut tunnel = Tunnel::new(at, self).with_headers(headers);
                if let Some(proof) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(proof.clone());
                }
                Ok(RawConnection::through(tunnel.call(to).await?))
            }
            _ => Ok(RawConnection {
                io: self.call(at).await?,
                proxy_sends_request: true,
            }),
        }
    }
}

/// The address with its port, since SOCKS would take 443 where none is named.
fn with_port(to: Uri) -> Result<Uri, BoxError> {
    match to.authority() {
        Some(authority) if to.scheme() == Some(&Scheme::HTTP) && authority.port().is_none() => {
            let authority: Authority = format!("{}:80", authority.host()).parse()?;
            let mut parts = to.into_parts();
            parts.authority = Some(authority);
            Ok(Uri::from_parts(parts)?)
        }
        Some(_) | None => Ok(to),
    }
}

impl Service<Uri> for ProxyConnector {
    type Response = Io;
    type Error = BoxError;
    type Future = Connecting<Io>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, at: Uri) -> Self::Future {
        let Self { mut tcp, settings } = self.clone();
        Box::pin(async move {
            if at.scheme() != Some(&Scheme::HTTPS) {
                return Ok(MaybeHttpsStream::Http(tcp.call(at).await?));
            }
            let config = settings.tls.to_proxy().await?;
            HttpsConnector::from((tcp, config)).call(at).await
        })
    }
}

/// A connection to an address or to a proxy, which may be encrypted by itself.
type Io = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection to the address that is called, or to a proxy that sends the request.
struct RawConnection {
    io: Io,
    /// Whether a proxy sends the request, so that it has to name its target in full.
    proxy_sends_request: bool,
}

impl RawConnection {
    fn through(io: Io) -> Self {
        Self {
            io,
            proxy_sends_request: false,
        }
    }
}

/// A whole connection, which notes what comes on it. It is above all encryption, whose own messages are no part of an answer.
#[derive(Debug)]
pub(super) struct ObservedConnection {
    io: TokioIo<MaybeHttpsStream<Io>>,
    proxy_sends_request: bool,
    usage: ConnectionUse,
}

impl ObservedConnection {
    fn new(io: MaybeHttpsStream<Io>, proxy_sends_request: bool) -> TokioIo<Self> {
        TokioIo::new(Self {
            io: TokioIo::new(io),
            proxy_sends_request,
            usage: ConnectionUse::default(),
        })
    }
}

impl Connection for ObservedConnection {
    fn connected(&self) -> Connected {
        let connected = self.io.inner().connected().proxy(self.proxy_sends_request);
        connected.extra(self.usage.clone())
    }
}

impl AsyncRead for ObservedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.usage.note_bytes();
        }
        read
    }
}

impl AsyncWrite for ObservedConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.usage.note_request();
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.usage.note_request();
        Pin::new(&mut self.io).poll_write_vectored(context, pieces)
    }
}

/// Resolves names with the system's resolver, with an error of its own.
#[derive(Debug, Clone)]
struct Resolver(GaiResolver);

impl Service<Name> for Resolver {
    type Response = GaiAddrs;
    type Error = DnsError;
    type Future = Pin<Box<dyn Future<Output = Result<GaiAddrs, DnsError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), DnsError>> {
        self.0.poll_ready(context).map_err(DnsError)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let looking = self.0.call(name);
        Box::pin(async move { looking.await.map_err(DnsError) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_no_port_and_is_not_encrypted_gets_one() {
        for (to, expected) in [
            ("http://api.example/v1", "http://api.example:80/v1"),
            ("http://[2001:db8::1]/v1?a", "http://[2001:db8::1]:80/v1?a"),
            ("http://api.example:8080/v1", "http://api.example:8080/v1"),
            ("https://api.example/v1", "https://api.example/v1"),
        ] {
            let found = with_port(to.parse().unwrap()).unwrap();
            assert_eq!(found.to_string(), expected);
        }
    }
}
