//! Writes the records of a run as it goes.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::Credential;
use openclaw_cooldown::soonest_expiry;
use openclaw_ids::{ModelRef, ProfileId};

use super::Machine;
use super::candidate_state::Probing;
use crate::record::decision::{Decision, DecisionKind, FallbackStep, RunEvent, StepOutcome};
use crate::record::error_fields::ErrorFields;
use crate::record::rotation::{RotationDecision, RotationKind};
use crate::record::short_hash::short_hex;
use crate::record::summary::AttemptRecord;

impl Machine {
    /// `failing` is the credential that was used last.
    pub(super) fn record_failure(
        &mut self,
        index: usize,
        record: &AttemptRecord,
        failing: Option<&ProfileId>,
    ) {
        let mut decision = self.left(DecisionKind::CandidateFailed, index, record);
        decision.auth_mode = self.auth_mode(failing);
        decision.rests_until = self.rests_until(index, alone(failing));
        self.push(decision);
    }

    /// `resting` are the cooling credentials that were looked at.
    pub(super) fn record_skip(
        &mut self,
        index: usize,
        record: &AttemptRecord,
        resting: Option<&[ProfileId]>,
    ) {
        let mut decision = self.left(DecisionKind::SkipCandidate, index, record);
        decision.profile_count = resting.map(<[ProfileId]>::len);
        decision.auth_mode = resting.and_then(|resting| self.auth_mode(resting));
        decision.rests_until = resting.and_then(|resting| self.rests_until(index, resting));
        self.push(decision);
    }

    pub(super) fn record_probe(&mut self, index: usize, probe: &Probing, resting: &[ProfileId]) {
        let mut decision = self.decision(DecisionKind::ProbeCooldownCandidate, index);
        decision.reason = Some(probe.reason);
        decision.next_candidate = self.next_candidate(index);
        decision.allow_transient_cooldown_probe = probe.allows().then_some(true);
        decision.profile_count = Some(resting.len());
        decision.rests_until = self.rests_until(index, resting);
        decision.last_resort = probe.last_resort.then_some(true);
        self.push(decision);
    }

    /// a plain success at the first try leaves no record.
    pub(super) fn record_success(&mut self, index: usize, probed: bool) {
        if index == 0 && self.attempts.is_empty() && !probed {
            return;
        }
        let mut decision = self.decision(DecisionKind::CandidateSucceeded, index);
        self.attempts.sort_by_key(|(at, _)| *at);
        decision.previous_attempts = self.attempts.iter().map(|(_, record)| record.clone()).collect();
        decision.step = decision.previous_attempts.last().map(|last| FallbackStep {
            from_model: last.candidate.clone(),
            to_model: Some(decision.candidate.clone()),
            from_failure_reason: last.reason,
            from_failure_detail: last.fields.shared_detail().cloned(),
            chain_position: index + 1,
            final_outcome: StepOutcome::Succeeded,
        });
        self.push(decision);
    }

    pub(super) fn record_rotation(&mut self, kind: RotationKind) {
        let Some(current) = &self.current else { return };
        let Some(last) = current.last_failure() else {
            return;
        };
        self.events.push(RunEvent::Rotation(Arc::new(RotationDecision {
            run_id: self.request.run_id.clone(),
            kind,
            reason: last.verdict.reason,
            candidate: last.record.candidate.clone(),
            profile_hash: current
                .profile()
                .map_or_else(|| "-".to_owned(), |id| short_hex(id.as_str())),
            auth_mode: self.auth_mode(current.profile()),
            status: last.record.status,
            error: last.record.fields.clone(),
            rests_until: self.rests_until(current.index, alone(current.profile())),
            elapsed: self.elapsed(),
            redirected_to: self.redirected_to(kind),
        })));
    }

    /// When the first of these credentials and the candidate's endpoint are back; none when they are already.
    pub(super) fn rests_until(&self, index: usize, credentials: &[ProfileId]) -> Option<Timestamp> {
        let candidate = &self.request.chain[index];
        let endpoints = &self.policy.endpoints;
        let reach = endpoints.reach(&self.snapshot, candidate.provider(), credentials, self.now);
        let usages = reach.profiles.iter().map(|id| self.snapshot.usage(id));
        let back = soonest_expiry(usages, Some(candidate.model()), self.now);
        let endpoint = reach.endpoint.filter(|window| window.is_active(self.now));
        back.max(endpoint.map(|window| window.until))
    }

    /// The kind that all of these credentials are of; none for what needs no proof, and when they differ.
    fn auth_mode<'a>(&self, credentials: impl IntoIterator<Item = &'a ProfileId>) -> Option<&'static str> {
        let known = credentials.into_iter().map(|id| self.snapshot.credential(id));
        let mut modes = known.map(|credential| match credential {
            Some(Credential::Local(_)) | None => None,
            Some(credential) => Some(credential.mode()),
        });
        let first = modes.next()??;
        modes.all(|mode| mode == Some(first)).then_some(first)
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.limits.elapsed(self.now)
    }

    fn redirected_to(&self, kind: RotationKind) -> Option<ModelRef> {
        let index = self
            .redirects
            .target()
            .filter(|_| kind == RotationKind::Redirect)?;
        self.request.chain.get(index).cloned()
    }

    /// A decision that leaves a candidate, with its step.
    fn left(&self, kind: DecisionKind, index: usize, record: &AttemptRecord) -> Decision {
        let mut decision = self.decision(kind, index);
        let next = self.next_candidate(index);
        decision.reason = record.reason;
        decision.rule.clone_from(&record.rule);
        decision.status = record.status;
        decision.code.clone_from(&record.code);
        decision.error.clone_from(&record.fields);
        decision.step = Some(FallbackStep {
            from_model: record.candidate.clone(),
            to_model: next.clone(),
            from_failure_reason: decision.reason,
            from_failure_detail: record.fields.shared_detail().cloned(),
            chain_position: index + 1,
            final_outcome: match &next {
                Some(_) => StepOutcome::NextFallback,
                None if self.surfaced => StepOutcome::Surfaced,
                None => StepOutcome::ChainExhausted,
            },
        });
        decision.next_candidate = next;
        decision
    }

    fn decision(&self, kind: DecisionKind, index: usize) -> Decision {
        let candidate = self.request.chain[index].clone();
        let session = self.request.session.as_ref();
        Decision {
            kind,
            run_id: self.request.run_id.clone(),
            session_id: session.map(|session| session.id.clone()),
            lane: self.request.lane.clone(),
            requested: self.request.requested.clone(),
            attempt: index + 1,
            total: self.request.chain.len(),
            reason: None,
            rule: None,
            status: None,
            code: None,
            error: ErrorFields::default(),
            step: None,
            next_candidate: None,
            is_primary: index == 0,
            requested_model_matched: candidate == self.request.chain[0],
            fallback_configured: self.request.chain.len() > 1,
            allow_transient_cooldown_probe: None,
            profile_count: None,
            last_resort: None,
            previous_attempts: Vec::new(),
            auth_mode: None,
            rests_until: None,
            elapsed: self.elapsed(),
            suppressed_duplicate_count: 0,
            candidate,
        }
    }

    /// The candidate that follows; none after a last resort, a person's choice, a limit or a failure that surfaces,
    /// which end the run.
    fn next_candidate(&self, index: usize) -> Option<ModelRef> {
        if self.last_resort_taken || self.redirects.are_made() || self.limits.ended || self.surfaced {
            return None;
        }
        self.request.chain.get(index + 1).cloned()
    }

    fn push(&mut self, decision: Decision) {
        self.events.push(RunEvent::Candidate(Arc::new(decision)));
    }
}

/// One credential, or none, as a list.
fn alone(profile: Option<&ProfileId>) -> &[ProfileId] {
    profile.map_or(&[], std::slice::from_ref)
}
