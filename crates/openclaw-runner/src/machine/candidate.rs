//! One candidate: gate, credentials, attempt, and what a failure leads to.

use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{Applied, Credential, EndpointKey, UsageChange, eligibility, rotation_order};
use openclaw_classify::{Certainty, Failure, Owner, Reason, RuleId, Scope, TimeoutPhase, TimerOwner, Transport, Verdict, classify, describe, redact};
use openclaw_cooldown::{FailureEvent, Gate, GateFacts, MarkScope, Position, ProfileUsage, Skip, SkipKind, Slot, gate};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_session::{PersistFallback, PinSource, ProfilePin, Rollback};

use super::{Machine, Outcome, Step, Then};
use crate::attempt::AttemptCall;
use crate::decision::RotationKind;
use crate::error::FailedAttempt;
use crate::observation::ErrorFields;
use crate::policy::{Advance, Rotation, advance, consumes_slot, rotation};
use crate::request::PersistPolicy;
use crate::summary::{AttemptRecord, CandidateOutcome, ProfileFailure};

/// The rule id of a user pin that names no usable profile (R-9.1a).
const PIN_MISSING: RuleId = RuleId::shipped("run.pinned-profile-missing");
/// The rule id of a failure that the classifier does not take for one.
const NOT_A_FAILURE: RuleId = RuleId::shipped("run.failed-without-evidence");

/// The candidate that is being worked on.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) index: usize,
    /// Its credentials in rotation order; empty means one anonymous attempt.
    profiles: Vec<ProfileId>,
    /// Which of them is in use.
    cursor: usize,
    locked: Lock,
    probe: Option<Probing>,
    /// The way back from what was written to the session.
    pub(super) rollback: Option<Rollback>,
    persisted: bool,
    rate_limit_rotations: u32,
    overload_rotations: u32,
    waited_inline: bool,
    started_at: Timestamp,
    /// Failures of this candidate, the last one being the current.
    failures: Vec<FailedAttempt>,
}

/// Whether the credential may be exchanged for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lock {
    /// The user pinned it.
    Pinned,
    /// It may.
    Free,
}

/// A probe of a resting candidate.
#[derive(Debug, Clone)]
pub(super) struct Probing {
    pub(super) reason: Reason,
    pub(super) takes_slot: bool,
    pub(super) last_resort: bool,
    lease: Lease,
}

/// Whether the provider's probe lease is ours (G4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lease {
    Asked,
    Held,
}

impl Probing {
    /// Whether the attempt may use a resting credential (R-4.5b): not after a missing model, whose credential
    /// does not rest.
    pub(super) fn allows(&self) -> bool {
        !matches!(self.reason, Reason::Format | Reason::ModelNotFound)
    }
}

/// A candidate that was skipped although its provider may be asked as the last resort (G3).
#[derive(Debug)]
pub(super) struct Resting {
    pub(super) index: usize,
    pub(super) soonest: Option<Timestamp>,
}

impl Machine {
    /// Decides whether candidate `index` is attempted, probed or skipped.
    pub(super) fn enter(&mut self, index: usize) {
        let Some(candidate) = self.request.chain.get(index).cloned() else {
            self.then = Then::EndOfChain;
            return;
        };
        let (profiles, locked) = match self.credentials(&candidate) {
            Ok(found) => found,
            Err(missing) => {
                self.current = Some(Current::new(index, Vec::new(), Lock::Pinned, self.now));
                self.fail_without_call(missing);
                return;
            }
        };
        match self.ask_gate(index, &candidate, &profiles) {
            Gate::Open => {
                let cursor = profiles.iter().position(|id| self.is_usable(id, &candidate)).unwrap_or(0);
                let mut current = Current::new(index, profiles, locked, self.now);
                current.cursor = cursor;
                self.current = Some(current);
                self.prepare();
            }
            Gate::Probe(probe) => self.start_probe(index, profiles, locked, probe.reason, probe.takes_slot, false),
            Gate::Skip(skip) => self.skip(index, &profiles, &skip),
        }
    }

    /// Asks for the probe lease of a resting candidate; the attempt follows when it is granted (G4).
    fn start_probe(&mut self, index: usize, profiles: Vec<ProfileId>, locked: Lock, reason: Reason, takes_slot: bool, last_resort: bool) {
        let provider = self.request.chain[index].provider().clone();
        let mut current = Current::new(index, profiles, locked, self.now);
        current.probe = Some(Probing { reason, takes_slot, last_resort, lease: Lease::Asked });
        self.current = Some(current);
        self.pending.push_back(Step::Commit(UsageChange::ProbeStart { provider, holder: self.holder.clone() }));
        self.prepare();
    }

    /// The last resort of G3: one attempt at a candidate that was skipped.
    pub(super) fn enter_last_resort(&mut self, index: usize) {
        let candidate = self.request.chain[index].clone();
        let Ok((profiles, locked)) = self.credentials(&candidate) else {
            self.then = Then::EndOfChain;
            return;
        };
        let reason = self.attempts.iter().find(|(at, _)| *at == index).and_then(|(_, record)| record.reason);
        self.start_probe(index, profiles, locked, reason.unwrap_or(Reason::Unknown), true, true);
    }

    /// Takes the answer to a lease request.
    pub(super) fn on_applied(&mut self, applied: Applied) {
        let Some(Current { index, probe: Some(probe), profiles, .. }) = &mut self.current else { return };
        if probe.lease == Lease::Held {
            return;
        }
        let index = *index;
        match applied {
            Applied::Done | Applied::Unchanged => {
                probe.lease = Lease::Held;
                let (count, probing) = (profiles.len(), probe.clone());
                self.record_probe(index, &probing, count);
            }
            Applied::ProbeHeldElsewhere => {
                let (reason, last_resort) = (probe.reason, probe.last_resort);
                let profiles = std::mem::take(profiles);
                self.current = None;
                self.pending.clear();
                if last_resort {
                    self.then = Then::EndOfChain;
                    return;
                }
                let soonest = None;
                self.skip(index, &profiles, &Skip { reason, kind: SkipKind::Cooldown, soonest, last_resort: false });
            }
        }
    }

    /// Queues what must be true before the attempt begins: the session knows about it.
    fn prepare(&mut self) {
        let Some(current) = &mut self.current else { return };
        let index = current.index;
        self.then = Then::Begin;
        let Some(session) = &self.request.session else { return };
        if index == 0 {
            if session.probe.is_some() {
                self.pending.push_back(Step::MarkPrimaryProbe);
            }
            return;
        }
        if session.persist == PersistPolicy::Never || std::mem::replace(&mut current.persisted, true) {
            return;
        }
        let candidate = self.request.chain[index].clone();
        let requested = self.request.chain[0].clone();
        let shares = self.policy.aliases.share_credentials(candidate.provider(), requested.provider());
        self.pending.push_back(Step::Persist(Box::new(PersistFallback {
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
        let total = self.request.chain.len();
        let now = self.now;
        let Some(current) = &mut self.current else {
            return Step::Finish(Box::new(self.exhausted()));
        };
        current.started_at = now;
        let candidate = self.request.chain[current.index].clone();
        let call = AttemptCall {
            profile: current.profiles.get(current.cursor).cloned(),
            position: current.index + 1,
            total,
            allow_transient_cooldown_probe: current.probe.as_ref().is_some_and(Probing::allows),
            is_final_fallback_attempt: current.index + 1 == total || current.is_last_resort(),
            candidate,
        };
        self.attempted_providers.insert(call.candidate.provider().clone());
        self.calls += 1;
        self.then = Then::AwaitAttempt;
        Step::Attempt(call)
    }

    pub(super) fn on_succeeded(&mut self) {
        let Some(current) = self.current.take() else { return };
        if current.probe.is_some() {
            self.pending.push_back(self.end_probe(current.index));
        }
        if let Some(endpoint) = self.resting_endpoint(current.index) {
            self.pending.push_back(Step::Commit(UsageChange::EndpointSuccess { endpoint }));
        }
        let profile = current.profiles.get(current.cursor).cloned();
        self.record_success(current.index, current.probe.is_some());
        let winner = super::Winner {
            candidate: self.request.chain[current.index].clone(),
            index: current.index,
            profile,
            started_at: current.started_at,
        };
        let report = self.report();
        self.then = Then::Finish(Box::new(Outcome::Completed(winner, report)));
    }

    pub(super) fn on_failed(&mut self, failure: Failure) {
        let verdict = classify(&failure, self.now).unwrap_or_else(|| unproven(NOT_A_FAILURE, Reason::Unclassified));
        let Some(current) = &self.current else { return };
        let index = current.index;
        let profile = current.profiles.get(current.cursor).cloned();
        let auth_mode = profile.as_ref().and_then(|id| self.snapshot.credential(id)).map(Credential::mode);
        let attempt = failed_attempt(&self.request.chain[index], failure, verdict, auth_mode);
        let mark = self.mark(index, profile, &attempt.verdict);
        self.pending.extend(mark);
        let probing = self.current.as_ref().is_some_and(|current| current.probe.is_some());
        if probing {
            self.pending.push_back(self.end_probe(index));
        }
        let next = advance(&attempt.verdict, &self.policy.settings);
        if let Some(current) = &mut self.current {
            current.failures.push(attempt);
        }
        match next {
            Advance::Abort => self.stop(|_, report| Outcome::Aborted(report)),
            Advance::Next => self.then = Then::Rotate,
            Advance::Surface => {
                self.record_rotation(RotationKind::SurfaceError);
                self.stop(|attempt, report| Outcome::Surfaced(Box::new(attempt), report));
            }
        }
    }

    /// A candidate that fails before any call, because its pinned credential does not exist.
    fn fail_without_call(&mut self, attempt: FailedAttempt) {
        if let Some(current) = &mut self.current {
            current.failures.push(attempt);
        }
        self.leave();
    }

    /// What is written about a failure: at most one mark, before anything else happens (R3, BL-40).
    fn mark(&self, index: usize, profile: Option<ProfileId>, verdict: &Verdict) -> Option<Step> {
        let candidate = &self.request.chain[index];
        let started_at = self.current.as_ref().map(|current| current.started_at);
        let scope = match verdict.scope {
            Scope::None => return None,
            Scope::Endpoint => {
                let endpoint = self.policy.endpoints.get(candidate.provider())?.clone();
                return Some(Step::Commit(UsageChange::EndpointFailure { endpoint, started_at }));
            }
            Scope::Model => MarkScope::Model,
            Scope::Profile => MarkScope::Profile,
        };
        let event = FailureEvent {
            provider: candidate.provider().clone(),
            reason: verdict.reason,
            scope,
            model: Some(candidate.model().clone()),
            hint: verdict.hint.clone(),
            started_at,
        };
        Some(Step::Commit(UsageChange::Failure { profile: profile?, event }))
    }

    /// After the mark: another credential, a short wait, or the end of this candidate (R1, R2).
    pub(super) fn rotate_or_leave(&mut self) {
        let Some((reason, silent, wait)) = self.current.as_ref().and_then(Current::failing) else {
            return self.leave();
        };
        if let Some(cursor) = self.next_credential(reason, silent) {
            self.record_rotation(RotationKind::RotateProfile);
            if let Some(current) = &mut self.current {
                current.cursor = cursor;
            }
            self.back_off(reason);
            self.then = Then::Begin;
            return;
        }
        if let Some(wait) = self.inline_wait(reason, wait) {
            self.record_rotation(RotationKind::InlineWait);
            self.pending.push_back(Step::Sleep(wait));
            if let Some(current) = &mut self.current {
                current.waited_inline = true;
            }
            self.then = Then::Begin;
            return;
        }
        self.leave();
    }

    /// The next credential that may be tried, and the count it takes.
    fn next_credential(&mut self, reason: Reason, silent: bool) -> Option<usize> {
        let cooldowns = &self.policy.auth.cooldowns;
        let (overload_cap, rate_limit_cap) =
            (cooldowns.overloaded_profile_rotations(), cooldowns.rate_limited_profile_rotations());
        let index = self.current.as_ref()?.index;
        let capped = self.has_next(index);
        let current = self.current.as_mut()?;
        if current.locked == Lock::Pinned || current.probe.is_some() || silent {
            return None;
        }
        let within = match rotation(reason) {
            Rotation::Never => false,
            Rotation::Unlimited => true,
            Rotation::UpToOverloadCap => count(&mut current.overload_rotations, overload_cap, capped),
            Rotation::UpToRateLimitCap => count(&mut current.rate_limit_rotations, rate_limit_cap, capped),
        };
        if !within {
            return None;
        }
        let current = self.current.as_ref()?;
        let candidate = &self.request.chain[index];
        let rest = current.profiles.iter().enumerate().skip(current.cursor + 1);
        rest.filter(|(_, id)| self.is_usable(id, candidate)).map(|(cursor, _)| cursor).next()
    }

    /// R2: a short stated wait is worth it only when nothing else is left.
    fn inline_wait(&self, reason: Reason, until: Option<Timestamp>) -> Option<Duration> {
        let current = self.current.as_ref()?;
        if reason != Reason::RateLimit || current.waited_inline || current.probe.is_some() || self.has_next(current.index) {
            return None;
        }
        let wait = Duration::try_from(until?.duration_since(self.now)).ok()?;
        (wait <= self.policy.settings.inline_wait).then_some(wait)
    }

    fn back_off(&mut self, reason: Reason) {
        let pause = self.policy.auth.cooldowns.overloaded_backoff();
        if reason == Reason::Overloaded && !pause.is_zero() {
            self.pending.push_back(Step::Sleep(pause));
        }
    }

    /// The candidate is done with: record it, undo its selection, go on.
    fn leave(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        let index = current.index;
        if let Some(rollback) = current.rollback.take() {
            self.pending.push_back(Step::RollBack(rollback));
        }
        let Some(last) = current.failures.pop() else {
            self.then = Then::Enter(index + 1);
            return;
        };
        if let Some(probe) = &current.probe
            && probe.takes_slot
            && consumes_slot(last.verdict.reason)
        {
            self.used_slots.insert(self.request.chain[index].provider().clone());
        }
        let mut record = last.record.clone();
        record.earlier = current.failures.iter().map(ProfileFailure::of).collect();
        self.record_failure(index, &record);
        self.last_failed = Some(FailedAttempt { record: record.clone(), ..last });
        self.put(index, record);
        self.then = if current.is_last_resort() { Then::EndOfChain } else { Then::Enter(index + 1) };
    }

    /// Ends the run with the failure at hand.
    fn stop(&mut self, outcome: impl FnOnce(FailedAttempt, crate::error::RunReport) -> Outcome) {
        let Some(mut current) = self.current.take() else { return };
        if let Some(rollback) = current.rollback.take() {
            self.pending.push_back(Step::RollBack(rollback));
        }
        let Some(mut last) = current.failures.pop() else { return };
        last.record.earlier = current.failures.iter().map(ProfileFailure::of).collect();
        let report = self.report();
        self.then = Then::Finish(Box::new(outcome(last, report)));
    }

    fn skip(&mut self, index: usize, profiles: &[ProfileId], skip: &Skip) {
        let provider = self.request.chain[index].provider();
        let error = match skip.kind {
            SkipKind::Auth => format!("Provider {provider} has {} issue (skipping all models)", skip.reason),
            SkipKind::Cooldown => format!("Provider {provider} is in cooldown (suspending lanes)"),
            SkipKind::SlotUsed => format!("Provider {provider} is in cooldown (probe already attempted this run)"),
        };
        let record = AttemptRecord {
            candidate: self.request.chain[index].clone(),
            fields: ErrorFields::of_text(&error),
            error,
            reason: Some(skip.reason),
            rule: None,
            status: None,
            code: None,
            auth_mode: self.resting_auth_mode(skip.reason, profiles),
            outcome: CandidateOutcome::Skipped,
            earlier: Vec::new(),
        };
        self.record_skip(index, &record, profiles.len());
        if skip.last_resort {
            self.skipped.push(Resting { index, soonest: skip.soonest });
        }
        self.put(index, record);
        self.then = Then::Enter(index + 1);
    }

    /// a billing skip names the kind of login that has no credit.
    fn resting_auth_mode(&self, reason: Reason, profiles: &[ProfileId]) -> Option<&'static str> {
        if reason != Reason::Billing {
            return None;
        }
        let modes = profiles.iter().filter_map(|id| self.snapshot.credential(id)).map(Credential::mode);
        modes.into_iter().find(|mode| matches!(*mode, "oauth" | "token"))
    }

    /// The candidate's set: the user's pin alone, or the provider's rotation order.
    fn credentials(&self, candidate: &ModelRef) -> Result<(Vec<ProfileId>, Lock), FailedAttempt> {
        let (snapshot, policy) = (&*self.snapshot, &*self.policy);
        let preferred = match &self.request.pin {
            Some(ProfilePin { profile, source: PinSource::User }) if self.pin_concerns(profile, candidate) => {
                let fits = eligibility(snapshot, &policy.auth, &policy.aliases, candidate.provider(), profile, self.now);
                return if fits.is_ok() {
                    Ok((vec![profile.clone()], Lock::Pinned))
                } else {
                    Err(missing_pin(candidate, profile))
                };
            }
            Some(ProfilePin { profile, source: PinSource::Auto }) => Some(profile),
            Some(ProfilePin { source: PinSource::User, .. }) | None => None,
        };
        let order = rotation_order(snapshot, &policy.auth, &policy.aliases, candidate.provider(), preferred, self.now);
        Ok((order, Lock::Free))
    }

    /// S-5.5e: a pin holds for the candidates whose provider shares credentials with the requested one.
    fn pin_concerns(&self, profile: &ProfileId, candidate: &ModelRef) -> bool {
        let owner = self.snapshot.credential(profile).map(Credential::provider);
        let owner = owner.unwrap_or_else(|| self.request.chain[0].provider());
        self.policy.aliases.share_credentials(owner, candidate.provider())
    }

    fn ask_gate(&self, index: usize, candidate: &ModelRef, profiles: &[ProfileId]) -> Gate {
        let usages: Vec<&ProfileUsage> = profiles.iter().map(|id| self.snapshot.usage(id)).collect();
        let provider = candidate.provider();
        let endpoint = self.policy.endpoints.get(provider).and_then(|key| self.snapshot.endpoints.get(key));
        let facts = GateFacts {
            position: if index == 0 { Position::Primary } else { Position::Fallback },
            alone: self.request.chain.len() == 1,
            model: candidate.model(),
            profiles: &usages,
            endpoint,
            last_probe_at: self.snapshot.probes.get(provider).map(|probe| probe.last_probe_at),
            sibling_before: self.request.chain[..index].iter().any(|earlier| earlier.provider() == provider),
            slot: if self.used_slots.contains(provider) { Slot::Used } else { Slot::Free },
        };
        gate(&facts, self.now)
    }

    /// The candidate's endpoint, if it has a window that an answer disproves.
    fn resting_endpoint(&self, index: usize) -> Option<EndpointKey> {
        let endpoint = self.policy.endpoints.get(self.request.chain[index].provider())?;
        self.snapshot.endpoints.contains_key(endpoint).then(|| endpoint.clone())
    }

    fn is_usable(&self, id: &ProfileId, candidate: &ModelRef) -> bool {
        self.snapshot.usage(id).is_usable(Some(candidate.model()), self.now)
    }

    fn end_probe(&self, index: usize) -> Step {
        let provider = self.request.chain[index].provider().clone();
        Step::Commit(UsageChange::ProbeEnd { provider, holder: self.holder.clone() })
    }

    /// Keeps one record per candidate: a last resort replaces its skip (G3).
    fn put(&mut self, index: usize, record: AttemptRecord) {
        match self.attempts.iter_mut().find(|(at, _)| *at == index) {
            Some((_, known)) => *known = record,
            None => self.attempts.push((index, record)),
        }
    }
}

impl Current {
    fn new(index: usize, profiles: Vec<ProfileId>, locked: Lock, now: Timestamp) -> Self {
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
            started_at: now,
            failures: Vec::new(),
        }
    }

    fn is_last_resort(&self) -> bool {
        self.probe.as_ref().is_some_and(|probe| probe.last_resort)
    }

    /// The last failure: its reason, whether the route stays the same with another credential, and its stated end.
    fn failing(&self) -> Option<(Reason, bool, Option<Timestamp>)> {
        let last = self.failures.last()?;
        let hint = last.verdict.hint.as_ref().filter(|hint| hint.credible).map(|hint| hint.at);
        Some((last.verdict.reason, is_silent_route(&last.failure, &last.verdict), hint))
    }

    pub(super) fn last_failure(&self) -> Option<&FailedAttempt> {
        self.failures.last()
    }

    pub(super) fn profile(&self) -> Option<&ProfileId> {
        self.profiles.get(self.cursor)
    }
}

/// R1: nothing came back before our own deadline, or nothing reached the provider.
fn is_silent_route(failure: &Failure, verdict: &Verdict) -> bool {
    verdict.scope == Scope::Endpoint
        || matches!(failure.transport, Some(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us)))
}

/// R-9.5a: the count goes up first; a cap holds only while another candidate remains.
fn count(rotations: &mut u32, cap: u32, capped: bool) -> bool {
    *rotations = rotations.saturating_add(1);
    !capped || *rotations <= cap
}

pub(super) fn failed_attempt(candidate: &ModelRef, failure: Failure, verdict: Verdict, auth_mode: Option<&'static str>) -> FailedAttempt {
    let text = describe(&failure);
    let fields = ErrorFields::of_failure(&failure, &text);
    let record = AttemptRecord {
        candidate: candidate.clone(),
        error: redact(&text),
        reason: Some(verdict.reason),
        rule: Some(verdict.rule.clone()),
        status: failure.status.or(verdict.reason.default_status()),
        code: failure.code.clone(),
        auth_mode: auth_mode.filter(|mode| matches!(*mode, "oauth" | "token")),
        outcome: CandidateOutcome::Failed,
        earlier: Vec::new(),
        fields,
    };
    FailedAttempt { failure, verdict, record }
}

impl ProfileFailure {
    fn of(attempt: &FailedAttempt) -> Self {
        Self { reason: attempt.verdict.reason, status: attempt.record.status, error: attempt.record.error.clone() }
    }
}

/// R-9.1a: a pin that cannot be used is a failure of the candidate, not a reason to use another login.
fn missing_pin(candidate: &ModelRef, profile: &ProfileId) -> FailedAttempt {
    let message = format!("Auth profile \"{profile}\" is not configured for {}.", candidate.provider());
    let failure = Failure { provider: Some(candidate.provider().clone()), message: Some(message), ..Failure::default() };
    failed_attempt(candidate, failure, unproven(PIN_MISSING, Reason::Auth), None)
}

fn unproven(rule: RuleId, reason: Reason) -> Verdict {
    Verdict { reason, certainty: Certainty::Default, owner: Owner::Us, scope: Scope::None, hint: None, rule, evidence: None }
}
