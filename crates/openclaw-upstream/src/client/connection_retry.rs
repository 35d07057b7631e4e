//! Whether a failed request may be sent again on another connection, because the provider did not take it.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Extensions;
use hyper_util::client::legacy;

use openclaw_classify::error_chain;

/// How often one request is sent again. A pool can hold several closed connections.
pub(super) const MAX_RETRIES: u32 = 2;

/// How soon a request fails on a kept connection that the provider had closed already. Later it may have read the request.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// Messages of the client library for an HTTP/2 server that did not take a request (RFC 9113, 8.7): its stream was refused,
/// or the server closed the connection gracefully before it.
const NOT_TAKEN: &[&str] = &[
    "stream error received: refused stream before processing any application logic",
    "connection error received: not a result of an error",
];

/// What came on a connection so far.
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
    /// Notes an answer on its connection.
    pub(super) fn note_answer(answer: &Extensions) {
        if let Some(usage) = answer.get::<Self>() {
            usage.0.answer.store(true, Ordering::Relaxed);
            usage.0.is_answered.store(true, Ordering::Relaxed);
        }
    }

    /// Notes bytes that came.
    pub(super) fn note_bytes(&self) {
        self.0.bytes.store(true, Ordering::Relaxed);
    }

    /// Notes bytes that are sent. What comes after the first bytes of a request belongs to it, also while the rest is still
    /// being sent.
    pub(super) fn note_request(&self) {
        if self.0.is_answered.swap(false, Ordering::Relaxed) {
            self.0.bytes.store(false, Ordering::Relaxed);
        }
    }

    fn of(error: &legacy::Error) -> Option<Self> {
        let connected = error.connect_info()?;
        let mut extras = Extensions::new();
        connected.get_extras(&mut extras);
        // HTTP/2 has frames that belong to no request.
        extras.remove::<Self>().filter(|_| !connected.is_negotiated_h2())
    }
}

/// Whether at least the first byte of an answer came: the provider has the request.
pub(crate) fn answer_had_begun(error: &legacy::Error) -> bool {
    ConnectionUse::of(error).is_some_and(|usage| usage.0.bytes.load(Ordering::Relaxed))
}

/// When a request without an answer may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResendPolicy {
    /// When the server says that it did not take it. For what must not arrive twice, such as a refresh token.
    Refused,
    /// Then, or when it met a kept connection that was just being closed.
    RefusedOrClosed,
}

impl ResendPolicy {
    /// Whether a request that failed so, after this time, may be sent again.
    pub(super) fn allows(self, error: &legacy::Error, after: Duration) -> bool {
        let met_close = || after < CLOSED_WITHIN && is_kept(error) && error_chain::each(error).any(is_closed);
        is_refused(error) || (self == Self::RefusedOrClosed && met_close())
    }
}

/// Whether the server says that it did not take a request.
fn is_refused(error: &legacy::Error) -> bool {
    let is_refusal = |cause: &(dyn Error + 'static)| {
        let words = cause.to_string();
        NOT_TAKEN.iter().any(|known| words.starts_with(known))
    };
    error_chain::each(error).any(is_refusal)
}

/// Whether its connection was kept from an earlier answer, carries one request at a time, and had brought nothing since.
fn is_kept(error: &legacy::Error) -> bool {
    ConnectionUse::of(error)
        .is_some_and(|usage| usage.0.answer.load(Ordering::Relaxed) && !usage.0.bytes.load(Ordering::Relaxed))
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
