//! `POST /v1/chat/completions`, plain and streamed.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use openclaw_auth_store::UsageStore;
use openclaw_chain::{OneOffPolicy, Requested, RunKind};
use openclaw_classify::{describe, preview};
use openclaw_ids::{ModelRef, SessionId};
use openclaw_runner::{
    ChainKind, Clock, CommittedRun, Completed, Plan, RunOptions, RunRequest, SystemClock, Turn, TurnSession,
    plan,
};
use openclaw_session::{Notice, SessionAge, SessionEntry, drop_override};

use super::error::{ApiError, cut_event};
use super::headers::{describe_run, describe_winner, response, set};
use super::ids::RequestId;
use super::notice;
use super::selection::{AskError, Asked};
use super::{MAX_BODY, Served};
use crate::agents::{Agent, AgentAuthStore};
use crate::attempt::ProviderAttempt;
use crate::causes;
use crate::config::NoticeSetting;
use crate::server::BodyFault;
use crate::sessions::Sessions;
use crate::upstream::{Answer, Flow, LiveAnswer, RequestBody, before_text};

type Committed = CommittedRun<SystemClock, AgentAuthStore, Sessions>;

/// Answers one request and says in its headers who answered, or what was tried.
pub(crate) async fn handle(
    State(served): State<Served>,
    Extension(RequestId(id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let mut told = HeaderMap::new();
    let mut answer = match answer(&served, &id, &headers, body, &mut told).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::info!(requestId = id, code = error.code(), "no answer");
            error.into_response()
        }
    };
    answer.headers_mut().extend(told);
    answer
}

async fn answer(
    served: &Served,
    request_id: &str,
    headers: &HeaderMap,
    body: Body,
    told: &mut HeaderMap,
) -> Result<Response, ApiError> {
    let body = RequestBody::try_new(read(body).await?)?;
    let asked = served.catalogue().read(body.model(), headers)?;
    let agent = served.agents.get(&asked.agent).await?;
    let plan = prepare(served, &agent, &asked, request_id, told).await?;
    let requested = plan.request.chain.first().map(ModelRef::key).unwrap_or_default();
    let attempt = ProviderAttempt {
        upstream: &served.upstream,
        endpoints: &served.endpoints,
        environment: &served.environment,
        usage: &*agent.usage,
        auth: &served.policy.auth,
        body: &body,
    };
    let options = RunOptions {
        kind: asked.chain,
        ..RunOptions::default()
    };
    match agent.runner.run_with(plan.request, options, &attempt).await {
        Ok(Completed {
            value,
            winner,
            report,
            run,
        }) => {
            describe_run(told, &requested, &report);
            describe_winner(told, &winner);
            let model = winner.candidate.key();
            tracing::info!(requestId = request_id, model, calls = report.calls, "answered");
            Ok(match value {
                Answer::Live(mut live) => {
                    if let Some(line) = hand_over(served, told, run.begun().await) {
                        live.announce(line);
                    }
                    streamed(*live, run, request_id.to_owned())
                }
                Answer::Whole(body) => {
                    let line = hand_over(served, told, run.finished_unseen().await);
                    whole(line.and_then(|line| before_text(&body, &line)).unwrap_or(body))
                }
            })
        }
        Err(error) => {
            describe_run(told, &requested, error.report());
            Err(ApiError::of_run(&error, SystemClock.now(), served.retry_cap))
        }
    }
}

/// Hands a notice over by its header; returns the line to put before the text where that is wished.
fn hand_over(served: &Served, told: &mut HeaderMap, notice: Option<Notice>) -> Option<String> {
    let notice = notice?;
    notice::tell(told, &notice);
    match served.config.failover.notices {
        NoticeSetting::Header => None,
        NoticeSetting::Inline => Some(notice.text),
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

/// Plans the turn. With a session, planning and what it stores (a new entry, a moved pin, a dropped override) happen
/// in one compare-and-set, so that two turns of one session agree. A session that cannot be used costs its memory and
/// not the answer.
async fn prepare(
    served: &Served,
    agent: &Agent,
    asked: &Asked,
    request_id: &str,
    told: &mut HeaderMap,
) -> Result<Plan, ApiError> {
    let (now, snapshot) = (SystemClock.now(), agent.usage.snapshot());
    let planned = |session: Option<TurnSession<'_>>| {
        let turn = Turn {
            run_id: request_id.to_owned(),
            agent: &asked.agent,
            run: asked.run.clone(),
            kind: asked.turn_kind(),
            session,
            lane: None,
        };
        plan(&served.resolver, &served.policy, &snapshot, turn, now)
    };
    if asked.chain == ChainKind::Image {
        return Ok(over_images(served, asked, planned(None))?);
    }
    let Some(key) = &asked.session else {
        return Ok(planned(None));
    };
    let session_id = SessionId::try_new(&served.ids.next_id()).ok();
    let store = match agent.sessions.open().await {
        Ok(store) => store,
        Err(error) => return Ok(without_session(planned(None), &error, request_id, told)),
    };
    let stored = openclaw_session::update(store, key, |entry| {
        let (mut next, age) = match (entry, &session_id) {
            (Some(entry), _) => (entry.clone(), SessionAge::Continuing),
            (None, Some(id)) => (SessionEntry::new(id.clone(), now), SessionAge::New),
            (None, None) => return (None, planned(None)),
        };
        let mut plan = planned(Some(TurnSession {
            key,
            entry: &next,
            age,
        }));
        if plan.selection.ignored.is_some() {
            next = drop_override(&next, now);
            plan = planned(Some(TurnSession {
                key,
                entry: &next,
                age,
            }));
        }
        if let Some(pin) = &plan.pin_to_store {
            next.pin = pin.clone();
            next.touch(now);
        }
        let changed = entry != Some(&next);
        (changed.then_some(next), plan)
    });
    Ok(match stored.await {
        Ok(plan) => plan,
        Err(error) => without_session(planned(None), &error, request_id, told),
    })
}

fn without_session(
    plan: Plan,
    error: &(dyn std::error::Error + 'static),
    request_id: &str,
    told: &mut HeaderMap,
) -> Plan {
    set(told, response::SESSION, "unavailable");
    tracing::warn!(
        requestId = request_id,
        error = causes::line(error),
        "answering without the session, which cannot be used"
    );
    plan
}

/// The plan with the image chain: the asked model, else the configured one, then the image fallbacks; a strict model
/// stands alone (R-10.5, A9).
fn over_images(served: &Served, asked: &Asked, plan: Plan) -> Result<Plan, AskError> {
    let chain = match &asked.run {
        RunKind::OneOff {
            model,
            policy: OneOffPolicy::Strict,
        } => vec![model.clone()],
        RunKind::OneOff { model, .. } => served.resolver.image_chain(Some(&model.key())),
        _ => served.resolver.image_chain(None),
    };
    let first = chain.first().ok_or(AskError::NoImageModel)?;
    let request = RunRequest {
        requested: Requested::from(first),
        chain,
        ..plan.request
    };
    Ok(Plan { request, ..plan })
}

fn whole(body: Bytes) -> Response {
    (
        [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

/// The rest of a stream. It is read only as fast as the client takes it; a client that leaves drops it, which hangs up
/// upstream and is nobody's failure.
fn streamed(live: LiveAnswer, run: Committed, request_id: String) -> Response {
    let events = stream::unfold(Some((live, run, request_id)), |open| async {
        let (mut live, run, request_id) = open?;
        let (bytes, open) = match live.next().await {
            Flow::Events(events) => (events, Some((live, run, request_id))),
            Flow::Finished => {
                run.finished().await;
                (DONE, None)
            }
            Flow::Hollow(failure) => {
                run.failed_late(&failure).await;
                (DONE, None)
            }
            Flow::Cut(failure) => {
                let verdict = run.failed_late(&failure).await;
                let reason = verdict.map(|verdict| verdict.reason.as_str());
                let error = preview(&describe(&failure), MAX_LOGGED);
                tracing::warn!(
                    requestId = request_id,
                    reason,
                    error,
                    "the answer broke off after its first content"
                );
                (Bytes::from(cut_event(&failure)), None)
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

/// The end of a stream that finished well, sent after the success was marked.
const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");

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
