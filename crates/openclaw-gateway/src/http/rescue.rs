//! Asks the next models for an answer that takes over from one that broke off (`stream.rescue: "splice"`).
//!
//! BL-92 forbids another candidate once something was seen; this is the exception that a setting asks for: only an answer
//! that repeats everything that was seen goes on, and the answer is asked for anew, without a prefill (BL-94).

use std::sync::{Arc, Mutex, OnceLock};

use axum::http::HeaderMap;
use openclaw_chain::Requested;
use openclaw_ids::{AgentId, ModelRef};
use openclaw_runner::{CompletedRun, RunOptions, RunRequest};
use openclaw_upstream::{Answer, LiveAnswer};
use openclaw_wire::{RequestBody, WireFormat};
use tokio::time::Instant;

use super::RequestContext;
use super::stream::Committed;
use crate::agents::Agent;
use crate::attempt::ProviderAttempt;
use crate::telemetry::RunWatch;

/// What is needed to ask once more.
pub(crate) struct Rescuer {
    context: RequestContext,
    agent: Arc<Agent>,
    agent_id: AgentId,
    wire: WireFormat,
    /// The client's headers that belong to the wire format.
    headers: HeaderMap,
    body: RequestBody,
    request_id: String,
    /// What the run did otherwise than others.
    options: RunOptions,
    /// The models that were not asked yet.
    left: Vec<ModelRef>,
}

/// An answer of another model, from its beginning.
pub(crate) struct Rescue {
    pub(crate) live: LiveAnswer,
    pub(crate) run: Committed,
    pub(crate) model: ModelRef,
    pub(crate) watch: RunWatch,
}

impl Rescuer {
    /// Asks the models that are `left` what `attempt` asked; none unless this is configured.
    pub(crate) fn of(
        context: &RequestContext,
        agent: &Arc<Agent>,
        agent_id: &AgentId,
        attempt: &ProviderAttempt<'_>,
        options: RunOptions,
        left: &[ModelRef],
    ) -> Option<Box<Self>> {
        let is_wanted = attempt.failover.stream.rescue == openclaw_config::Rescue::Splice;
        is_wanted.then(|| {
            Box::new(Self {
                context: context.clone(),
                agent: Arc::clone(agent),
                agent_id: agent_id.clone(),
                wire: attempt.wire,
                headers: attempt.headers.clone(),
                body: attempt.body.clone(),
                request_id: attempt.request_id.to_owned(),
                options,
                left: left.to_vec(),
            })
        })
    }

    /// The next answer; none when no model answers. The session is left alone: which model it is on was decided by the
    /// answer that people saw begin.
    pub(crate) async fn next(&mut self) -> Option<Rescue> {
        let first = self.left.first()?;
        let request = RunRequest {
            // A run of its own, found beside the one that it saves.
            run_id: format!("{}+{}", self.request_id, first.key()),
            session: None,
            lane: None,
            requested: Requested::from(first),
            chain: self.left.clone(),
            pin: None,
        };
        let generation = &self.context.generation;
        let telemetry = &self.context.process.telemetry;
        let mut watch = telemetry.begin(&self.agent_id, self.wire, &request, Instant::now());
        let attempt = ProviderAttempt {
            spent: watch.upstream(),
            upstream: &self.context.process.upstream,
            metrics: telemetry.metrics(),
            endpoints: &generation.endpoints,
            credentials: &generation.credentials,
            usage: &self.agent.usage,
            auth: &generation.policy.auth,
            failover: &generation.config.failover,
            wire: self.wire,
            headers: &self.headers,
            body: &self.body,
            request_id: &self.request_id,
            repeated: OnceLock::new(),
            repaired: Mutex::default(),
        };
        let runner = self.agent.runner(&generation.policy);
        let outcome = Box::pin(runner.run_with(request, self.options.clone(), &attempt)).await;
        let completed = match outcome {
            Ok(completed) => completed,
            Err(error) => {
                watch.failed(&error);
                self.left.clear();
                return None;
            }
        };
        let CompletedRun {
            value,
            winner,
            report,
            run,
        } = completed;
        watch.answered(&winner, &report);
        self.left.drain(..=winner.index);
        match value {
            Answer::Live(live) => Some(Rescue {
                live: *live,
                run,
                model: winner.candidate,
                watch,
            }),
            // A request for a stream brings a stream.
            Answer::Whole(_) => None,
        }
    }
}
