//! A failed attempt: mark it, then another credential, a short wait, the next candidate or the end (R1 to R3, A1).

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::UsageChange;
use openclaw_classify::{Failure, Reason, Scope, Verdict};
use openclaw_ids::ProfileId;
use openclaw_session::Progress;

use super::candidate_state::{CandidateState, Lock};
use super::failed_attempt::{failed_attempt, login_mode};
use super::{Machine, NextAction, Outcome, Step};
use crate::machine::failure_event::failure_event;
use crate::machine::policy::{Advance, Rotation, advance, consumes_slot, is_auth, rotation};
use crate::record::report::{FailedAttempt, RunReport};
use crate::record::rotation::RotationKind;
use crate::record::summary::{AttemptRecord, CandidateOutcome};
use crate::request::InlineWait;

/// Where the rotation inside a candidate leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A cap is reached while another candidate remains.
    Capped,
    /// No other credential may be tried.
    Exhausted,
    /// The credential at this place.
    To(usize),
}

impl Machine {
    pub(super) fn on_failed(&mut self, mut failure: Failure, progress: Progress) {
        if failure.provider.is_none() {
            // Some rules hold for one provider only, and it is known who was asked.
            let asked = self
                .current
                .as_ref()
                .map(|current| &self.request.chain[current.index]);
            failure.provider = asked.map(|candidate| candidate.provider().clone());
        }
        let verdict = self.judged(&failure);
        self.fail(failure, verdict, progress);
        self.rejected.was_last = false;
    }

    /// Marks a failure at once (R3), then goes on or stops.
    pub(super) fn fail(&mut self, failure: Failure, verdict: Verdict, progress: Progress) {
        let Some(current) = &self.current else { return };
        let index = current.index;
        let auth_mode = current
            .profile()
            .and_then(|id| self.snapshot.credential(id))
            .and_then(login_mode);
        let attempt = failed_attempt(&self.request.chain[index], failure, verdict, auth_mode);
        self.fail_with(attempt, progress);
    }

    /// Marks a failure that was judged.
    pub(super) fn fail_with(&mut self, attempt: FailedAttempt, progress: Progress) {
        let Some(current) = &self.current else { return };
        let (index, profile) = (current.index, current.profile().cloned());
        let asked = self.request.chain[index].provider();
        if !self.attempted_providers.contains(asked) {
            self.attempted_providers.insert(asked.clone());
        }
        let mark = self.mark(index, profile, &attempt.verdict);
        self.pending.extend(mark);
        let next = advance(&attempt.verdict, &self.policy.settings);
        let next = self.after_overflow(attempt.verdict.reason, next);
        if let Some(current) = &mut self.current {
            current.failures.push(attempt);
        }
        self.then = match (next, progress) {
            (Advance::Abort, _) => NextAction::Proceed(Advance::Abort),
            // BL-92: what was seen or done cannot be seen or done again.
            (Advance::Next | Advance::Surface, Progress::Visible) => NextAction::Proceed(Advance::Surface),
            (Advance::Next | Advance::Surface, Progress::Clean) => NextAction::LookForSwitch(next),
        };
    }

    pub(super) fn proceed(&mut self, next: Advance) {
        match next {
            Advance::Abort => {
                // A last resort replaces its skip, and whom the caller cancelled did not fail (G3, R-1.3).
                let index = self.current.as_ref().map(|current| current.index);
                self.attempts.retain(|(at, _)| Some(*at) != index);
                self.stop(|_, report| Outcome::Aborted(report));
            }
            Advance::Next => self.rotate_or_leave(),
            Advance::Surface => {
                self.record_rotation(RotationKind::SurfaceError);
                self.surface();
            }
        }
    }

    /// A candidate that fails before any call, because its pinned credential does not exist.
    pub(super) fn fail_without_call(&mut self, attempt: FailedAttempt) {
        if let Some(current) = &mut self.current {
            current.failures.push(attempt);
        }
        self.leave();
    }

    /// What is written about a failure: at most one mark, before anything else happens (R3, BL-40).
    pub(super) fn mark(&self, index: usize, profile: Option<ProfileId>, verdict: &Verdict) -> Option<Step> {
        let candidate = &self.request.chain[index];
        let started_at = self.current.as_ref().map(|current| current.episode_at);
        if verdict.scope == Scope::Endpoint {
            if self.own_auth.contains(candidate.provider()) {
                return None;
            }
            let endpoint = self.endpoint_of(index, profile.as_ref())?.clone();
            return Some(Step::Commit(UsageChange::EndpointFailure {
                endpoint,
                started_at,
            }));
        }
        let event = failure_event(candidate, verdict, started_at)?;
        Some(Step::Commit(UsageChange::Failure {
            profile: profile?,
            event,
        }))
    }

    /// After the mark: another credential, a short wait, or the end of this candidate (R1, R2).
    pub(super) fn rotate_or_leave(&mut self) {
        let Some((reason, silent, wait)) = self.current.as_ref().and_then(CandidateState::failing) else {
            return self.leave();
        };
        if self.policy.settings.inline_wait_when == InlineWait::Always
            && let Some(wait) = self.inline_wait(reason, wait)
        {
            return self.wait_inline(wait);
        }
        let turn = self.next_credential(reason, silent);
        if let Turn::To(cursor) = turn {
            self.record_rotation(RotationKind::RotateProfile);
            if let Some(current) = &mut self.current {
                current.cursor = cursor;
                current.waited_inline = false;
            }
            self.back_off(reason);
            self.then = NextAction::Begin;
            return;
        }
        let nothing_else = self
            .current
            .as_ref()
            .is_some_and(|current| !self.has_next(current.index));
        if let Some(wait) = self.inline_wait(reason, wait).filter(|_| nothing_else) {
            return self.wait_inline(wait);
        }
        if nothing_else && self.waits_for_reset_of_current(reason) {
            return;
        }
        self.leave();
        if turn == Turn::Exhausted
            && matches!(self.then, NextAction::Enter(next) if next < self.request.chain.len())
        {
            self.back_off(reason);
        }
    }

    /// The next credential that may be tried, and the count it takes.
    fn next_credential(&mut self, reason: Reason, silent: bool) -> Turn {
        let cooldowns = &self.policy.auth.cooldowns;
        let (overload_cap, rate_limit_cap) = (
            cooldowns.overloaded_profile_rotations(),
            cooldowns.rate_limited_profile_rotations(),
        );
        let Some(mut current) = self.current.take() else {
            return Turn::Exhausted;
        };
        let capped = self.has_next(current.index);
        let turn = match rotation(reason) {
            _ if current.locked == Lock::Pinned || current.probe.is_some() => Turn::Exhausted,
            _ if current.failed_on_the_way() => self.credential_elsewhere(&current),
            _ if silent => Turn::Exhausted,
            Rotation::Never => Turn::Exhausted,
            Rotation::UpToOverloadCap if !count(&mut current.overload_rotations, overload_cap, capped) => {
                Turn::Capped
            }
            Rotation::UpToRateLimitCap
                if !count(&mut current.rate_limit_rotations, rate_limit_cap, capped) =>
            {
                Turn::Capped
            }
            Rotation::Unlimited | Rotation::UpToOverloadCap | Rotation::UpToRateLimitCap => {
                let candidate = &self.request.chain[current.index];
                let rest = current.profiles.iter().enumerate().skip(current.cursor + 1);
                let index = current.index;
                let mut usable =
                    rest.filter(|(_, id)| self.is_usable(id, candidate) && self.is_reachable(index, id));
                usable
                    .next()
                    .map_or(Turn::Exhausted, |(cursor, _)| Turn::To(cursor))
            }
        };
        self.current = Some(current);
        turn
    }

    /// After a fault of the way to an endpoint: a credential that is used at another one (D4).
    fn credential_elsewhere(&self, current: &CandidateState) -> Turn {
        let (index, candidate) = (current.index, &self.request.chain[current.index]);
        let failed = self.endpoint_of(index, current.profile());
        let rest = current.profiles.iter().enumerate().skip(current.cursor + 1);
        let mut elsewhere = rest.filter(|(_, id)| {
            let endpoint = self.endpoint_of(index, Some(id));
            endpoint != failed && self.is_usable(id, candidate) && self.is_reachable(index, id)
        });
        elsewhere
            .next()
            .map_or(Turn::Exhausted, |(cursor, _)| Turn::To(cursor))
    }

    /// R2: how long the provider asks to wait, if that is short and was not waited out before.
    fn inline_wait(&self, reason: Reason, until: Option<Timestamp>) -> Option<Duration> {
        let current = self.current.as_ref()?;
        let stays = current.failing().is_some_and(|(_, stays, _)| stays);
        if reason != Reason::RateLimit || stays || current.waited_inline || current.probe.is_some() {
            return None;
        }
        let wait = Duration::try_from(until?.duration_since(self.now)).ok()?;
        let short = wait <= self.policy.settings.inline_wait;
        // A wait that the run does not live to see the end of is none.
        (short && self.within_time(wait) == wait).then_some(wait)
    }

    fn wait_inline(&mut self, wait: Duration) {
        self.record_rotation(RotationKind::InlineWait);
        self.pending.push_back(Step::Sleep(wait));
        if let Some(current) = &mut self.current {
            current.waited_inline = true;
            // However short the attempt was, it started before its failure was marked (D2).
            let before = current.episode_at.saturating_sub(SignedDuration::from_millis(1));
            current.episode_at = before.unwrap_or(current.episode_at);
        }
        self.then = NextAction::Begin;
    }

    /// R-9.5d: a busy provider gets a pause before it or the next model is asked, unless a cap sends the run on.
    pub(super) fn back_off(&mut self, reason: Reason) {
        let pause = self.policy.auth.cooldowns.overloaded_backoff();
        if reason == Reason::Overloaded && !pause.is_zero() {
            self.pending.push_back(Step::Sleep(self.within_time(pause)));
        }
    }

    /// The candidate is done with: record it, undo its selection, go on.
    pub(super) fn leave(&mut self) {
        let ends = |current: &CandidateState| current.is_last_resort() || !self.has_next(current.index);
        let kind = if self.current.as_ref().is_some_and(ends) {
            RotationKind::SurfaceError
        } else {
            RotationKind::FallbackModel
        };
        self.record_rotation(kind);
        let Some(mut current) = self.current.take() else {
            return;
        };
        let index = current.index;
        self.undo(&mut current);
        let Some(last) = current.take_last() else {
            self.then = NextAction::Enter(index + 1);
            return;
        };
        if let Some(probe) = &current.probe
            && probe.takes_slot
            && consumes_slot(last.verdict.reason)
        {
            self.used_slots
                .insert(self.request.chain[index].provider().clone());
        }
        self.note_auth_failure(index, &last);
        self.record_failure(index, &last.record, current.profile());
        self.put(index, last.record.clone());
        self.last_failed = Some(last);
        self.then = if current.is_last_resort() {
            NextAction::EndOfChain
        } else {
            NextAction::Enter(index + 1)
        };
    }

    /// Takes back what was done for the candidate: its probe's lease and the choice in the session.
    pub(super) fn undo(&mut self, current: &mut CandidateState) {
        if current.probe.is_some() {
            self.pending.push_back(self.end_probe(current.index));
        }
        if let Some(rollback) = current.rollback.take() {
            self.pending.push_back(Step::RollBack(rollback));
        }
    }

    /// only a real refusal of a fallback in a session counts.
    fn note_auth_failure(&mut self, index: usize, last: &FailedAttempt) {
        let reason = last.verdict.reason;
        let asked = last.record.outcome == CandidateOutcome::Failed && !last.record.is_not_renewed();
        if index > 0 && asked && is_auth(reason) && self.request.session.is_some() {
            let candidate = self.request.chain[index].clone();
            self.pending.push_back(Step::NoteAuthFailure(candidate, reason));
        }
    }

    /// Ends the run with the failure at hand, which every model would repeat: it is on record all the same (BL-81).
    fn surface(&mut self) {
        self.surfaced = true;
        let record = self
            .current
            .as_ref()
            .and_then(|current| Some((current.index, current.record()?, current.profile().cloned())));
        if let Some((index, record, failing)) = record {
            self.record_failure(index, &record, failing.as_ref());
            self.put(index, record);
        }
        self.stop(|attempt, report| Outcome::Surfaced(Box::new(attempt), report));
    }

    /// Ends the run with the failure at hand.
    pub(super) fn stop(&mut self, outcome: impl FnOnce(FailedAttempt, RunReport) -> Outcome) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        self.undo(&mut current);
        let Some(last) = current.take_last() else {
            return;
        };
        let report = self.report();
        self.then = NextAction::Finish(Box::new(outcome(last, report)));
    }

    /// Keeps one record per candidate: a last resort replaces its skip (G3).
    pub(super) fn put(&mut self, index: usize, record: AttemptRecord) {
        match self.attempts.iter_mut().find(|(at, _)| *at == index) {
            Some((_, known)) => *known = record,
            None => self.attempts.push((index, record)),
        }
    }
}

/// R-9.5a: the count goes up first; a cap holds only while another candidate remains.
fn count(rotations: &mut u32, cap: u32, capped: bool) -> bool {
    *rotations = rotations.saturating_add(1);
    !capped || *rotations <= cap
}
