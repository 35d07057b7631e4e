//! Answers one request, plain or streamed, in whatever wire format it came.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use openclaw_classify::{describe, preview};
use openclaw_ids::ModelRef;
use openclaw_runner::{Clock, CommittedRun, Completed, RunOptions, SystemClock};
use openclaw_session::Notice;

use super::error::{ApiError, cut_event};
use super::headers::{describe_left_out, describe_run, describe_winner, forwarded};
use super::ids::RequestId;
use super::in_flight::Place;
use super::notice;
use super::plan::{Prepared, prepare};
use super::{MAX_BODY, Served};
use crate::agents::AgentAuthStore;
use crate::attempt::ProviderAttempt;
use crate::config::NoticeSetting;
use crate::server::BodyFault;
use crate::sessions::Sessions;
use crate::telemetry::RunWatch;
use crate::upstream::{Answer, Flow, LiveAnswer, RequestBody, Wire, before_text};

type Committed = CommittedRun<SystemClock, AgentAuthStore, Sessions>;

/// Answers one request and says in its headers who answered, or what was tried.
pub(crate) async fn handle(
    wire: Wire,
    State(served): State<Served>,
    Extension(RequestId(id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let mut told = HeaderMap::new();
    let mut answer = match answer(&served, wire, &id, &headers, body, &mut told).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(requestId = id, code = error.code(), "no answer");
            error.in_wire(wire).into_response()
        }
    };
    answer.headers_mut().extend(told);
    answer
}

async fn answer(
    served: &Served,
    wire: Wire,
    request_id: &str,
    headers: &HeaderMap,
    body: Body,
    told: &mut HeaderMap,
) -> Result<Response, ApiError> {
    let place = served.in_flight.enter().ok_or_else(ApiError::busy)?;
    let body = RequestBody::try_new(read(body).await?)?;
    let asked = served
        .catalogue()
        .read(wire, body.model(), body.user(), headers)?;
    let agent = served.agents.get(&asked.agent).await?;
    let Prepared {
        request,
        requested,
        left_out,
    } = prepare(served, &agent, &asked, wire, request_id, told).await?;
    let requested = requested.as_ref().map(ModelRef::key).unwrap_or_default();
    for skipped in &left_out {
        let model = skipped.candidate.key();
        tracing::info!(
            requestId = request_id,
            model,
            code = skipped.code,
            "left out: {}",
            skipped.error
        );
    }
    describe_left_out(told, &left_out);
    let attempt = ProviderAttempt {
        upstream: &served.upstream,
        endpoints: &served.endpoints,
        environment: &served.environment,
        usage: &*agent.usage,
        auth: &served.policy.auth,
        wire,
        headers: &forwarded(wire, headers),
        body: &body,
    };
    let options = RunOptions {
        kind: asked.chain,
        ..RunOptions::default()
    };
    let mut watch = served.telemetry.begin(&asked.agent, wire, &request);
    match agent.runner.run_with(request, options, &attempt).await {
        Ok(Completed {
            value,
            winner,
            report,
            run,
        }) => {
            describe_run(told, &requested, &report);
            describe_winner(told, &winner);
            watch.answered(&winner, &report);
            let model = winner.candidate.key();
            tracing::info!(requestId = request_id, model, calls = report.calls, "answered");
            Ok(match value {
                Answer::Live(mut live) => {
                    if let Some(line) = hand_over(served, wire, told, run.begun().await) {
                        live.announce(line);
                    }
                    let open = Open {
                        live: *live,
                        run,
                        request_id: request_id.to_owned(),
                        sent: 0,
                        watch,
                        _place: place,
                    };
                    streamed(wire, open)
                }
                Answer::Whole(body) => {
                    let line = hand_over(served, wire, told, run.finished_unseen().await);
                    whole(line.and_then(|line| before_text(&body, &line)).unwrap_or(body))
                }
            })
        }
        Err(error) => {
            describe_run(told, &requested, error.report());
            watch.failed(&error);
            Err(ApiError::of_run(
                &error,
                left_out,
                SystemClock.now(),
                served.retry_cap,
            ))
        }
    }
}

/// Hands a notice over by its header; returns the line to put before the text where that is wished.
fn hand_over(served: &Served, wire: Wire, told: &mut HeaderMap, notice: Option<Notice>) -> Option<String> {
    let notice = notice?;
    notice::tell(told, &notice);
    match served.config.failover.notices {
        NoticeSetting::Header => None,
        NoticeSetting::Inline => Some(notice.text).filter(|_| wire == Wire::ChatCompletions),
    }
}

async fn read(body: Body) -> Result<Bytes, ApiError> {
    axum::body::to_bytes(body, MAX_BODY).await.map_err(|error| {
        if let Some(fault) = BodyFault::behind(&error) {
            return ApiError::of_body(fault);
        }
        let too_large =
            std::error::Error::source(&error).is_some_and(|cause| cause.to_string().contains("limit"));
        if too_large {
            ApiError::too_large(MAX_BODY)
        } else {
            ApiError::unreadable_body()
        }
    })
}

fn whole(body: Bytes) -> Response {
    (
        [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

/// A stream that is being sent.
struct Open {
    /// Dropped before the stream is, so that whoever sees it end finds the place free.
    _place: Place,
    live: LiveAnswer,
    run: Committed,
    request_id: String,
    /// Events sent so far.
    sent: u64,
    watch: RunWatch,
}

/// The rest of a stream. It is read only as fast as the client takes it; a client that leaves drops it, which hangs up
/// upstream and is nobody's failure.
fn streamed(wire: Wire, open: Open) -> Response {
    let events = stream::unfold(Some(open), move |open| async move {
        let mut open = open?;
        let (bytes, open) = match open.live.next().await {
            Flow::Events(events) => {
                open.sent = open.sent.saturating_add(1);
                (events, Some(open))
            }
            Flow::Finished(end) => {
                open.run.finished().await;
                (end, None)
            }
            Flow::Hollow(end, failure) => {
                let verdict = open.run.failed_late(&failure).await;
                open.watch.broke_off(&failure, verdict.as_ref());
                (end, None)
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
                (Bytes::from(cut_event(wire, &failure, open.sent)), None)
            }
        };
        Some((Ok::<_, Infallible>(bytes), open))
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_that_is_not_waited_for_is_told_from_one_that_broke_off() {
        for (fault, code) in [
            (axum::Error::new(BodyFault::Late), "request_timeout"),
            (axum::Error::new(BodyFault::Stopping), "stopping"),
            (axum::Error::new(std::io::Error::other("gone")), "invalid_request"),
        ] {
            let body = Body::from_stream(stream::iter([Ok(Bytes::from_static(b"{")), Err(fault)]));
            assert_eq!(read(body).await.unwrap_err().code(), code);
        }
    }
}
