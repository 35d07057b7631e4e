//! Finds changes that only record a use of a profile, and so can wait for the next write (D11).

use jiff::Timestamp;
use openclaw_ids::ProfileId;

use super::change::{SHIPPED_ALIASES, whole_millisecond};
use crate::{AuthSnapshot, UsageChange};

impl AuthSnapshot {
    /// The profile of a change that only records its use: a selection (D11), or a success that has nothing to clear
    /// (D10) and finds no later use.
    pub(crate) fn mere_use<'c>(&self, change: &'c UsageChange, now: Timestamp) -> Option<&'c ProfileId> {
        match change {
            UsageChange::Used { profile } => Some(profile),
            UsageChange::Success { profile, .. } => {
                let usage = self.usage(profile);
                let clean = usage.windows.is_empty() && usage.failure_counts.is_empty();
                let latest = usage.last_used <= Some(whole_millisecond(now));
                (clean && latest && self.is_last_good(profile)).then_some(profile)
            }
            UsageChange::Clear { .. }
            | UsageChange::ClearLane { .. }
            | UsageChange::EndpointFailure { .. }
            | UsageChange::EndpointSuccess { .. }
            | UsageChange::StatedEnd { .. }
            | UsageChange::Failure { .. }
            | UsageChange::ProbeEnd { .. }
            | UsageChange::ProbeRenew { .. }
            | UsageChange::ProbeStart { .. }
            | UsageChange::CoolDown { .. } => None,
        }
    }

    /// Whether a use at `now` is recorded already.
    pub(crate) fn knows_use(&self, profile: &ProfileId, now: Timestamp) -> bool {
        self.usage(profile).last_used >= Some(whole_millisecond(now))
    }

    /// Whether the profile is the last good one of its provider; an ambient one never becomes that.
    fn is_last_good(&self, profile: &ProfileId) -> bool {
        self.profiles.get(profile).is_none_or(|credential| {
            let provider = SHIPPED_ALIASES.auth_id(credential.provider());
            self.last_good.get(&provider) == Some(profile)
        })
    }
}
