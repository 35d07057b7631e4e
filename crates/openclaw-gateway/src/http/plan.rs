//! Plans a request: which models may answer it, in which order, and with which session.

use std::collections::HashSet;

use jiff::Timestamp;
use openclaw_auth_store::UsageStore;
use openclaw_chain::{OneOffPolicy, Requested, RunKind, SelectionSource};
use openclaw_classify::error_chain;
use openclaw_ids::{ModelRef, ProfileId, SessionKey};
use openclaw_runner::{
    AttemptRecord, ChainKind, Clock, Plan, RunRequest, SystemClock, Turn, TurnSession, plan,
};
use openclaw_session::{SessionAge, SessionEntry, drop_override};
use openclaw_wire::WireFormat;

use super::RequestContext;
use super::headers::response;
use super::selection::{AskError, Asked};
use crate::agents::Agent;
use crate::providers::wire_support::{WireSelection, WireSupport};

/// A request that is ready to run.
pub(crate) struct Prepared {
    /// What to run.
    pub(crate) request: RunRequest,
    /// The model that was asked for, also when it cannot read the request.
    pub(crate) requested: ModelRef,
    /// The candidates that were left out because they do not speak the wire format.
    pub(crate) incompatible: Vec<AttemptRecord>,
    /// Credentials that are not good for it.
    pub(crate) excluded_profiles: HashSet<ProfileId>,
    /// The records of those.
    pub(crate) profile_records: Vec<AttemptRecord>,
}

/// A response header that says how a session was used, and its value.
pub(crate) type SessionHeader = (&'static str, &'static str);

/// Plans the request, in its session if it has one.
pub(crate) async fn plan_turn(
    context: &RequestContext,
    agent: &Agent,
    asked: &Asked,
    request_id: &str,
) -> Result<(RunRequest, Option<SessionHeader>), AskError> {
    match &asked.session {
        // An image run leaves the session alone.
        Some(key) if asked.chain != ChainKind::Image => {
            let (plan, header) = Box::pin(in_session(context, agent, asked, key, request_id)).await;
            Ok((plan.request, Some(header)))
        }
        Some(_) | None => Ok((alone(context, agent, asked, request_id)?.request, None)),
    }
}

/// Leaves out the candidates and credentials that cannot serve the request.
pub(crate) fn prepare(
    context: &RequestContext,
    agent: &Agent,
    mut request: RunRequest,
    wire: WireFormat,
) -> Result<Prepared, AskError> {
    let Some(requested) = request.chain.first().cloned() else {
        return Err(AskError::NotSpoken(wire));
    };
    let snapshot = agent.usage.snapshot();
    let fit = WireSupport {
        endpoints: &context.generation.endpoints,
        policy: &context.generation.policy,
        snapshot: &snapshot,
        pin: request.pin.as_ref(),
        wire,
        now: SystemClock.now(),
    };
    let WireSelection {
        kept,
        incompatible,
        excluded_profiles,
        profile_records,
        login_only,
    } = fit.select(std::mem::take(&mut request.chain));
    let Some(first) = kept.first() else {
        return Err(match login_only {
            Some(provider) => AskError::OnlyLogins { provider, wire },
            None => AskError::NotSpoken(wire),
        });
    };
    if *first != requested {
        request.requested = Requested::from(first);
        // The session's primary is not asked, so its answer proves nothing about it.
        if let Some(session) = &mut request.session {
            session.probe = None;
        }
    }
    request.chain = kept;
    Ok(Prepared {
        request,
        requested,
        incompatible,
        excluded_profiles,
        profile_records,
    })
}

/// Plans the turn. With a session, planning and what it stores (a new entry, a moved pin, a dropped override) happen
/// in one compare-and-set, so that two turns of one session agree. A session that cannot be used costs its memory and
/// not the answer.
async fn in_session(
    context: &RequestContext,
    agent: &Agent,
    asked: &Asked,
    key: &SessionKey,
    request_id: &str,
) -> (Plan, SessionHeader) {
    let now = SystemClock.now();
    let planned = planning(context, agent, asked, request_id, now);
    let fresh = || SessionEntry::new(context.process.ids.next_session(), now);
    let store = match agent.sessions.with_time_limit(agent.sessions.open()).await {
        Ok(Ok(store)) => store,
        Err(error) => return without_session(planned(None), &error, request_id),
        Ok(Err(error)) => return without_session(planned(None), &error, request_id),
    };
    let stored = openclaw_session::update(store, key, |entry| {
        let (mut next, age) = match entry {
            Some(entry) => (entry.clone(), SessionAge::Continuing),
            None => (fresh(), SessionAge::New),
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
    match agent.sessions.with_time_limit(stored).await {
        Ok(Ok(plan)) => {
            let header = (response::STICKY, standing(&plan));
            (plan, header)
        }
        Err(error) => without_session(planned(None), &error, request_id),
        Ok(Err(error)) => without_session(planned(None), &error, request_id),
    }
}

/// Plans the turn of a request without a session.
fn alone(context: &RequestContext, agent: &Agent, asked: &Asked, request_id: &str) -> Result<Plan, AskError> {
    let plan = planning(context, agent, asked, request_id, SystemClock.now())(None);
    if asked.chain == ChainKind::Image {
        return over_images(context, asked, plan);
    }
    Ok(plan)
}

/// Plans the turn at `now`, in a session or without.
fn planning<'a>(
    context: &'a RequestContext,
    agent: &Agent,
    asked: &'a Asked,
    request_id: &'a str,
    now: Timestamp,
) -> impl Fn(Option<TurnSession<'_>>) -> Plan + 'a {
    let snapshot = agent.usage.snapshot();
    move |session| {
        let turn = Turn {
            run_id: request_id.to_owned(),
            agent: &asked.agent,
            run: asked.run.clone(),
            kind: asked.turn_kind(),
            session,
            lane: None,
        };
        plan(
            &context.generation.resolver,
            &context.generation.policy,
            &snapshot,
            turn,
            now,
        )
    }
}

/// Where a session stood, for its client: on a fallback that it sticks to until its own model is back, on what a person
/// chose, or on what is configured. A model for one request says nothing about it.
fn standing(plan: &Plan) -> &'static str {
    match plan.selection.source {
        SelectionSource::AutoOverride => "fallback",
        SelectionSource::UserOverride | SelectionSource::LegacyOverride => "chosen",
        SelectionSource::OneOff => "one_off",
        // The other runs do not come over HTTP.
        SelectionSource::AgentChain
        | SelectionSource::AgentPrimary
        | SelectionSource::ChannelModel
        | SelectionSource::ConfiguredDefault
        | SelectionSource::Cron
        | SelectionSource::CronFallbacks
        | SelectionSource::CronModel
        | SelectionSource::HeartbeatModel
        | SelectionSource::InheritedOverride
        | SelectionSource::MemoryFlush
        | SelectionSource::Subagent => "configured",
    }
}

fn without_session(
    plan: Plan,
    error: &(dyn std::error::Error + 'static),
    request_id: &str,
) -> (Plan, SessionHeader) {
    tracing::warn!(
        requestId = request_id,
        error = error_chain::line(error),
        "answering without the session, which cannot be used"
    );
    (plan, (response::SESSION, "unavailable"))
}

/// The plan with the image chain: the asked model, else the configured one, then the image fallbacks; a strict model
/// stands alone (R-10.5, A9).
fn over_images(context: &RequestContext, asked: &Asked, plan: Plan) -> Result<Plan, AskError> {
    let chain = match &asked.run {
        RunKind::OneOff {
            model,
            policy: OneOffPolicy::Strict,
        } => vec![model.clone()],
        RunKind::OneOff { model, .. } => context.generation.resolver.image_chain(Some(&model.key())),
        RunKind::Cron(_)
        | RunKind::Heartbeat { .. }
        | RunKind::MemoryFlush { .. }
        | RunKind::Subagent
        | RunKind::Turn => context.generation.resolver.image_chain(None),
    };
    let first = chain.first().ok_or(AskError::NoImageModel)?;
    let request = RunRequest {
        requested: Requested::from(first),
        chain,
        ..plan.request
    };
    Ok(Plan { request, ..plan })
}
