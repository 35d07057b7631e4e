//! Serves connections, with deadlines for slow clients and a drain at the end.

mod active_requests;
mod connection_limit;
mod request_body;
mod write_timeout;

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tower_service::Service;

use openclaw_upstream::WorkerRuntimes;

use active_requests::ActiveRequests;
use connection_limit::ConnectionLimit;
pub(crate) use request_body::BodyFault;
use write_timeout::WriteTimeout;

/// The deadlines of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// For the head of a request, counted from the end of the answer before it.
    pub(crate) head: Duration,
    /// For the next piece of a request's body.
    pub(crate) body: Duration,
    /// For the whole body of a request.
    pub(crate) whole_body: Duration,
    /// For a client to read the next piece of its answer.
    pub(crate) take: Duration,
    /// For answers in flight after the signal to stop.
    pub(crate) drain: Duration,
    /// For the last bytes of a finished answer to leave after the signal to stop.
    pub(crate) flush: Duration,
}

impl Default for Server {
    /// 30 s for a head, 60 s without progress and 5 min in all for a body, 5 min without progress for an answer, 30 s to
    /// drain. The largest body takes 5 min at a megabit per second.
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_mins(1),
            whole_body: Duration::from_mins(5),
            take: Duration::from_mins(5),
            drain: Duration::from_secs(30),
            flush: Duration::from_secs(1),
        }
    }
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Every answer was finished.
    Completely,
    /// Some answers were cut: the deadline was over, or a second signal came.
    Partly,
}

/// The most that is read ahead of one request, and the largest head of one, in bytes.
const READ_AHEAD: usize = 128 * 1024;

/// A service that answers requests and is always ready.
pub trait Answers:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

impl<S> Answers for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + 'static
{
}

/// Tells connections to stop: `true` is the end of serving, a closed channel the end of draining.
type Draining = watch::Receiver<bool>;

impl Server {
    /// Lets `answers` answer what comes to `listener` until `stop` is done, then accepts nothing new and lets answers
    /// finish; when `stop_now` is done, that ends at once. Each connection is served by one of `workers`; one that comes
    /// while `most` are open gets a 503.
    pub async fn serve_until(
        self,
        workers: &WorkerRuntimes,
        mut listener: TcpListener,
        most: impl Fn() -> usize,
        answers: impl Answers,
        stop: impl Future<Output = ()>,
        stop_now: impl Future<Output = ()>,
    ) -> Drained {
        let (drain, draining) = watch::channel(false);
        // Every connection holds a sender, so the channel closes with the last of them.
        let (open, mut closed) = mpsc::channel::<()>(1);
        let mut stop = std::pin::pin!(stop);
        let mut limit = ConnectionLimit::default();
        loop {
            let (stream, peer) = tokio::select! {
                accepted = Listener::accept(&mut listener) => accepted,
                () = &mut stop => break,
            };
            // One of the senders belongs to this loop.
            if !limit.has_room(open.strong_count() - 1, most()) {
                connection_limit::turn_away(stream);
                continue;
            }
            let (answers, draining, open) = (answers.clone(), draining.clone(), open.clone());
            workers.spawn(|is_here| async move {
                match if is_here {
                    Ok(stream)
                } else {
                    registered_here(stream)
                } {
                    Ok(stream) => self.connection(stream, peer, answers, draining).await,
                    Err(error) => tracing::warn!(%error, "a connection was lost"),
                }
                drop(open);
            });
        }
        drop((listener, open));
        drain.send_replace(true);
        tokio::select! {
            // Nothing is ever sent, so this is the end of all connections.
            _ = closed.recv() => Drained::Completely,
            () = stop_now => Drained::Partly,
            () = tokio::time::sleep(self.drain) => Drained::Partly,
        }
    }

    /// Serves one connection, from its first request to its end or the end of draining. How it ends is not reported; the
    /// outcome of a request is reported by its handler.
    async fn connection(
        self,
        stream: TcpStream,
        peer: SocketAddr,
        answers: impl Answers,
        mut draining: Draining,
    ) {
        // Small events must not be delayed to be sent together.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(error = &error as &dyn std::error::Error, "small packets may wait");
        }
        let active = ActiveRequests::default();
        let service = {
            let (active, draining) = (active.clone(), draining.clone());
            service_fn(move |request: Request<Incoming>| {
                let active_request = active.begin();
                let draining = draining.clone();
                let mut request = request
                    .map(|body| request_body::with_deadlines(body, self.body, self.whole_body, draining));
                // Wrong tokens are counted by address.
                request.extensions_mut().insert(ConnectInfo(peer));
                let answer = answers.clone().call(request);
                async move {
                    answer
                        .await
                        .map(|answer| answer.map(|body| active_request.until_end_of(body)))
                }
            })
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head)
            .max_buf_size(READ_AHEAD)
            .serve_connection(TokioIo::new(WriteTimeout::new(stream, self.take)), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            biased;
            _ = &mut connection => return,
            () = begins(&mut draining) => connection.as_mut().graceful_shutdown(),
        }
        let unused = async {
            active.idle().await;
            tokio::time::sleep(self.flush).await;
        };
        tokio::select! {
            _ = &mut connection => {}
            // Only half a request is left, or a client that does not read its answer.
            () = unused => {}
            () = ends(&mut draining) => {}
        }
    }
}

/// Registers the stream with the current runtime.
fn registered_here(stream: TcpStream) -> std::io::Result<TcpStream> {
    TcpStream::from_std(stream.into_std()?)
}

/// Waits for the end of serving.
async fn begins(draining: &mut Draining) {
    // A closed channel is the end of it as well.
    let _ = draining.wait_for(|draining| *draining).await;
}

/// Waits for the end of draining.
async fn ends(draining: &mut Draining) {
    while draining.changed().await.is_ok() {}
}

#[cfg(test)]
mod tests;
