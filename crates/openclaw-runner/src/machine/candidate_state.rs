//! The state of the candidate that the machine is working on.

use jiff::Timestamp;
use openclaw_classify::{
    Failure, Owner, Reason, RuleId, Scope, TimeoutPhase, TimerOwner, Transport, Verdict,
};
use openclaw_ids::ProfileId;
use openclaw_session::Rollback;

use crate::record::report::FailedAttempt;
use crate::record::summary::{AttemptRecord, ProfileFailure};

/// The candidate that is being worked on.
#[derive(Debug)]
pub(super) struct CandidateState {
    pub(super) index: usize,
    /// Its credentials in rotation order; empty means one anonymous attempt.
    pub(super) profiles: Vec<ProfileId>,
    /// Which of them is in use.
    pub(super) cursor: usize,
    pub(super) locked: Lock,
    pub(super) probe: Option<Probing>,
    /// The way back from what was written to the session.
    pub(super) rollback: Option<Box<Rollback>>,
    pub(super) persisted: bool,
    pub(super) rate_limit_rotations: u32,
    pub(super) overload_rotations: u32,
    pub(super) waited_inline: bool,
    /// Whether a repair was asked for (R4).
    pub(super) repaired: bool,
    pub(super) started_at: Timestamp,
    /// When the attempt that began this credential's episode started: an inline retry belongs to it (D2).
    pub(super) episode_at: Timestamp,
    /// Failures of this candidate, the last one being the current.
    pub(super) failures: Vec<FailedAttempt>,
}

/// Whether the credential may be exchanged for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// The user pinned it.
    Pinned,
    /// It may.
    Free,
}

/// A probe of a candidate that cools down.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    pub(super) reason: Reason,
    pub(super) takes_slot: bool,
    pub(super) last_resort: bool,
    pub(super) lease: Lease,
}

/// Whether the provider's probe lease is ours (G4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lease {
    Asked,
    Held,
}

impl Probing {
    /// Whether the attempt may use a cooling credential (R-4.5b): not after a missing model, whose credential
    /// does not cool down.
    pub(super) fn allows(&self) -> bool {
        !matches!(self.reason, Reason::Format | Reason::ModelNotFound)
    }
}

/// A candidate that was skipped although its provider may be asked as the last resort (G3).
#[derive(Debug)]
pub(super) struct SkippedCandidate {
    pub(super) index: usize,
    pub(super) soonest: Option<Timestamp>,
}

impl CandidateState {
    pub(super) fn new(index: usize, profiles: Vec<ProfileId>, locked: Lock, now: Timestamp) -> Self {
        Self {
            index,
            profiles,
            cursor: 0,
            locked,
            probe: None,
            rollback: None,
            persisted: false,
            rate_limit_rotations: 0,
            overload_rotations: 0,
            waited_inline: false,
            repaired: false,
            started_at: now,
            episode_at: now,
            failures: Vec::new(),
        }
    }

    pub(super) fn is_last_resort(&self) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.last_resort)
    }

    /// The last failure: its reason, whether another credential would meet the same fault, and its stated end.
    pub(super) fn failing(&self) -> Option<(Reason, bool, Option<Timestamp>)> {
        let last = self.failures.last()?;
        let hint = last
            .verdict
            .hint
            .as_ref()
            .filter(|hint| hint.credible)
            .map(|hint| hint.at);
        Some((
            last.verdict.reason,
            stays_with_any_credential(&last.failure, &last.verdict),
            hint,
        ))
    }

    /// Whether the last failure is one of the way to the endpoint, which no credential of that endpoint gets round.
    pub(super) fn failed_on_the_way(&self) -> bool {
        self.last_failure()
            .is_some_and(|last| last.verdict.scope == Scope::Endpoint)
    }

    /// The record of the candidate as it stands: the last failure, with those of its credentials before it.
    pub(super) fn record(&self) -> Option<AttemptRecord> {
        let (last, earlier) = self.failures.split_last()?;
        Some(AttemptRecord {
            earlier: earlier.iter().map(ProfileFailure::of).collect(),
            ..last.record.clone()
        })
    }

    /// Takes the last failure, with those of the candidate's credentials before it on record.
    pub(super) fn take_last(&mut self) -> Option<FailedAttempt> {
        let mut last = self.failures.pop()?;
        last.record.earlier = self.failures.iter().map(ProfileFailure::of).collect();
        Some(last)
    }

    pub(super) fn last_failure(&self) -> Option<&FailedAttempt> {
        self.failures.last()
    }

    pub(super) fn profile(&self) -> Option<&ProfileId> {
        self.profiles.get(self.cursor)
    }
}

/// R1: nothing came back before our own deadline, nothing reached the provider, the caller's own limit ended it, or the
/// request is larger than the limit.
fn stays_with_any_credential(failure: &Failure, verdict: &Verdict) -> bool {
    verdict.scope == Scope::Endpoint
        || verdict.owner == Owner::Caller
        || verdict.rule == RuleId::REQUEST_OVER_LIMIT
        || matches!(
            failure.transport,
            Some(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us))
        )
}
