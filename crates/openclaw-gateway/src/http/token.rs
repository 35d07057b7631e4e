//! Refuses requests without the gateway's own token, and clients that try many wrong ones.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::Instant;

use super::Served;
use super::error::ApiError;

/// Refuses requests without the token, when there is one, and peers that guess it.
pub(crate) async fn require(served: Served, request: Request, next: Next) -> Response {
    match refusal(&served, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// The answer of [`require`] to a request that it refuses.
pub(super) fn refusal(served: &Served, request: &Request) -> Option<Response> {
    let token = served.generation.token.as_ref()?;
    let connection = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = connection.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
    let now = Instant::now();
    if let Some(wait) = served.process.auth_throttle.wait(peer, now) {
        return Some(refuse(ApiError::guessing(wait), request));
    }
    match token.check(request.headers()) {
        Ok(()) => None,
        Err(sent) => {
            if let Some(guess) = sent {
                served.process.auth_throttle.add(peer, guess, now);
            }
            Some(refuse(ApiError::unauthorized(), request))
        }
    }
}

fn refuse(error: ApiError, request: &Request) -> Response {
    error.for_path(request.uri().path()).into_response()
}
