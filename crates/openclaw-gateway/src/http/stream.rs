//! Sends a stream on: as fast as its client takes it, and to an end that says what it was.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use openclaw_classify::{describe, preview};
use openclaw_runner::{CommittedRun, SystemClock};

use super::error::cut_event;
use super::in_flight::Place;
use crate::agents::AgentAuthStore;
use crate::sessions::Sessions;
use crate::telemetry::RunWatch;
use crate::upstream::{Flow, LiveAnswer, Wire};

/// A run whose answer is being sent.
pub(crate) type Committed = CommittedRun<SystemClock, AgentAuthStore, Sessions>;

/// A stream that is being sent.
pub(crate) struct Open {
    /// Dropped before the stream is, so that whoever sees it end finds the place free.
    pub(crate) _place: Place,
    pub(crate) live: LiveAnswer,
    pub(crate) run: Committed,
    pub(crate) request_id: String,
    /// Events sent so far.
    pub(crate) sent: u64,
    /// Is told when it breaks off.
    pub(crate) watch: RunWatch,
}

/// A stream, with a comment before it. It is read only as fast as the client takes it; a client that leaves drops it, which hangs up
/// upstream and is nobody's failure.
pub(crate) fn streamed(wire: Wire, comment: Option<Bytes>, open: Open) -> Response {
    let events = stream::unfold(Some(open), move |open| async move {
        let mut open = open?;
        let flow = open.live.next().await;
        if let Flow::Events(events) = flow {
            open.sent = open.sent.saturating_add(1);
            return Some((Ok(events), Some(open)));
        }
        let skipped = open.live.skipped();
        if skipped > 0 {
            tracing::warn!(
                requestId = open.request_id,
                skipped,
                "the stream had events that nobody can read; they were left out"
            );
        }
        let bytes = match flow {
            Flow::Events(events) => events,
            Flow::Finished(end) => {
                open.run.finished().await;
                end
            }
            Flow::Hollow(end, failure) => {
                let verdict = open.run.failed_late(&failure).await;
                open.watch.broke_off(&failure, verdict.as_ref());
                end
            }
            Flow::Cut(failure) => {
                let verdict = open.run.failed_late(&failure).await;
                open.watch.broke_off(&failure, verdict.as_ref());
                let reason = verdict.map(|verdict| verdict.reason.as_str());
                let error = preview(&describe(&failure), MAX_LOGGED);
                tracing::warn!(
                    requestId = open.request_id,
                    reason,
                    error,
                    "the answer broke off after its first content"
                );
                Bytes::from(cut_event(wire, &failure, open.sent))
            }
        };
        Some((Ok::<_, Infallible>(bytes), None))
    });
    let events = stream::iter(comment.map(Ok)).chain(events);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (NO_BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(events)).into_response()
}

/// Tells reverse proxies to pass events on as they come.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Longest error in the log, in UTF-16 units.
const MAX_LOGGED: usize = 400;
