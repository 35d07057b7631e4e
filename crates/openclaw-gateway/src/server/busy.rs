//! Whether a connection owes somebody an answer.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::watch;

/// Counts the requests of one connection that are not answered to the end.
#[derive(Debug, Clone, Default)]
pub(super) struct Busy(watch::Sender<usize>);

impl Busy {
    /// A request is there.
    pub(super) fn begin(&self) -> Work {
        self.0.send_modify(|count| *count += 1);
        Work(self.clone())
    }

    /// Waits until nothing is owed.
    pub(super) async fn idle(&self) {
        // The sender is `self`, so the channel stays open.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// One request that is being answered.
#[derive(Debug)]
pub(super) struct Work(Busy);

impl Work {
    /// The answer's body, which ends the work with its last piece or when nobody wants it any more.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        Body::new(Counted { body, _work: self })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// A body with the work that it is; its length and pieces stay as they are.
struct Counted {
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
