//! Request bodies with deadlines.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming, SizeHint};
use openclaw_classify::error_chain;
use tokio::time::{Instant, sleep_until};

use super::{Draining, begins};

/// Why reading a request's body was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyFault {
    /// Nothing came for too long, or the whole took too long.
    #[error("the rest of the request body did not arrive in time; send the request again")]
    Late,
    /// The process is ending.
    #[error("the gateway is stopping; ask again in a moment")]
    Stopping,
}

impl BodyFault {
    /// The fault behind an error of reading a body, if it is one of these.
    pub(crate) fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        error_chain::each(error).find_map(|error| error.downcast_ref::<Self>().copied())
    }
}

/// `body`, each piece of which must come within `limit`, the whole of it within `total`, and at once when the process
/// is ending.
pub(super) fn with_deadlines(body: Incoming, limit: Duration, total: Duration, draining: Draining) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    Body::new(DeadlineBody {
        body,
        limit,
        end: Instant::now() + total,
        draining: Some(draining),
        waiting: None,
    })
}

/// A body with deadlines. Most arrive with their head, and are read without a timer.
struct DeadlineBody {
    body: Incoming,
    limit: Duration,
    end: Instant,
    /// None after a fault.
    draining: Option<Draining>,
    /// Ends with the reason to give up the next piece.
    waiting: Option<Pin<Box<dyn Future<Output = BodyFault> + Send>>>,
}

impl hyper::body::Body for DeadlineBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Some(draining) = &this.draining else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            this.waiting = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(axum::Error::new)));
        }
        let (limit, end) = (this.limit, this.end);
        let waiting = this.waiting.get_or_insert_with(|| {
            let until = end.min(Instant::now() + limit);
            Box::pin(fault(until, draining.clone()))
        });
        let fault = ready!(waiting.as_mut().poll(context));
        (this.draining, this.waiting) = (None, None);
        Poll::Ready(Some(Err(axum::Error::new(fault))))
    }

    fn is_end_stream(&self) -> bool {
        self.draining.is_none() || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

async fn fault(until: Instant, mut draining: Draining) -> BodyFault {
    tokio::select! {
        () = sleep_until(until) => BodyFault::Late,
        () = begins(&mut draining) => BodyFault::Stopping,
    }
}
