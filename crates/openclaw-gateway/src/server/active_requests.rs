//! Counts the requests of a connection that are being answered.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

/// Counts the requests of one connection that are not answered to the end.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveRequests(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    requests: AtomicUsize,
    /// Notified when the last of them is answered.
    idle: Notify,
}

impl ActiveRequests {
    /// A request begins.
    pub(super) fn begin(&self) -> ActiveRequest {
        self.0.requests.fetch_add(1, Ordering::AcqRel);
        ActiveRequest(self.clone())
    }

    /// Waits until no request is being answered.
    pub(super) async fn idle(&self) {
        loop {
            // Registered before the check, so that no notification is missed.
            let notified = self.0.idle.notified();
            if self.0.requests.load(Ordering::Acquire) == 0 {
                return;
            }
            notified.await;
        }
    }
}

/// One request that is being answered.
#[derive(Debug)]
pub(super) struct ActiveRequest(ActiveRequests);

impl ActiveRequest {
    /// The answer's body; the request ends with it, when it was sent or is dropped.
    pub(super) fn until_end_of(self, body: Body) -> CountedBody {
        CountedBody { body, _request: self }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let Self(ActiveRequests(counter)) = self;
        if counter.requests.fetch_sub(1, Ordering::AcqRel) == 1 {
            counter.idle.notify_waiters();
        }
    }
}

/// A body with its active request; length and pieces stay as they are.
pub(super) struct CountedBody {
    body: Body,
    _request: ActiveRequest,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
