//! Whether a candidate is attempted, probed or skipped (R-3, R-4 as decided).

use std::sync::LazyLock;

use openclaw_auth_store::{ChangeOutcome, Credential, UsageChange, eligibility, rotation_order};
use openclaw_classify::Reason;
use openclaw_cooldown::{Gate, GateFacts, Position, ProbeSlot, ProfileUsage, Skip, SkipKind, gate};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_session::{PinSource, ProfilePin};

use super::candidate_state::{CandidateState, Lease, Lock, Probing, SkippedCandidate};
use super::failed_attempt::{login_mode, missing_pin};
use super::limit::InFlight;
use super::{Machine, NextAction, Step};
use crate::record::error_fields::ErrorFields;
use crate::record::report::FailedAttempt;
use crate::record::summary::{AttemptRecord, CandidateOutcome, login_command};
use crate::request::ChainKind;

impl Machine {
    /// Decides whether candidate `index` is attempted, probed or skipped.
    pub(super) fn enter(&mut self, index: usize) {
        let candidate = self
            .request
            .chain
            .get(index)
            .filter(|_| !self.redirects.exclude(index));
        let Some(candidate) = candidate.cloned() else {
            self.then = NextAction::EndOfChain;
            return;
        };
        // Before anything is written for the candidate.
        if let Some(limit) = self.limit_reached() {
            return self.end_at(limit, InFlight::No);
        }
        if let Some(error) = self.too_small(&candidate) {
            self.pass_over(index, error, Reason::ContextOverflow, None);
            return;
        }
        if let Some((error, reason)) = self.incompatible(index) {
            self.pass_over(index, error, reason, None);
            return;
        }
        // the requested model is always asked.
        let refused = self.auth_skips.get(&candidate).filter(|_| index > 0);
        if let Some(marker) = refused.filter(|marker| marker.is_valid(self.now)) {
            let reason = marker.reason;
            self.pass_over(index, recently_refused(&candidate, reason), reason, None);
            return;
        }
        let (profiles, locked) = match self.credentials(&candidate) {
            Ok(found) => found,
            Err(missing) => {
                self.current = Some(CandidateState::new(index, Vec::new(), Lock::Pinned, self.now));
                self.fail_without_call(*missing);
                return;
            }
        };
        let gate = match self.kind {
            ChainKind::Image => Gate::Open,
            ChainKind::Text if self.own_auth.contains(candidate.provider()) => Gate::Open,
            ChainKind::Text => self.ask_gate(index, &candidate, &profiles),
        };
        match gate {
            Gate::Open => {
                let usable = |id: &ProfileId| self.is_usable(id, &candidate);
                let reachable = |id: &ProfileId| usable(id) && self.is_reachable(index, id);
                let cursor = profiles.iter().position(reachable);
                let cursor = cursor.or_else(|| profiles.iter().position(usable));
                let mut current = CandidateState::new(index, profiles, locked, self.now);
                current.cursor = cursor.unwrap_or(0);
                self.current = Some(current);
                self.prepare();
            }
            Gate::Probe(probe) => {
                let probing = Probing {
                    reason: probe.reason,
                    takes_slot: probe.takes_slot,
                    last_resort: false,
                    lease: Lease::Asked,
                };
                self.start_probe(index, profiles, locked, probing);
            }
            Gate::Skip(skip) => {
                if !self.waits_for_reset(index, skip.reason) {
                    self.skip(index, &profiles, &skip);
                }
            }
        }
    }

    /// Asks for the probe lease of a candidate that cools down; the attempt follows when it is granted (G4).
    pub(super) fn start_probe(
        &mut self,
        index: usize,
        profiles: Vec<ProfileId>,
        locked: Lock,
        probing: Probing,
    ) {
        let candidate = &self.request.chain[index];
        let provider = candidate.provider().clone();
        let back = |id: &ProfileId| {
            let block = self.snapshot.usage(id).block(Some(candidate.model()), self.now);
            block.map(|block| block.until)
        };
        let reachable = |id: &ProfileId| {
            let endpoint = self.endpoint_of(index, Some(id));
            let window = endpoint.and_then(|key| self.snapshot.endpoints.get(key));
            let rest = window.filter(|window| window.is_active(self.now));
            rest.map(|window| window.until)
        };
        // The order knows windows of any model; what is back first for this one is the best to find out with.
        let first = (0..profiles.len()).min_by_key(|at| (reachable(&profiles[*at]), back(&profiles[*at])));
        let mut current = CandidateState::new(index, profiles, locked, self.now);
        current.cursor = first.unwrap_or(0);
        current.probe = Some(probing);
        self.current = Some(current);
        self.pending.push_back(Step::Commit(UsageChange::ProbeStart {
            provider,
            holder: self.holder.clone(),
        }));
        self.prepare();
    }

    /// The last resort of G3: one attempt at a candidate that was skipped.
    pub(super) fn enter_last_resort(&mut self, index: usize) {
        if let Some(limit) = self.limit_reached() {
            return self.end_at(limit, InFlight::No);
        }
        let candidate = self.request.chain[index].clone();
        let Ok((profiles, locked)) = self.credentials(&candidate) else {
            self.then = NextAction::EndOfChain;
            return;
        };
        let reason = self
            .attempts
            .iter()
            .find(|(at, _)| *at == index)
            .and_then(|(_, record)| record.reason);
        let probing = Probing {
            reason: reason.unwrap_or(Reason::Unknown),
            takes_slot: true,
            last_resort: true,
            lease: Lease::Asked,
        };
        self.start_probe(index, profiles, locked, probing);
    }

    /// Takes the answer to a lease request.
    pub(super) fn on_applied(&mut self, applied: ChangeOutcome) {
        let Some(CandidateState {
            index,
            probe: Some(probe),
            profiles,
            ..
        }) = &mut self.current
        else {
            return;
        };
        if probe.lease == Lease::Held {
            return;
        }
        let index = *index;
        match applied {
            ChangeOutcome::Done | ChangeOutcome::Unchanged => {
                probe.lease = Lease::Held;
                let (resting, probing) = (profiles.clone(), probe.clone());
                // The time may be over by now; then nothing is probed.
                if self.limit_reached().is_none() {
                    self.record_probe(index, &probing, &resting);
                }
            }
            ChangeOutcome::HeldElsewhere => self.refuse_probe(),
        }
    }

    /// A change was not written. Without a written lease other processes may probe as well (G4).
    pub(super) fn on_unwritten(&mut self) {
        let asked = self.current.as_ref().and_then(|current| current.probe.as_ref());
        if asked.is_some_and(|probe| probe.lease == Lease::Asked) {
            self.refuse_probe();
        }
    }

    /// The probe that was due is not made.
    fn refuse_probe(&mut self) {
        let Some(CandidateState {
            index,
            probe: Some(probe),
            profiles,
            ..
        }) = self.current.take()
        else {
            return;
        };
        self.pending.clear();
        if probe.last_resort {
            self.then = NextAction::EndOfChain;
            return;
        }
        let candidate = self.request.chain[index].clone();
        if matches!(self.ask_gate(index, &candidate, &profiles), Gate::Open) {
            // Another process probed meanwhile and found it free: what is usable is not passed over (BL-51).
            self.then = NextAction::Enter(index);
            return;
        }
        let refusal = Skip {
            reason: probe.reason,
            kind: SkipKind::Cooldown,
            soonest: None,
            last_resort: false,
        };
        self.skip(index, &profiles, &refusal);
    }

    pub(super) fn skip(&mut self, index: usize, profiles: &[ProfileId], skip: &Skip) {
        let provider = self.request.chain[index].provider();
        let error = match skip.kind {
            SkipKind::Auth => format!(
                "Provider {provider} has {} issue (skipping all models)",
                skip.reason
            ),
            SkipKind::Cooldown => format!("Provider {provider} is in cooldown (suspending lanes)"),
            SkipKind::SlotUsed => {
                format!("Provider {provider} is in cooldown (probe already attempted this run)")
            }
        };
        if skip.last_resort {
            self.skipped.push(SkippedCandidate {
                index,
                soonest: skip.soonest,
            });
        }
        self.pass_over(index, error, skip.reason, Some(profiles));
    }

    /// Records that candidate `index` is not asked, and goes on. `profiles` are the ones that cool down.
    fn pass_over(&mut self, index: usize, error: String, reason: Reason, profiles: Option<&[ProfileId]>) {
        let record = AttemptRecord {
            candidate: self.request.chain[index].clone(),
            fields: ErrorFields::of_text(&error),
            error,
            reason: Some(reason),
            rule: None,
            status: None,
            code: None,
            auth_mode: profiles.and_then(|profiles| self.resting_auth_mode(reason, profiles)),
            outcome: CandidateOutcome::Skipped,
            earlier: Vec::new(),
        };
        self.record_skip(index, &record, profiles);
        self.put(index, record);
        self.then = NextAction::Enter(index + 1);
    }

    /// a billing skip names the kind of login that has no credit.
    pub(super) fn resting_auth_mode(&self, reason: Reason, profiles: &[ProfileId]) -> Option<&'static str> {
        if reason != Reason::Billing {
            return None;
        }
        let mut credentials = profiles.iter().filter_map(|id| self.snapshot.credential(id));
        credentials.find_map(login_mode)
    }

    /// The candidate's set: the user's pin alone, or the provider's rotation order.
    pub(super) fn credentials(
        &self,
        candidate: &ModelRef,
    ) -> Result<(Vec<ProfileId>, Lock), Box<FailedAttempt>> {
        if self.own_auth.contains(candidate.provider()) {
            return Ok((Vec::new(), Lock::Free));
        }
        let (snapshot, policy) = (&*self.snapshot, &*self.policy);
        let preferred = match &self.request.pin {
            Some(ProfilePin {
                profile,
                source: PinSource::User,
            }) if self.pin_concerns(profile, candidate) => {
                let fits = eligibility(
                    snapshot,
                    &policy.auth,
                    &policy.aliases,
                    candidate.provider(),
                    profile,
                    self.now,
                );
                return if fits.is_ok() && !self.set_aside.contains(profile) {
                    Ok((vec![profile.clone()], Lock::Pinned))
                } else {
                    Err(Box::new(missing_pin(candidate, profile)))
                };
            }
            Some(ProfilePin {
                profile,
                source: PinSource::Auto,
            }) => Some(profile),
            Some(ProfilePin {
                source: PinSource::User,
                ..
            })
            | None => None,
        };
        let serves = |id: &&ProfileId| snapshot.usage(id).is_usable(Some(candidate.model()), self.now);
        let pinned = preferred.filter(|id| self.pin_concerns(id, candidate));
        let sticky = self
            .request
            .session
            .as_ref()
            .filter(|_| self.kind == ChainKind::Text)
            .and_then(|session| session.sticky.get(candidate.provider()));
        // F-2: the pin while it can be used, else the profile that served the session last for this provider.
        let preferred = pinned
            .filter(serves)
            .or_else(|| sticky.filter(serves))
            .or(preferred);
        let mut order = rotation_order(
            snapshot,
            &policy.auth,
            &policy.aliases,
            candidate.provider(),
            preferred,
            self.now,
        );
        order.retain(|id| !self.set_aside.contains(id));
        Ok((order, Lock::Free))
    }

    /// S-5.5e: a pin holds for the candidates whose provider shares credentials with the requested one.
    pub(super) fn pin_concerns(&self, profile: &ProfileId, candidate: &ModelRef) -> bool {
        let owner = self.snapshot.credential(profile).map(Credential::provider);
        let owner = owner.unwrap_or_else(|| self.request.chain[0].provider());
        self.policy.aliases.share_credentials(owner, candidate.provider())
    }

    pub(super) fn ask_gate(&mut self, index: usize, candidate: &ModelRef, profiles: &[ProfileId]) -> Gate {
        let has_earlier_sibling = self.siblings.before(&self.request.chain, index);
        let provider = candidate.provider();
        let reach = self
            .policy
            .endpoints
            .reach(&self.snapshot, provider, profiles, self.now);
        let profiles = &*reach.profiles;
        // Hardly anybody has more credentials for one provider; these need no list of their own.
        let mut few = [&*UNUSED; 8];
        let many: Vec<&ProfileUsage>;
        let usages = if let Some(few) = few.get_mut(..profiles.len()) {
            for (usage, id) in few.iter_mut().zip(profiles) {
                *usage = self.snapshot.usage(id);
            }
            &*few
        } else {
            many = profiles.iter().map(|id| self.snapshot.usage(id)).collect();
            many.as_slice()
        };
        let facts = GateFacts {
            position: if index == 0 {
                Position::Primary
            } else {
                Position::Fallback
            },
            is_only_candidate: self.request.chain.len() == 1,
            model: candidate.model(),
            profiles: usages,
            endpoint: reach.endpoint,
            last_probe_at: self
                .snapshot
                .probes
                .get(provider)
                .map(|probe| probe.last_probe_at),
            has_earlier_sibling,
            slot: if self.used_slots.contains(provider) {
                ProbeSlot::Used
            } else {
                ProbeSlot::Free
            },
        };
        gate(&facts, self.now)
    }

    /// Whether the endpoint that a credential is used at does not cool down.
    pub(super) fn is_reachable(&self, index: usize, id: &ProfileId) -> bool {
        if self.snapshot.endpoints.is_empty() {
            return true;
        }
        let window = self
            .endpoint_of(index, Some(id))
            .and_then(|key| self.snapshot.endpoints.get(key));
        window.is_none_or(|window| !window.is_active(self.now))
    }

    pub(super) fn is_usable(&self, id: &ProfileId, candidate: &ModelRef) -> bool {
        self.snapshot
            .usage(id)
            .is_usable(Some(candidate.model()), self.now)
    }
}

/// Stands where no credential does.
static UNUSED: LazyLock<ProfileUsage> = LazyLock::new(ProfileUsage::default);

/// the text of a skip by the cache.
fn recently_refused(candidate: &ModelRef, reason: Reason) -> String {
    let hint = login_command(candidate.provider()).map_or_else(
        || "re-authenticate that provider".to_owned(),
        |command| format!("run `{command}` to re-authenticate"),
    );
    format!("Skipping {candidate}: recent {reason} failure in this session ({hint})")
}
