//! The order in which a provider's profiles are tried (auth-store.md 12, X-4).

mod report;

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;

pub use report::{ExcludedProfile, ExclusionReason, OrderReport, order_report};

use crate::profile::eligibility::eligibility;
use crate::{AuthConfig, AuthSnapshot, Credential, HasProvider, ProfileMap};

/// The profiles to try for `provider`, best first.
///
/// An explicit order (the agent's own before the configuration's) is a priority list: profiles that cool down go to
/// the end, the soonest usable first, and the others keep their places. Without one the least recently used profile of
/// the best type comes first. Ambient profiles follow the stored ones unless an order says otherwise.
/// `preferred` comes first when it is in the list at all, even while it cools down.
///
/// A profile cools down when any of its windows is active, for whichever model (R11); whether it can serve a
/// particular model is decided by its windows when it is tried.
pub fn rotation_order(
    snapshot: &AuthSnapshot,
    config: &AuthConfig,
    aliases: &AuthAliases,
    provider: &ProviderId,
    preferred: Option<&ProfileId>,
    now: Timestamp,
) -> Vec<ProfileId> {
    let mut order = OrderQuery::new(snapshot, config, aliases, provider, now).order();
    if let Some(at) = preferred.and_then(|preferred| order.iter().position(|id| id == preferred)) {
        order[..=at].rotate_right(1);
    }
    order
}

/// The list that the order was made from (R5, R7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderBasis {
    /// The agent's own explicit order.
    AgentOrder,
    /// The explicit order of the configuration.
    ConfigOrder,
    /// The profiles that the configuration names.
    ConfiguredProfiles,
    /// All stored profiles of the provider, because nothing else names any that exist.
    StoredProfiles,
}

impl OrderBasis {
    /// Whether the list is an explicit priority list.
    pub fn is_explicit(self) -> bool {
        match self {
            Self::AgentOrder | Self::ConfigOrder => true,
            Self::ConfiguredProfiles | Self::StoredProfiles => false,
        }
    }
}

struct OrderQuery<'a> {
    snapshot: &'a AuthSnapshot,
    config: &'a AuthConfig,
    aliases: &'a AuthAliases,
    /// Every name of the provider's credentials.
    sharing: Vec<&'a ProviderId>,
    provider: &'a ProviderId,
    now: Timestamp,
}

/// The list that the order is made from.
struct OrderBase<'a> {
    basis: OrderBasis,
    /// Every id that was named, in order, before filtering.
    named: Vec<&'a ProfileId>,
    /// The eligible ids of it.
    eligible: Vec<&'a ProfileId>,
}

impl<'a> OrderQuery<'a> {
    fn new(
        snapshot: &'a AuthSnapshot,
        config: &'a AuthConfig,
        aliases: &'a AuthAliases,
        provider: &'a ProviderId,
        now: Timestamp,
    ) -> Self {
        Self {
            snapshot,
            config,
            aliases,
            sharing: aliases.sharing(provider).collect(),
            provider,
            now,
        }
    }

    fn order(&self) -> Vec<ProfileId> {
        let OrderBase { basis, eligible, .. } = self.base();
        let order = if basis.is_explicit() {
            self.by_priority(eligible)
        } else {
            let ambient = self.ambient(&eligible);
            let mut order = self.by_turn(eligible);
            order.extend(self.by_priority(ambient));
            order
        };
        order.into_iter().cloned().collect()
    }

    fn base(&self) -> OrderBase<'a> {
        let configured = self.configured();
        let are_configured = !configured.is_empty();
        let (basis, named) = match self.explicit() {
            Some((basis, ids)) => (basis, ids.iter().collect()),
            None if are_configured => (OrderBasis::ConfiguredProfiles, configured),
            None => (OrderBasis::StoredProfiles, self.stored()),
        };
        let eligible = self.eligible(&named);
        let none_exists = named.iter().all(|id| self.snapshot.credential(id).is_none());
        let may_repair = match basis {
            OrderBasis::AgentOrder => true,
            OrderBasis::ConfigOrder | OrderBasis::ConfiguredProfiles => are_configured,
            OrderBasis::StoredProfiles => false,
        };
        // An empty list means: use none of them (R5).
        if may_repair && !named.is_empty() && eligible.is_empty() && none_exists {
            return OrderBase {
                basis: OrderBasis::StoredProfiles,
                eligible: self.eligible(&self.stored()),
                named,
            };
        }
        OrderBase {
            basis,
            named,
            eligible,
        }
    }

    /// The explicit order (R2): the agent's before the configuration's, the shared provider name before the requested
    /// one.
    fn explicit(&self) -> Option<(OrderBasis, &'a [ProfileId])> {
        let shared = self.aliases.auth_id(self.provider);
        let (agent, config) = (&self.snapshot.order, &self.config.order);
        [
            (OrderBasis::AgentOrder, agent.get(&shared)),
            (OrderBasis::AgentOrder, agent.get(self.provider)),
            (OrderBasis::ConfigOrder, config.get(&shared)),
            (OrderBasis::ConfigOrder, config.get(self.provider)),
        ]
        .into_iter()
        .find_map(|(basis, ids)| Some((basis, ids?.as_slice())))
    }

    fn configured(&self) -> Vec<&'a ProfileId> {
        self.ids(&self.config.profiles)
    }

    fn stored(&self) -> Vec<&'a ProfileId> {
        self.ids(&self.snapshot.profiles)
    }

    fn ids<T: HasProvider>(&self, profiles: &'a ProfileMap<T>) -> Vec<&'a ProfileId> {
        let ours = profiles.of(&self.sharing).into_iter();
        ours.map(|(id, _)| id).collect()
    }

    /// Eligible profiles that are not stored and not listed already.
    fn ambient(&self, listed: &[&ProfileId]) -> Vec<&'a ProfileId> {
        let mut ids = self.eligible(&self.ids(&self.snapshot.ambient));
        ids.retain(|id| !listed.contains(id) && !self.snapshot.profiles.contains_key(*id));
        let needs_one = |id: &&ProfileId| !matches!(self.snapshot.credential(id), Some(Credential::Local(_)));
        // A provider with a key needs one: a call without it would only hide why the key was refused.
        if !ids.is_empty() && (!self.stored().is_empty() || ids.iter().any(needs_one)) {
            ids.retain(needs_one);
        }
        ids
    }

    /// The eligible ones, each once (R6, R8).
    fn eligible(&self, ids: &[&'a ProfileId]) -> Vec<&'a ProfileId> {
        let mut kept: Vec<&ProfileId> = Vec::with_capacity(ids.len());
        for id in ids {
            let asked = eligibility(
                self.snapshot,
                self.config,
                self.aliases,
                self.provider,
                id,
                self.now,
            );
            if asked.is_ok() && !kept.contains(id) {
                kept.push(id);
            }
        }
        kept
    }

    /// In the given order, with profiles that cool down at the end (R9).
    fn by_priority(&self, ids: Vec<&'a ProfileId>) -> Vec<&'a ProfileId> {
        let (resting, mut order): (Vec<_>, Vec<_>) =
            ids.into_iter().partition(|id| self.rests_until(id).is_some());
        order.extend(self.by_end(resting));
        order
    }

    /// By type, then least recently used, with profiles that cool down at the end (R10).
    fn by_turn(&self, ids: Vec<&'a ProfileId>) -> Vec<&'a ProfileId> {
        let (resting, mut order): (Vec<_>, Vec<_>) =
            ids.into_iter().partition(|id| self.rests_until(id).is_some());
        order.sort_by_key(|id| {
            (
                type_rank(self.snapshot.credential(id)),
                self.snapshot.usage(id).last_used,
            )
        });
        order.extend(self.by_end(resting));
        order
    }

    fn by_end(&self, mut resting: Vec<&'a ProfileId>) -> Vec<&'a ProfileId> {
        resting.sort_by_key(|id| self.rests_until(id));
        resting
    }

    fn rests_until(&self, id: &ProfileId) -> Option<Timestamp> {
        let block = self.snapshot.usage(id).block(None, self.now)?;
        Some(block.until)
    }
}

/// Logins first: they are paid for already.
fn type_rank(credential: Option<&Credential>) -> u8 {
    match credential {
        Some(Credential::Oauth(_)) => 0,
        Some(Credential::Token(_)) => 1,
        Some(Credential::ApiKey(_)) => 2,
        Some(Credential::Local(_)) | None => 3,
    }
}

#[cfg(test)]
mod tests;
