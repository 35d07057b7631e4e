//! Whether a connection owes somebody an answer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

/// Counts the requests of one connection that are not answered to the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requests: AtomicUsize,
    /// Told when the last of them is answered.
    idle: Notify,
}

impl Busy {
    /// A request is there.
    pub(super) fn begin(&self) -> Work {
        self.0.requests.fetch_add(1, Ordering::AcqRel);
        Work(self.clone())
    }

    /// Waits until nothing is owed.
    pub(super) async fn idle(&self) {
        loop {
            // Listens before it looks, so that nothing is missed in between.
            let told = self.0.idle.notified();
            if self.0.requests.load(Ordering::Acquire) == 0 {
                return;
            }
            told.await;
        }
    }
}

/// One request that is being answered.
#[derive(Debug)]
pub(super) struct Work(Busy);

impl Work {
    /// The answer's body, which ends the work with its last piece or when nobody wants it any more.
    pub(super) fn until_end_of(self, body: Body) -> Counted {
        Counted { body, _work: self }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let Self(Busy(state)) = self;
        if state.requests.fetch_sub(1, Ordering::AcqRel) == 1 {
            state.idle.notify_waiters();
        }
    }
}

/// A body with the work that it is; its length and pieces stay as they are.
pub(super) struct Counted {
    body: Body,
    _work: Work,
}

impl hyper::body::Body for Counted {
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
