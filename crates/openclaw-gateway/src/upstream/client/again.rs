//! Whether a request that failed may be sent on another connection, because the provider did not take it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::http::Extensions;
use hyper_util::client::legacy;

/// How many times more one request is sent. A pool can hold several connections that are gone.
pub(super) const MOST: u32 = 2;

/// How soon a kept connection ends that the provider had given up already. Later it may have read the request.
const AT_ONCE: Duration = Duration::from_secs(1);

/// In which words the client library says that an HTTP/2 server did not take a request (RFC 9113, 8.7): its stream was
/// refused, or the server left in peace before it came to it.
const NOT_TAKEN: &[&str] = &[
    "stream error received: refused stream before processing any application logic",
    "connection error received: not a result of an error",
];

/// Whether a connection has brought an answer before.
#[derive(Debug, Clone, Default)]
pub(super) struct Used(Arc<AtomicBool>);

impl Used {
    /// Notes an answer on the connection that it came on.
    pub(super) fn note(answer: &Extensions) {
        if let Some(used) = answer.get::<Self>() {
            used.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether the provider did not take a request that failed after this time: it says so, or the request met a kept
/// connection at the moment it was closed.
pub(super) fn was_not_taken(error: &legacy::Error, after: Duration) -> bool {
    let says_so = |cause: &(dyn Error + 'static)| {
        let words = cause.to_string();
        NOT_TAKEN.iter().any(|known| words.starts_with(known))
    };
    causes(error).any(says_so) || (after < AT_ONCE && is_kept(error) && causes(error).any(is_closed))
}

/// Whether it was made on a connection that had brought an answer, and brings one at a time.
fn is_kept(error: &legacy::Error) -> bool {
    error.connect_info().is_some_and(|connected| {
        let mut extras = Extensions::new();
        connected.get_extras(&mut extras);
        let used = extras
            .get::<Used>()
            .is_some_and(|used| used.0.load(Ordering::Relaxed));
        used && !connected.is_negotiated_h2()
    })
}

/// Whether the connection ended without an answer.
fn is_closed(cause: &(dyn Error + 'static)) -> bool {
    let is_incomplete = |error: &hyper::Error| error.is_incomplete_message();
    let is_reset = |error: &io::Error| {
        matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
        )
    };
    cause.downcast_ref().is_some_and(is_incomplete) || cause.downcast_ref().is_some_and(is_reset)
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| (*cause).source())
}

#[cfg(test)]
mod tests;
