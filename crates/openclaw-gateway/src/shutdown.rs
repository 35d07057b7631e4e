//! Serves until a signal, then lets the answers in flight finish, up to a limit.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// How long answers in flight may take after a signal.
pub(crate) const DRAIN_LIMIT: Duration = Duration::from_secs(30);

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drained {
    /// Every answer was finished.
    Completely,
    /// Some answers were cut: the limit was reached, or a second signal asked to go at once.
    Partly,
}

/// Waits for the operator to end the process: an interrupt (Ctrl-C) or a termination request.
///
/// # Errors
/// When the system refuses to deliver signals.
pub(crate) async fn signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Serves `router` on `listener` until `stop` is done, then accepts nothing new and drains for up to `limit`;
/// when `stop_now` is done, draining ends at once.
///
/// # Errors
/// When the listener fails.
pub(crate) async fn serve_until(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()>,
    stop_now: impl Future<Output = ()>,
    limit: Duration,
) -> io::Result<Drained> {
    let (drain, draining) = oneshot::channel::<()>();
    // Small events must not wait for each other.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(error = &error as &dyn std::error::Error, "small packets may wait");
        }
    });
    // Who guesses the token is told apart by address.
    let router = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async {
        // An error means that the sender is gone, which is the end of this function anyway.
        let _ = draining.await;
    });
    let mut serving = std::pin::pin!(serving.into_future());
    tokio::select! {
        ended = &mut serving => return ended.map(|()| Drained::Completely),
        () = stop => {}
    }
    // The receiver lives as long as `serving`.
    let _ = drain.send(());
    tokio::select! {
        ended = &mut serving => ended.map(|()| Drained::Completely),
        () = stop_now => Ok(Drained::Partly),
        () = tokio::time::sleep(limit) => Ok(Drained::Partly),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::extract::ConnectInfo;
    use axum::routing::get;
    use tokio::sync::Notify;

    use super::*;

    /// One request that waits inside its handler until `answer`, while the server is told to stop.
    async fn stop_during_a_request(limit: Duration, answers: bool) -> (Drained, Option<u16>) {
        let (arrived, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let handler = {
            let (arrived, answer) = (Arc::clone(&arrived), Arc::clone(&answer));
            move |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move {
                assert!(peer.ip().is_loopback(), "peers are told apart by address");
                arrived.notify_one();
                answer.notified().await;
                "late"
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let router = Router::new().route("/", get(handler));
        let request = tokio::spawn(async move {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            client
                .get(url)
                .send()
                .await
                .ok()
                .map(|response| response.status().as_u16())
        });
        let stop = async {
            arrived.notified().await;
            if answers {
                answer.notify_one();
            }
        };
        let drained = serve_until(listener, router, stop, std::future::pending(), limit)
            .await
            .unwrap();
        if !answers {
            request.abort();
        }
        (drained, request.await.ok().flatten())
    }

    #[tokio::test]
    async fn answers_in_flight_are_finished() {
        let outcome = stop_during_a_request(Duration::from_secs(30), true).await;
        assert_eq!(outcome, (Drained::Completely, Some(200)));
    }

    #[tokio::test]
    async fn draining_has_a_limit() {
        let outcome = stop_during_a_request(Duration::from_millis(20), false).await;
        assert_eq!(outcome, (Drained::Partly, None));
    }
}
