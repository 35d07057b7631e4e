//! Request bodies that have to arrive.

use std::error::Error;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use hyper::body::Body as _;
use tokio::time::{Instant, timeout_at};

use super::{Draining, begins};

/// Why the rest of a request's body is not waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyFault {
    /// Nothing came for too long, or not enough.
    #[error("the rest of the request body did not arrive in time")]
    Late,
    /// The process is ending.
    #[error("the gateway is stopping")]
    Stopping,
}

impl BodyFault {
    /// The fault behind an error of reading a body, if it is one of these.
    pub(crate) fn behind(error: &(dyn Error + 'static)) -> Option<Self> {
        std::iter::successors(Some(error), |error| (*error).source())
            .find_map(|error| error.downcast_ref::<Self>().copied())
    }
}

/// `body`, each piece of which must come within `limit`, the whole of it within `total`, and at once when the process
/// is ending.
pub(super) fn patient(body: Body, limit: Duration, total: Duration, draining: Draining) -> Body {
    // There is nothing to wait for, and a stream could not say so beforehand.
    if body.is_end_stream() {
        return body;
    }
    let open = Some((body.into_data_stream(), draining));
    let end = Instant::now() + total;
    Body::from_stream(stream::unfold(open, move |open| async move {
        let (mut pieces, mut draining) = open?;
        let until = end.min(Instant::now() + limit);
        match next(&mut pieces, until, &mut draining).await? {
            Ok(piece) => Some((Ok(piece), Some((pieces, draining)))),
            Err(error) => Some((Err(error), None)),
        }
    }))
}

async fn next(
    pieces: &mut BodyDataStream,
    until: Instant,
    draining: &mut Draining,
) -> Option<Result<Bytes, axum::Error>> {
    tokio::select! {
        biased;
        piece = timeout_at(until, pieces.next()) => match piece {
            Ok(piece) => piece,
            Err(_) => Some(Err(axum::Error::new(BodyFault::Late))),
        },
        () = begins(draining) => Some(Err(axum::Error::new(BodyFault::Stopping))),
    }
}
