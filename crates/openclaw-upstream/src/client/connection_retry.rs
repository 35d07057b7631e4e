//! Whether a request that failed may be sent on another connection, because the provider did not take it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Extensions;
use hyper_util::client::legacy;

use openclaw_classify::error_chain;

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

/// What a connection has brought so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionUse(Arc<ConnectionTraffic>);

#[derive(Debug, Default)]
struct ConnectionTraffic {
    /// An answer, to an earlier request.
    answer: AtomicBool,
    /// Bytes since the first of the latest request was sent.
    bytes: AtomicBool,
    /// Whether that request has been answered, so that what is sent next begins another.
    is_answered: AtomicBool,
}

impl ConnectionUse {
    /// Notes an answer on the connection that it came on.
    pub(super) fn note(answer: &Extensions) {
        if let Some(used) = answer.get::<Self>() {
            used.0.answer.store(true, Ordering::Relaxed);
            used.0.is_answered.store(true, Ordering::Relaxed);
        }
    }

    /// Notes bytes that came.
    pub(super) fn note_bytes(&self) {
        self.0.bytes.store(true, Ordering::Relaxed);
    }

    /// Notes bytes that are sent: what comes after the first ones of a request is about it, also while the rest is on its
    /// way.
    pub(super) fn note_request(&self) {
        if self.0.is_answered.swap(false, Ordering::Relaxed) {
            self.0.bytes.store(false, Ordering::Relaxed);
        }
    }

    fn of(error: &legacy::Error) -> Option<Self> {
        let connected = error.connect_info()?;
        let mut extras = Extensions::new();
        connected.get_extras(&mut extras);
        // HTTP/2 brings frames that are about no request.
        extras.remove::<Self>().filter(|_| !connected.is_negotiated_h2())
    }
}

/// Whether an answer had begun, be it with the first byte of its head: the provider has the request.
pub(crate) fn answer_had_begun(error: &legacy::Error) -> bool {
    ConnectionUse::of(error).is_some_and(|used| used.0.bytes.load(Ordering::Relaxed))
}

/// When a request may be sent again that brought no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResendPolicy {
    /// The server says that it did not take it. For what must not arrive twice, such as a refresh token.
    Refused,
    /// That, or it met a kept connection at the moment it was closed.
    RefusedOrClosed,
}

impl ResendPolicy {
    /// Whether a request that failed so, after this time, may be sent again.
    pub(super) fn allows(self, error: &legacy::Error, after: Duration) -> bool {
        let met_end = || after < AT_ONCE && is_kept(error) && error_chain::each(error).any(is_closed);
        is_refused(error) || (self == Self::RefusedOrClosed && met_end())
    }
}

/// Whether the server says that it did not take a request.
fn is_refused(error: &legacy::Error) -> bool {
    let says_so = |cause: &(dyn Error + 'static)| {
        let words = cause.to_string();
        NOT_TAKEN.iter().any(|known| words.starts_with(known))
    };
    error_chain::each(error).any(says_so)
}

/// Whether it was made on a connection that had brought an answer, brings one at a time, and had not begun another.
fn is_kept(error: &legacy::Error) -> bool {
    ConnectionUse::of(error)
        .is_some_and(|used| used.0.answer.load(Ordering::Relaxed) && !used.0.bytes.load(Ordering::Relaxed))
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

#[cfg(test)]
mod tests;
