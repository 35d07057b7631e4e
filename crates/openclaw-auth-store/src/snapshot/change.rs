//! Changes of usage state, and the pure fold that applies them in every engine.

use std::sync::LazyLock;

use jiff::Timestamp;
use openclaw_cooldown::{
    CooldownConfig, FailureEvent, Lane, ProfileUsage, SuccessEvent, adopt_secret, apply_stated_end, clear,
    clear_lane, cool_down_until, record_endpoint_failure, record_failure, record_success,
};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;

use crate::{AuthSnapshot, Credential, EndpointKey, Oauth, StoreError};

/// One event that concerns usage state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageChange {
    /// An operator or a new login clears everything.
    Clear {
        /// The profile.
        profile: ProfileId,
    },
    /// An operator clears one lane.
    ClearLane {
        /// The profile.
        profile: ProfileId,
        /// The lane.
        lane: Lane,
    },
    /// An endpoint could not be reached (D4).
    EndpointFailure {
        /// The endpoint.
        endpoint: EndpointKey,
        /// When the attempt started (D2).
        started_at: Option<Timestamp>,
    },
    /// An endpoint answered.
    EndpointSuccess {
        /// The endpoint.
        endpoint: EndpointKey,
    },
    /// A usage check found when a failure of a login ends (cooldown.md 8.3); ignored when the profile holds another
    /// login by now.
    StatedEnd {
        /// The profile.
        profile: ProfileId,
        /// The login that was checked.
        login: Box<Oauth>,
        /// The failure, with the end that was found.
        event: FailureEvent,
    },
    /// An attempt failed in a way that concerns its profile.
    Failure {
        /// The profile.
        profile: ProfileId,
        /// What happened.
        event: FailureEvent,
    },
    /// A probe has ended, successfully or not (G4).
    ProbeEnd {
        /// The probed provider.
        provider: ProviderId,
        /// The holder of the lease.
        holder: String,
    },
    /// A probe is still in flight (G4).
    ProbeRenew {
        /// The probed provider.
        provider: ProviderId,
        /// The holder of the lease.
        holder: String,
    },
    /// A probe is about to start (G4).
    ProbeStart {
        /// The provider to probe.
        provider: ProviderId,
        /// The holder of the lease; unique per run.
        holder: String,
    },
    /// An operator lets a profile cool down, or ends such a cooldown with a time in the past.
    CoolDown {
        /// The profile.
        profile: ProfileId,
        /// The first instant at which it may be used again.
        until: Timestamp,
    },
    /// An attempt succeeded.
    Success {
        /// The profile.
        profile: ProfileId,
        /// What happened.
        event: SuccessEvent,
    },
    /// A profile was selected for an attempt (D11): in memory at once, in the file with the next change or within a
    /// second.
    Used {
        /// The profile.
        profile: ProfileId,
    },
}

/// The outcome of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeOutcome {
    /// It took effect.
    Done,
    /// Another holder has the lease, or a probe started within the last 30 s: the caller must not probe or refresh
    /// now.
    HeldElsewhere,
    /// There was nothing to change.
    Unchanged,
}

/// The aliases under which `last_good` is kept.
pub(crate) static SHIPPED_ALIASES: LazyLock<AuthAliases> = LazyLock::new(AuthAliases::default);

impl UsageChange {
    /// The profile that must exist for this change.
    pub fn profile(&self) -> Option<&ProfileId> {
        match self {
            Self::Clear { profile }
            | Self::ClearLane { profile, .. }
            | Self::StatedEnd { profile, .. }
            | Self::Failure { profile, .. }
            | Self::CoolDown { profile, .. }
            | Self::Success { profile, .. }
            | Self::Used { profile } => Some(profile),
            Self::EndpointFailure { .. }
            | Self::EndpointSuccess { .. }
            | Self::ProbeEnd { .. }
            | Self::ProbeRenew { .. }
            | Self::ProbeStart { .. } => None,
        }
    }
}

impl AuthSnapshot {
    /// Folds one change into the snapshot.
    ///
    /// A change of a profile that does not exist changes nothing; see [`check`](Self::check).
    pub fn apply(&mut self, change: &UsageChange, now: Timestamp, config: &CooldownConfig) -> ChangeOutcome {
        let now = whole_millisecond(now);
        match change {
            UsageChange::Clear { profile } => self.edit(profile, clear),
            UsageChange::ClearLane { profile, lane } => self.edit(profile, |usage| clear_lane(usage, lane)),
            UsageChange::EndpointFailure { endpoint, started_at } => {
                let known = self.endpoints.get(endpoint).copied();
                let window = record_endpoint_failure(known, *started_at, now);
                self.endpoints.insert(endpoint.clone(), window);
                done(known != Some(window))
            }
            UsageChange::EndpointSuccess { endpoint } => done(self.endpoints.remove(endpoint).is_some()),
            UsageChange::StatedEnd {
                profile,
                login,
                event,
            } => {
                if self.holds(profile, login) {
                    self.edit(profile, |usage| apply_stated_end(usage, event, now, config))
                } else {
                    ChangeOutcome::Unchanged
                }
            }
            UsageChange::Failure { profile, event } => {
                self.edit(profile, |usage| record_failure(usage, event, now, config))
            }
            UsageChange::ProbeEnd { provider, holder } => self.end_probe(provider, holder),
            UsageChange::ProbeRenew { provider, holder } => self.renew_probe(provider, holder, now),
            UsageChange::ProbeStart { provider, holder } => self.start_probe(provider, holder, now),
            UsageChange::CoolDown { profile, until } => {
                self.edit(profile, |usage| cool_down_until(usage, *until, now))
            }
            UsageChange::Success { profile, event } => {
                let marked = self.edit(profile, |usage| record_success(usage, event, now));
                let good = self.note_good(profile);
                done(marked == ChangeOutcome::Done || good)
            }
            UsageChange::Used { profile } => self.edit(profile, |usage| ProfileUsage {
                last_used: usage.last_used.max(Some(now)),
                ..usage
            }),
        }
    }

    /// Whether the profile that a change concerns exists; a change that would be lost is an error (BL-73).
    ///
    /// # Errors
    /// [`StoreError::UnknownProfile`] when it does not.
    pub fn check(&self, change: &UsageChange) -> Result<(), StoreError> {
        match change.profile() {
            Some(profile) if self.credential(profile).is_none() => Err(StoreError::UnknownProfile {
                profile: profile.clone(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    fn edit(
        &mut self,
        profile: &ProfileId,
        fold: impl FnOnce(ProfileUsage) -> ProfileUsage,
    ) -> ChangeOutcome {
        if self.credential(profile).is_none() {
            return ChangeOutcome::Unchanged;
        }
        let fingerprint = self.fingerprint(profile);
        // Recording the fingerprint alone does not count as a change.
        let old = adopt_secret(self.usage(profile).clone(), fingerprint.as_deref());
        let known = self.usage(profile);
        let (new, changed) = if old == *known {
            let new = fold(old);
            let changed = new != *known;
            (new, changed)
        } else {
            let new = fold(old.clone());
            let changed = new != old;
            (new, changed)
        };
        self.usage.insert(profile.clone(), new);
        done(changed)
    }

    /// Whether the profile still holds the login that was read: the same account and access token.
    fn holds(&self, profile: &ProfileId, read: &Oauth) -> bool {
        let Some(Credential::Oauth(stored)) = self.credential(profile) else {
            return false;
        };
        stored.provider == read.provider
            && stored.access == read.access
            && stored.account_id == read.account_id
    }

    /// Records a stored profile as the last good one of its provider.
    fn note_good(&mut self, profile: &ProfileId) -> bool {
        let Some(credential) = self.profiles.get(profile) else {
            return false;
        };
        let provider = SHIPPED_ALIASES.auth_id(credential.provider());
        self.last_good.insert(provider, profile.clone()).as_ref() != Some(profile)
    }
}

/// `now` as it will be read back, so that a snapshot equals its stored form.
pub(crate) fn whole_millisecond(now: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// `Done` when something changed.
pub(crate) fn done(changed: bool) -> ChangeOutcome {
    if changed {
        ChangeOutcome::Done
    } else {
        ChangeOutcome::Unchanged
    }
}

#[cfg(test)]
mod tests;
