//! One attempt: what must be true before it begins, and what its success ends.

use openclaw_auth_store::{EndpointKey, UsageChange};
use openclaw_ids::ProfileId;
use openclaw_session::FallbackChoice;

use super::candidate_state::Probing;
use super::{Machine, NextAction, Outcome, Standing, Step, Winner};
use crate::attempt::AttemptCall;
use crate::request::PersistPolicy;

impl Machine {
    /// Queues what must be true before the attempt begins: the session knows about it.
    pub(super) fn prepare(&mut self) {
        let Some(current) = &mut self.current else { return };
        let index = current.index;
        self.then = NextAction::Begin;
        let Some(session) = &self.request.session else {
            return;
        };
        if index == 0 {
            if session.probe.is_some() {
                self.pending.push_back(Step::MarkPrimaryProbe);
            }
            return;
        }
        // A person's choice is in the session already (A6).
        if session.persist == PersistPolicy::Never
            || self.redirects.are_made()
            || std::mem::replace(&mut current.persisted, true)
        {
            return;
        }
        let candidate = self.request.chain[index].clone();
        let requested = self.request.chain[0].clone();
        let shares = self
            .policy
            .aliases
            .share_credentials(candidate.provider(), requested.provider());
        self.pending.push_back(Step::Persist(Box::new(FallbackChoice {
            session_id: session.id.clone(),
            origin: session.probe.as_ref().map(|_| requested.clone()),
            // S-3.4a: on a probe turn the old fallback gets its own profile back.
            profile: match &session.probe {
                Some(probe) => probe.profile_for(&candidate),
                None => self.request.pin.clone().filter(|_| shares),
            },
            read: session.read.clone(),
            candidate,
            requested,
        })));
    }

    /// Starts the attempt with the credential in use.
    pub(super) fn begin(&mut self) -> Step {
        let now = self.now;
        if let Some(current) = &mut self.current {
            current.started_at = now;
            if !current.waited_inline {
                current.episode_at = now;
            }
        }
        let Some(call) = self.call() else {
            return Step::Finish(Box::new(self.exhausted()));
        };
        self.calls += 1;
        self.then = NextAction::AwaitAttempt;
        Step::Attempt(call)
    }

    /// The attempt with the credential in use.
    pub(super) fn call(&self) -> Option<AttemptCall> {
        let current = self.current.as_ref()?;
        let total = self.request.chain.len();
        Some(AttemptCall {
            candidate: self.request.chain[current.index].clone(),
            profile: current.profile().cloned(),
            position: current.index + 1,
            total,
            allow_transient_cooldown_probe: current.probe.as_ref().is_some_and(Probing::allows),
            is_probe: current.probe.is_some(),
            is_final_fallback_attempt: current.index + 1 == total || current.is_last_resort(),
        })
    }

    /// Who answers with the credential in use.
    pub(super) fn in_use(&self, standing: Standing) -> Option<Winner> {
        let current = self.current.as_ref()?;
        Some(Winner {
            candidate: self.request.chain[current.index].clone(),
            index: current.index,
            profile: current.profile().cloned(),
            started_at: current.started_at,
            standing,
        })
    }

    pub(super) fn on_succeeded(&mut self) {
        let Some(winner) = self.in_use(Standing::Good) else {
            return;
        };
        let Some(current) = self.current.take() else {
            return;
        };
        if current.probe.is_some() {
            self.pending.push_back(self.end_probe(current.index));
        }
        if let Some(endpoint) = self.resting_endpoint(current.index, current.profile()) {
            self.pending
                .push_back(Step::Commit(UsageChange::EndpointSuccess { endpoint }));
        }
        // A last resort replaces its skip, and a winner is not among those that failed (G3, R-1.3).
        self.attempts.retain(|(index, _)| *index != current.index);
        self.record_success(current.index, current.probe.is_some() || self.reset_wait.made > 0);
        let report = self.report();
        self.then = NextAction::Finish(Box::new(Outcome::Completed(winner, report)));
    }

    /// The endpoint that the credential is used at, if it has a window that an answer disproves.
    fn resting_endpoint(&self, index: usize, profile: Option<&ProfileId>) -> Option<EndpointKey> {
        if self.snapshot.endpoints.is_empty() {
            return None;
        }
        let endpoint = self.endpoint_of(index, profile)?;
        self.snapshot
            .endpoints
            .contains_key(endpoint)
            .then(|| endpoint.clone())
    }

    /// Where a credential, or the lack of one, is used for a candidate (D4).
    pub(super) fn endpoint_of(&self, index: usize, profile: Option<&ProfileId>) -> Option<&EndpointKey> {
        let credential = profile.and_then(|id| self.snapshot.credential(id));
        self.policy
            .endpoints
            .of(self.request.chain[index].provider(), credential)
    }

    pub(super) fn end_probe(&self, index: usize) -> Step {
        let provider = self.request.chain[index].provider().clone();
        Step::Commit(UsageChange::ProbeEnd {
            provider,
            holder: self.holder.clone(),
        })
    }
}
