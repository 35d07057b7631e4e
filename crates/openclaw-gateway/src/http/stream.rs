//! Sends a stream on: as fast as its client takes it, and to an end that says what it was.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use openclaw_classify::{Failure, describe, preview};
use openclaw_ids::ModelRef;
use openclaw_runner::{CommittedRun, CompletedRun, SystemClock};
use openclaw_upstream::{Answer, AnswerStep, LiveAnswer};
use openclaw_wire::WireFormat;

use super::error::cut_event;
use super::rescue::{Rescue, Rescuer};
use crate::agents::AgentAuthStore;
use crate::agents::Sessions;
use crate::state::InFlightPermit;
use crate::telemetry::RunWatch;

/// A run that has an answer.
pub(crate) type AnsweredRun = CompletedRun<Answer, SystemClock, AgentAuthStore, Sessions>;
/// A run whose answer is being sent.
pub(crate) type Committed = CommittedRun<SystemClock, AgentAuthStore, Sessions>;

/// A stream that is being sent.
pub(crate) struct Open {
    /// Dropped before the stream is, so that a client that sees its end finds the permit free.
    pub(crate) _permit: InFlightPermit,
    pub(crate) live: LiveAnswer,
    /// Events that were left out so far, and are counted.
    pub(crate) skipped: u64,
    pub(crate) run: Committed,
    pub(crate) request_id: String,
    /// Records how the stream ends.
    pub(crate) watch: RunWatch,
    /// Asks further models when the answer breaks off, if this is configured.
    pub(crate) rescuer: Option<Box<Rescuer>>,
    /// How the first answer broke off. It is reported whatever the outcome of a rescue is (BL-94).
    pub(crate) broke_off: Option<Failure>,
}

/// A stream, with a comment before it. It is read only as fast as the client takes it; a client that leaves drops it,
/// which closes the call upstream and is no failure.
pub(crate) fn streamed(wire: WireFormat, comment: Option<Bytes>, open: Open) -> Response {
    // What is handed from event to event is a pointer.
    let events = stream::unfold(Some(Box::new(open)), move |open| async move {
        let (bytes, open) = open?.next(wire).await;
        Some((Ok::<_, Infallible>(bytes), open))
    });
    let events = stream::iter(comment.map(Ok)).chain(events);
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (NO_BUFFERING, HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(events)).into_response()
}

impl Open {
    /// The next bytes, and what is left of the stream.
    async fn next(mut self: Box<Self>, wire: WireFormat) -> (Bytes, Option<Box<Self>>) {
        let flow = self.live.next().await;
        self.count_skipped();
        if !matches!(flow, AnswerStep::Events(_)) {
            self.report_missing_end(&flow);
        }
        match flow {
            AnswerStep::Events(events) => (events, Some(self)),
            AnswerStep::Finished(end) => {
                self.run.finished().await;
                (end, None)
            }
            AnswerStep::Hollow(end, failure) => {
                let verdict = self.run.failed_late(&failure).await;
                self.watch.broke_off(&failure, verdict.as_ref());
                (end, None)
            }
            AnswerStep::Cut(failure) => Box::pin(self.rescued(wire, failure)).await,
            AnswerStep::Mismatch => {
                // No failure: it is as good an answer as the other one.
                tracing::info!(
                    requestId = self.request_id,
                    "the answer that was to take over says something else"
                );
                let failure = self.broke_off.take().unwrap_or_default();
                (cut_event(wire, &failure, self.live.sent()), None)
            }
        }
    }

    /// The answer broke off: another one takes over if it may and can, else the stream ends with the error.
    async fn rescued(self: Box<Self>, wire: WireFormat, failure: Failure) -> (Bytes, Option<Box<Self>>) {
        let Self {
            _permit: permit,
            mut live,
            skipped: _,
            run,
            request_id,
            watch,
            mut rescuer,
            broke_off,
        } = *self;
        let verdict = run.failed_late(&failure).await;
        watch.broke_off(&failure, verdict.as_ref());
        let reason = verdict.map(|verdict| verdict.reason.as_str());
        let error = preview(&describe(&failure), MAX_LOGGED);
        tracing::warn!(
            requestId = request_id,
            reason,
            error,
            "the answer broke off after its first content"
        );
        let broke_off = broke_off.unwrap_or(failure);
        let (sent, sent_answer) = (live.sent(), live.sent_answer());
        // Closes the call before another model is called.
        drop(live);
        let rescue = match (&mut rescuer, &sent_answer) {
            (Some(rescuer), Some(_)) => rescuer.next().await,
            (Some(_) | None, _) => None,
        };
        let (Some(rescue), Some(sent_answer)) = (rescue, sent_answer) else {
            return (cut_event(wire, &broke_off, sent), None);
        };
        let Rescue {
            mut live,
            run,
            model,
            watch,
        } = rescue;
        tracing::info!(
            requestId = request_id,
            model = model.key(),
            "another answer takes over"
        );
        live.take_over(sent_answer);
        let comment = format!(": {} takes over\n\n", printable(&model));
        let open = Self {
            _permit: permit,
            live,
            skipped: 0,
            run,
            request_id,
            watch,
            rescuer,
            broke_off: Some(broke_off),
        };
        (Bytes::from(comment), Some(Box::new(open)))
    }

    /// Counts what was left out since the last time, so that nothing is lost with a client that leaves.
    fn count_skipped(&mut self) {
        let skipped = self.live.skipped();
        if skipped > self.skipped {
            self.watch.skipped(skipped - self.skipped);
            self.skipped = skipped;
        }
    }

    /// Reports at the end of a stream which events could not be read, and what it left out of its end.
    fn report_missing_end(&self, end: &AnswerStep) {
        let skipped = self.live.skipped();
        if skipped > 0 {
            tracing::warn!(
                requestId = self.request_id,
                skipped,
                "the stream had events that nobody can read; they were left out"
            );
        }
        if let (AnswerStep::Finished(_) | AnswerStep::Hollow(..), Some(missing)) = (end, self.live.missing())
        {
            self.watch.ended_without(missing);
        }
    }
}

/// A model's name on one line.
fn printable(model: &ModelRef) -> String {
    model.key().replace(char::is_control, " ")
}

/// Tells reverse proxies to pass events on as they come.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Longest error in the log, in UTF-16 units.
const MAX_LOGGED: usize = 400;
