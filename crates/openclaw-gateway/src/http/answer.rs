//! Answers one request, plain or streamed, in whatever wire format it came.

use std::collections::HashSet;
use std::sync::{Mutex, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use openclaw_config::{NoticeSetting, Rescue};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_runner::{
    AttemptRecord, ChainKind, Clock, CompletedRun, RunLimits, RunOptions, RunRequest, SystemClock,
};
use openclaw_session::Notice;
use openclaw_upstream::Answer;
use openclaw_wire::{BodyError, RequestBody, WireFormat};
use tokio::time::Instant;
use tracing::Instrument;

use super::commands;
use super::error::ApiError;
use super::headers::{describe_left_out, describe_run, describe_winner, forwarded, request, response, set};
use super::notice;
use super::plan::{Prepared, prepare};
use super::prompt_size::too_small;
use super::reading::whole_body;
use super::rescue::Rescuer;
use super::selection::{Asked, OWN_MODEL};
use super::stream::{Open, streamed};
use super::{MAX_BODY, Served};
use crate::agents::Agent;
use crate::attempt::ProviderAttempt;
use crate::state::InFlightPermit;
use crate::telemetry::{RunWatch, answered, request_span, responded, unanswered};

/// How many headers an answer has, with room for those of the connection.
const USUAL_HEADERS: usize = 12;

/// Answers one request and says in its headers who answered, or what was tried.
pub(super) async fn handle(
    wire: WireFormat,
    served: &Served,
    id: &str,
    headers: &HeaderMap,
    body: Body,
) -> Response {
    let mut told = HeaderMap::with_capacity(USUAL_HEADERS);
    let span = request_span(wire, id, headers);
    // Everything that a request waits for is in it, and what holds it is moved about.
    let made = Box::pin(answer(served, wire, id, headers, body, &mut told));
    let mut answer = match made.instrument(span.clone()).await {
        Ok(answer) => answer,
        Err(error) => {
            let code = error.code();
            let answer = error.in_wire(wire).into_response();
            unanswered(id, code, answer.status());
            answer
        }
    };
    // The few that the answer has by itself go to the many, which have their place already; what is told wins.
    for name in answer.headers().keys() {
        if !told.contains_key(name) {
            let values = answer.headers().get_all(name);
            values.iter().for_each(|value| {
                told.append(name, value.clone());
            });
        }
    }
    *answer.headers_mut() = told;
    let metrics = served.process.telemetry.metrics();
    let status = answer.status().as_u16();
    metrics.request(wire.label(), status);
    responded(&span, status);
    answer
}

async fn answer(
    served: &Served,
    wire: WireFormat,
    request_id: &str,
    headers: &HeaderMap,
    body: Body,
    told: &mut HeaderMap,
) -> Result<Response, ApiError> {
    let permit = enter(served)?;
    let body = whole_body(headers, body, MAX_BODY).await?;
    // How long the client took to say it is nobody's overhead.
    let started = Instant::now();
    let body = request_body(&body, headers)?;
    let asked = served
        .catalogue()
        .read(wire, body.model(), body.user(), headers)?;
    let agent = served.process.agents.get(&asked.agent).await?;
    if let Some(answer) = command(served, &agent, &asked, wire, &body, told).await? {
        return Ok(answer);
    }
    let Prepared {
        request,
        requested,
        mut left_out,
        set_aside,
        passed_over,
    } = prepare(served, &agent, &asked, wire, request_id, told).await?;
    let requested = requested.key();
    tell_left_out(request_id, &left_out, &passed_over, told);
    left_out.extend(passed_over);
    let mut watch = begin(served, &asked, wire, &request, started);
    let attempt = ProviderAttempt {
        upstream: &served.process.upstream,
        metrics: served.process.telemetry.metrics(),
        endpoints: &served.generation.endpoints,
        credentials: &served.generation.credentials,
        usage: &agent.usage,
        auth: &served.generation.policy.auth,
        failover: &served.generation.config.failover,
        wire,
        headers: &forwarded(wire, headers),
        body: &body,
        request_id,
        spent: watch.upstream(),
        repeated: OnceLock::new(),
        repaired: Mutex::default(),
    };
    let options = options(served, asked.chain, &request, set_aside, wire, &body);
    let kept = kept_for_rescue(served, &options, &request);
    let runner = agent.runner(&served.generation.policy);
    let outcome = runner.run_with(request, options, &attempt).await;
    tell_repeated(&attempt, told);
    match outcome {
        Ok(CompletedRun {
            value,
            winner,
            report,
            run,
        }) => {
            describe_run(told, &requested, &report, watch.spent());
            describe_winner(told, &winner);
            watch.answered(&winner, &report);
            answered(request_id, &winner, &report);
            Ok(match value {
                Answer::Live(mut live) => {
                    watch.streams(&winner);
                    let notice = Box::pin(run.begun()).await;
                    let comment = notice.as_ref().and_then(notice::comment);
                    if let Some(line) = hand_over(served, wire, told, notice) {
                        live.announce(line);
                    }
                    let rescuer = kept.and_then(|(again, chain)| {
                        let left = chain.get(winner.index + 1..).unwrap_or_default();
                        Rescuer::of(served, &agent, &asked.agent, &attempt, again, left)
                    });
                    let open = Open {
                        live: *live,
                        skipped: 0,
                        run,
                        request_id: request_id.to_owned(),
                        watch,
                        rescuer,
                        broke_off: None,
                        _permit: permit,
                    };
                    streamed(wire, comment, open)
                }
                Answer::Whole(body) => {
                    let line = hand_over(served, wire, told, Box::pin(run.finished_unseen()).await);
                    whole(
                        line.and_then(|line| wire.response_with_notice(&body, &line))
                            .unwrap_or(body),
                    )
                }
            })
        }
        Err(error) => {
            describe_run(told, &requested, error.report(), watch.spent());
            watch.failed(&error);
            Err(ApiError::of_run(
                &error,
                left_out,
                SystemClock.now(),
                served.process.retry_cap,
            ))
        }
    }
}

fn enter(served: &Served) -> Result<InFlightPermit, ApiError> {
    let most = served.generation.config.failover.max_concurrent;
    let permit = served.process.in_flight.enter(most);
    permit.ok_or_else(ApiError::busy)
}

fn begin(
    served: &Served,
    asked: &Asked,
    wire: WireFormat,
    request: &RunRequest,
    started: Instant,
) -> RunWatch {
    let telemetry = &served.process.telemetry;
    telemetry.begin(&asked.agent, wire, request, started)
}

/// The answer to a command, where the request is one. Few are, and the others carry nothing of it with them.
async fn command(
    served: &Served,
    agent: &Agent,
    asked: &Asked,
    wire: WireFormat,
    body: &RequestBody,
    told: &mut HeaderMap,
) -> Result<Option<Response>, ApiError> {
    let Some(key) = commands::session_of(served, asked) else {
        return Ok(None);
    };
    let session = (&asked.agent, key);
    Box::pin(commands::answer(served, agent, session, wire, body, told)).await
}

/// What is needed to ask other models when a stream breaks off, if a setting says so.
fn kept_for_rescue(
    served: &Served,
    options: &RunOptions,
    request: &RunRequest,
) -> Option<(RunOptions, Vec<ModelRef>)> {
    let is_wanted = served.generation.config.failover.stream.rescue == Rescue::Splice;
    is_wanted.then(|| (options.clone(), request.chain.clone()))
}

/// Says what a call met that was made once more at once.
fn tell_repeated(attempt: &ProviderAttempt<'_>, told: &mut HeaderMap) {
    if let Some(met) = attempt.repeated.get() {
        set(told, response::REPEATED, met);
    }
}

/// What this run does otherwise than others.
fn options(
    served: &Served,
    kind: ChainKind,
    request: &RunRequest,
    set_aside: HashSet<ProfileId>,
    wire: WireFormat,
    body: &RequestBody,
) -> RunOptions {
    let deadlines = &served.generation.config.failover.deadlines;
    RunOptions {
        kind,
        limits: RunLimits {
            duration: request.chain.first().and_then(|model| deadlines.run(model)),
            ..RunLimits::default()
        },
        set_aside,
        incompatible: too_small(&served.generation.resolver, &request.chain, wire, body.bytes()),
        ..RunOptions::default()
    }
}

/// Names the candidates that could not have read the request, in the log and to the client.
fn tell_left_out(
    request_id: &str,
    left_out: &[AttemptRecord],
    passed_over: &[AttemptRecord],
    told: &mut HeaderMap,
) {
    for skipped in left_out.iter().chain(passed_over) {
        let model = skipped.candidate.key();
        tracing::info!(
            requestId = request_id,
            model,
            code = skipped.code,
            "left out: {}",
            skipped.error
        );
    }
    describe_left_out(told, left_out);
}

/// Hands a notice over by its header; returns the line to put before the text where that is wished.
fn hand_over(
    served: &Served,
    wire: WireFormat,
    told: &mut HeaderMap,
    notice: Option<Notice>,
) -> Option<String> {
    let notice = notice?;
    notice::tell(told, &notice);
    let events = served.process.telemetry.events();
    events.tell(SystemClock.now(), "notice", &notice::object(&notice));
    match served.generation.config.failover.notices {
        NoticeSetting::Header => None,
        NoticeSetting::Inline => Some(notice.text).filter(|_| wire.takes_notices()),
    }
}

/// The request in a body. One whose model is named by the header alone asks for what is configured as far as the body
/// goes.
fn request_body(bytes: &Bytes, headers: &HeaderMap) -> Result<RequestBody, BodyError> {
    match RequestBody::try_new(bytes.clone()) {
        Err(BodyError::NoModel) if headers.contains_key(request::MODEL) => {
            let named = with_own_model(bytes).ok_or(BodyError::NoModel)?;
            RequestBody::try_new(named).map_err(|_| BodyError::NoModel)
        }
        read => read,
    }
}

/// A JSON object with our own name as its model before its other members.
fn with_own_model(bytes: &Bytes) -> Option<Bytes> {
    let rest = bytes.trim_ascii_start().strip_prefix(b"{")?;
    let comma = if rest.trim_ascii_start().starts_with(b"}") {
        ""
    } else {
        ","
    };
    let mut named = format!("{{\"model\":\"{OWN_MODEL}\"{comma}").into_bytes();
    named.extend_from_slice(rest);
    Some(Bytes::from(named))
}

fn whole(body: Bytes) -> Response {
    (
        [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_may_be_named_by_the_header_alone() {
        let mut named = HeaderMap::new();
        named.insert(request::MODEL, HeaderValue::from_static("a/m"));
        for (body, headers, model) in [
            ("{}", &named, Some(OWN_MODEL)),
            (" { \"n\": 1 }", &named, Some(OWN_MODEL)),
            ("{\"model\": \"b/m\"}", &named, Some("b/m")),
            ("{\"model\": null}", &named, None),
            ("{}", &HeaderMap::new(), None),
            ("[]", &named, None),
        ] {
            let read = request_body(&Bytes::from(body), headers);
            assert_eq!(read.as_ref().ok().map(RequestBody::model), model, "{body}");
        }
    }
}
