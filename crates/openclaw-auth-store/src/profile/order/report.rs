//! Explains an order for status output (BL-48).

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;

use super::{OrderBase, OrderBasis, OrderQuery};
use crate::profile::eligibility::eligibility;
use crate::{AuthConfig, AuthSnapshot, Eligibility};

/// The order of a provider, the list it was made from, and the profiles that were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderReport {
    /// The list that counted.
    pub basis: OrderBasis,
    /// The profiles to try, best first; without a preferred one.
    pub order: Vec<ProfileId>,
    /// Profiles that were named or are stored for the provider, and are not tried.
    pub passed_over: Vec<ExcludedProfile>,
}

/// A profile that is not tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludedProfile {
    /// The profile.
    pub profile: ProfileId,
    /// The reason.
    pub why: ExclusionReason,
}

/// Why a profile is not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExclusionReason {
    /// It is named and cannot be used; [`Eligibility::ProfileMissing`] is an id to correct or remove.
    Ineligible(Eligibility),
    /// It could be used, and the list that counted does not name it.
    NotListed,
}

impl serde::Serialize for ExclusionReason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ExclusionReason {
    /// The reason code, as status output and probes show it (auth-store.md 11.2).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ineligible(eligibility) => eligibility.as_str(),
            Self::NotListed => "excluded_by_auth_order",
        }
    }
}

/// The order of `provider` with its explanation.
pub fn order_report(
    snapshot: &AuthSnapshot,
    config: &AuthConfig,
    aliases: &AuthAliases,
    provider: &ProviderId,
    now: Timestamp,
) -> OrderReport {
    let question = OrderQuery::new(snapshot, config, aliases, provider, now);
    let OrderBase { basis, named, .. } = question.base();
    let order = question.order();
    let mut passed_over: Vec<ExcludedProfile> = Vec::new();
    let stored = question.stored();
    let ambient = question.ambient(&stored);
    for id in named.into_iter().chain(stored).chain(ambient) {
        if order.contains(id) || passed_over.iter().any(|known| known.profile == *id) {
            continue;
        }
        let why = match eligibility(snapshot, config, aliases, provider, id, now) {
            Eligibility::Ok => ExclusionReason::NotListed,
            ineligible => ExclusionReason::Ineligible(ineligible),
        };
        passed_over.push(ExcludedProfile {
            profile: id.clone(),
            why,
        });
    }
    OrderReport {
        basis,
        order,
        passed_over,
    }
}
