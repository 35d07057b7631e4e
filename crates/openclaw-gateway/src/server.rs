//! Serves connections: nobody holds a place by sending half a request, and stopping lets answers finish.

mod body;
mod busy;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::serve::{Listener, ListenerExt};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

pub(crate) use body::BodyFault;
use busy::Busy;

/// How long a server waits for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server {
    /// For the head of a request, counted from the end of the answer before it.
    pub(crate) head: Duration,
    /// For the next piece of a request's body.
    pub(crate) body: Duration,
    /// For the whole body of a request, however steadily it trickles.
    pub(crate) whole_body: Duration,
    /// For answers in flight after the signal to stop.
    pub(crate) drain: Duration,
    /// For the last bytes of a finished answer to leave after the signal to stop.
    pub(crate) flush: Duration,
}

impl Default for Server {
    /// 30 s for a head, 60 s without progress and 5 min in all for a body, 30 s to drain. The largest body takes 5 min
    /// at a megabit per second.
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_mins(1),
            whole_body: Duration::from_mins(5),
            drain: Duration::from_secs(30),
            flush: Duration::from_secs(1),
        }
    }
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Every answer was finished.
    Completely,
    /// Some answers were cut: the limit was reached, or a second signal asked to go at once.
    Partly,
}

/// What connections are told: `true` is the end of serving, a closed channel the end of draining.
type Draining = watch::Receiver<bool>;

impl Server {
    /// Serves `router` on `listener` until `stop` is done, then accepts nothing new and lets answers finish; when
    /// `stop_now` is done, that ends at once.
    pub(crate) async fn serve_until(
        self,
        listener: TcpListener,
        router: Router,
        stop: impl Future<Output = ()>,
        stop_now: impl Future<Output = ()>,
    ) -> Drained {
        let (drain, draining) = watch::channel(false);
        // Every connection holds a sender, so the channel closes with the last of them.
        let (open, mut closed) = mpsc::channel::<()>(1);
        // Small events must not wait for each other.
        let mut listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(error = &error as &dyn std::error::Error, "small packets may wait");
            }
        });
        let mut stop = std::pin::pin!(stop);
        loop {
            let (stream, peer) = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => break,
            };
            let (router, draining, open) = (router.clone(), draining.clone(), open.clone());
            tokio::spawn(async move {
                self.connection(stream, peer, router, draining).await;
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

    /// One connection, from its first request to its end or the end of draining. How it ends is its client's business;
    /// what came of a request is told by its handler.
    async fn connection(self, stream: TcpStream, peer: SocketAddr, router: Router, mut draining: Draining) {
        let busy = Busy::default();
        let routes = TowerToHyperService::new(router);
        let service = {
            let (busy, draining) = (busy.clone(), draining.clone());
            service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let work = busy.begin();
                let draining = draining.clone();
                let mut request =
                    request.map(|body| body::patient(Body::new(body), self.body, self.whole_body, draining));
                // Who guesses the token is told apart by address.
                request.extensions_mut().insert(ConnectInfo(peer));
                let answer = routes.call(request);
                async move {
                    answer
                        .await
                        .map(|answer| answer.map(|body| work.until_end_of(body)))
                }
            })
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.head)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = &mut connection => return,
            () = begins(&mut draining) => connection.as_mut().graceful_shutdown(),
        }
        let unused = async {
            busy.idle().await;
            tokio::time::sleep(self.flush).await;
        };
        tokio::select! {
            _ = &mut connection => {}
            // What is left is half a request, or a client that does not take its answer.
            () = unused => {}
            () = ends(&mut draining) => {}
        }
    }
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
