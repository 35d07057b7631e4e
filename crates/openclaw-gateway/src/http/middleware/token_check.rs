//! Checks the gateway's own token, and slows down clients that try many wrong ones.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request};
use tokio::time::Instant;

use crate::http::{ApiError, RequestContext};

/// The error for a request without the token, when there is one, or from a client that tried too many wrong ones.
pub(super) fn refusal(context: &RequestContext, request: &Request) -> Option<ApiError> {
    let token = context.generation.token.as_ref()?;
    let connection = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let peer = connection.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
    let now = Instant::now();
    if let Some(wait) = context.process.auth_throttle.wait(peer, now) {
        return Some(ApiError::guessing(wait));
    }
    match token.check(request.headers()) {
        Ok(()) => None,
        Err(sent) => {
            if let Some(guess) = sent {
                context.process.auth_throttle.add(peer, guess, now);
            }
            Some(ApiError::unauthorized())
        }
    }
}
