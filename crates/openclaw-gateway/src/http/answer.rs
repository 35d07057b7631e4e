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
    AttemptRecord, ChainKind, Clock, CompletedRun, RunLimits, RunOptions, RunRequest, SystemClock, Winner,
};
use openclaw_session::Notice;
use openclaw_upstream::Answer;
use openclaw_wire::{BodyError, RequestBody, WireFormat};
use tokio::time::Instant;
use tracing::Instrument;

use super::commands;
use super::error::ApiError;
use super::headers::{
    describe_incompatible, describe_run, describe_winner, forwarded, request, response, set,
};
use super::notice;
use super::plan::{Prepared, plan_turn, prepare};
use super::prompt_size::too_small;
use super::request_parts::whole_body;
use super::rescue::Rescuer;
use super::selection::{Asked, OWN_MODEL};
use super::stream::{AnsweredRun, Open, streamed};
use super::{MAX_BODY, RequestContext};
use crate::agents::Agent;
use crate::attempt::ProviderAttempt;
use crate::state::InFlightPermit;
use crate::telemetry::{RunWatch, answered, request_span, responded, unanswered};

/// How many headers an answer has, with room for those of the connection.
const USUAL_HEADERS: usize = 12;

/// Answers one request and says in its headers who answered, or what was tried.
pub(super) async fn handle(
    wire: WireFormat,
    context: &RequestContext,
    id: &str,
    headers: &HeaderMap,
    body: Body,
) -> Response {
    let mut exchange = Exchange {
        wire,
        context,
        id,
        headers,
        response_headers: HeaderMap::with_capacity(USUAL_HEADERS),
    };
    let span = request_span(wire, id, headers);
    // The future is large and is moved with the futures that hold it, so it is boxed.
    let made = Box::pin(exchange.answer(body));
    let mut answer = match made.instrument(span.clone()).await {
        Ok(answer) => answer,
        Err(error) => {
            let code = error.code();
            let answer = error.in_wire(wire).into_response();
            unanswered(id, code, answer.status());
            answer
        }
    };
    let mut response_headers = exchange.response_headers;
    // The few headers of the answer itself are added to the many of the exchange, which win.
    for name in answer.headers().keys() {
        if !response_headers.contains_key(name) {
            let values = answer.headers().get_all(name);
            values.iter().for_each(|value| {
                response_headers.append(name, value.clone());
            });
        }
    }
    *answer.headers_mut() = response_headers;
    let metrics = context.process.telemetry.metrics();
    let status = answer.status().as_u16();
    metrics.request(wire.label(), status);
    responded(&span, status);
    answer
}

/// One request, and the headers of its answer as far as they are known.
struct Exchange<'a> {
    wire: WireFormat,
    context: &'a RequestContext,
    id: &'a str,
    headers: &'a HeaderMap,
    response_headers: HeaderMap,
}

impl Exchange<'_> {
    async fn answer(&mut self, body: Body) -> Result<Response, ApiError> {
        let Self {
            wire,
            context,
            id: request_id,
            headers,
            ..
        } = *self;
        let permit = enter(context)?;
        let body = whole_body(headers, body, MAX_BODY).await?;
        // The time that the client took to send it is not overhead.
        let started = Instant::now();
        let body = request_body(&body, headers)?;
        let asked = context
            .catalogue()
            .read(wire, body.model(), body.user(), headers)?;
        let agent = context.process.agents.get(&asked.agent).await?;
        if let Some((name, answer)) = command(context, &agent, &asked, wire, &body).await? {
            set(&mut self.response_headers, response::COMMAND, &name);
            return Ok(answer);
        }
        let (planned, session) = plan_turn(context, &agent, &asked, request_id).await?;
        if let Some((name, value)) = session {
            set(&mut self.response_headers, name, value);
        }
        let Prepared {
            request,
            requested,
            mut incompatible,
            excluded_profiles,
            profile_records,
        } = prepare(context, &agent, planned, wire)?;
        let requested = requested.key();
        log_incompatible(request_id, &incompatible, &profile_records);
        describe_incompatible(&mut self.response_headers, &incompatible);
        incompatible.extend(profile_records);
        let mut watch = begin(context, &asked, wire, &request, started);
        let attempt = ProviderAttempt {
            upstream: &context.process.upstream,
            metrics: context.process.telemetry.metrics(),
            endpoints: &context.generation.endpoints,
            credentials: &context.generation.credentials,
            usage: &agent.usage,
            auth: &context.generation.policy.auth,
            failover: &context.generation.config.failover,
            wire,
            headers: &forwarded(wire, headers),
            body: &body,
            request_id,
            spent: watch.upstream(),
            repeated: OnceLock::new(),
            repaired: Mutex::default(),
        };
        let options = options(context, asked.chain, &request, excluded_profiles, wire, &body);
        let kept = kept_for_rescue(context, &options, &request);
        let runner = agent.runner(&context.generation.policy);
        let outcome = runner.run_with(request, options, &attempt).await;
        if let Some(met) = attempt.repeated.get() {
            set(&mut self.response_headers, response::REPEATED, met);
        }
        match outcome {
            Ok(completed) => {
                let rescuer = |winner: &Winner| {
                    let (options, chain) = kept?;
                    let left = chain.get(winner.index + 1..).unwrap_or_default();
                    Rescuer::of(context, &agent, &asked.agent, &attempt, options, left)
                };
                Ok(self.deliver(completed, &requested, watch, permit, rescuer).await)
            }
            Err(error) => {
                describe_run(
                    &mut self.response_headers,
                    &requested,
                    error.report(),
                    watch.spent(),
                );
                watch.failed(&error);
                Err(ApiError::of_run(
                    &error,
                    incompatible,
                    SystemClock.now(),
                    context.process.retry_cap,
                ))
            }
        }
    }

    /// The response of a run that has an answer.
    async fn deliver(
        &mut self,
        completed: AnsweredRun,
        requested: &str,
        mut watch: RunWatch,
        permit: InFlightPermit,
        rescuer: impl FnOnce(&Winner) -> Option<Box<Rescuer>>,
    ) -> Response {
        let CompletedRun {
            value,
            winner,
            report,
            run,
        } = completed;
        describe_run(&mut self.response_headers, requested, &report, watch.spent());
        describe_winner(&mut self.response_headers, &winner);
        watch.answered(&winner, &report);
        answered(self.id, &winner, &report);
        match value {
            Answer::Live(mut live) => {
                watch.streams(&winner);
                let notice = Box::pin(run.begun()).await;
                let comment = notice.as_ref().and_then(notice::comment);
                if let Some(line) = self.hand_over(notice) {
                    live.announce(line);
                }
                let open = Open {
                    live: *live,
                    skipped: 0,
                    run,
                    request_id: self.id.to_owned(),
                    watch,
                    rescuer: rescuer(&winner),
                    broke_off: None,
                    _permit: permit,
                };
                streamed(self.wire, comment, open)
            }
            Answer::Whole(body) => {
                let line = self.hand_over(Box::pin(run.finished_unseen()).await);
                let with_notice = line.and_then(|line| self.wire.response_with_notice(&body, &line));
                whole(with_notice.unwrap_or(body))
            }
        }
    }

    /// Sends a notice in a header; returns the line to put before the text where that is configured.
    fn hand_over(&mut self, notice: Option<Notice>) -> Option<String> {
        let notice = notice?;
        if let Some(value) = notice::header_value(&notice) {
            self.response_headers.insert(response::NOTICE, value);
        }
        let events = self.context.process.telemetry.events();
        events.tell(SystemClock.now(), "notice", &notice::object(&notice));
        match self.context.generation.config.failover.notices {
            NoticeSetting::Header => None,
            NoticeSetting::Inline => Some(notice.text).filter(|_| self.wire.takes_notices()),
        }
    }
}

fn enter(context: &RequestContext) -> Result<InFlightPermit, ApiError> {
    let most = context.generation.config.failover.max_concurrent;
    let permit = context.process.in_flight.enter(most);
    permit.ok_or_else(ApiError::busy)
}

fn begin(
    context: &RequestContext,
    asked: &Asked,
    wire: WireFormat,
    request: &RunRequest,
    started: Instant,
) -> RunWatch {
    let telemetry = &context.process.telemetry;
    telemetry.begin(&asked.agent, wire, request, started)
}

/// The name of a command and its answer, where the request is one. Few are, so its future is boxed.
async fn command(
    context: &RequestContext,
    agent: &Agent,
    asked: &Asked,
    wire: WireFormat,
    body: &RequestBody,
) -> Result<Option<(String, Response)>, ApiError> {
    let Some(key) = commands::session_of(context, asked) else {
        return Ok(None);
    };
    let session = (&asked.agent, key);
    Box::pin(commands::answer(context, agent, session, wire, body)).await
}

/// What is needed to ask other models when a stream breaks off, if a setting says so.
fn kept_for_rescue(
    context: &RequestContext,
    options: &RunOptions,
    request: &RunRequest,
) -> Option<(RunOptions, Vec<ModelRef>)> {
    let is_wanted = context.generation.config.failover.stream.rescue == Rescue::Splice;
    is_wanted.then(|| (options.clone(), request.chain.clone()))
}

/// What this run does otherwise than others.
fn options(
    context: &RequestContext,
    kind: ChainKind,
    request: &RunRequest,
    excluded_profiles: HashSet<ProfileId>,
    wire: WireFormat,
    body: &RequestBody,
) -> RunOptions {
    let deadlines = &context.generation.config.failover.deadlines;
    RunOptions {
        kind,
        limits: RunLimits {
            duration: request.chain.first().and_then(|model| deadlines.run(model)),
            ..RunLimits::default()
        },
        set_aside: excluded_profiles,
        incompatible: too_small(&context.generation.resolver, &request.chain, wire, body.bytes()),
        ..RunOptions::default()
    }
}

/// Logs the candidates that could not have served the request.
fn log_incompatible(request_id: &str, incompatible: &[AttemptRecord], profile_records: &[AttemptRecord]) {
    for skipped in incompatible.iter().chain(profile_records) {
        let model = skipped.candidate.key();
        tracing::info!(
            requestId = request_id,
            model,
            code = skipped.code,
            "left out: {}",
            skipped.error
        );
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
