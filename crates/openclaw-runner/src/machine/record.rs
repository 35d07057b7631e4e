//! Writes the records of a run as it goes.

use openclaw_ids::ModelRef;

use super::Machine;
use super::current::Probing;
use crate::decision::{Decision, DecisionKind, FallbackStep, RunEvent, StepOutcome};
use crate::hash::short_hex;
use crate::observation::ErrorFields;
use crate::rotation::{RotationDecision, RotationKind};
use crate::summary::AttemptRecord;

impl Machine {
    pub(super) fn record_failure(&mut self, index: usize, record: &AttemptRecord) {
        let decision = self.left(DecisionKind::CandidateFailed, index, record);
        self.push(decision);
    }

    pub(super) fn record_skip(&mut self, index: usize, record: &AttemptRecord, profile_count: Option<usize>) {
        let mut decision = self.left(DecisionKind::SkipCandidate, index, record);
        decision.profile_count = profile_count;
        self.push(decision);
    }

    pub(super) fn record_probe(&mut self, index: usize, probe: &Probing, profile_count: usize) {
        let mut decision = self.decision(DecisionKind::ProbeCooldownCandidate, index);
        decision.reason = Some(probe.reason);
        decision.next_candidate = self.next_candidate(index);
        decision.allow_transient_cooldown_probe = probe.allows().then_some(true);
        decision.profile_count = Some(profile_count);
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
            from_failure_detail: last.fields.detail().map(str::to_owned),
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
        self.events.push(RunEvent::Rotation(Box::new(RotationDecision {
            run_id: self.request.run_id.clone(),
            kind,
            reason: last.verdict.reason,
            candidate: last.record.candidate.clone(),
            profile_hash: current
                .profile()
                .map_or_else(|| "-".to_owned(), |id| short_hex(id.as_str())),
            status: last.record.status,
            error: last.record.fields.clone(),
            redirected_to: self.redirected_to(kind),
        })));
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
            from_failure_detail: record.fields.detail().map(str::to_owned),
            chain_position: index + 1,
            final_outcome: if next.is_some() {
                StepOutcome::NextFallback
            } else {
                StepOutcome::ChainExhausted
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
        self.events.push(RunEvent::Candidate(Box::new(decision)));
    }
}
