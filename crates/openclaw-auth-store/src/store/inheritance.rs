//! The view of an agent that inherits the main agent's profiles, and the owner of each profile (auth-store.md 7, D14).

mod drift;
mod engine;

use indexmap::IndexMap;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{AuthSnapshot, Credential, Credentials, UsageMap};

pub use engine::InheritingAuthStore;

/// The owner of a profile, in whose store its state is written (I9, D14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfileOwner {
    /// The agent itself, also for profiles that are stored nowhere.
    Agent,
    /// The main agent.
    Main,
}

/// The owner of profile `id`: the main agent where only that one has it, or where both hold the same login and the
/// main agent's is at least as fresh (I9).
pub fn profile_owner(main: &AuthSnapshot, agent: &AuthSnapshot, id: &ProfileId) -> ProfileOwner {
    match (main.profiles.get(id), agent.profiles.get(id)) {
        (Some(_), None) => ProfileOwner::Main,
        (Some(inherited), Some(own)) if outlives(inherited, own) => ProfileOwner::Main,
        (_, Some(_)) | (None, None) => ProfileOwner::Agent,
    }
}

/// The snapshot that the agent works with: its own profiles first, then the main agent's (I1 to I5); nothing is
/// copied.
///
/// The usage of each profile is its owner's. Ambient profiles, endpoints and probes are the agent's own.
pub fn inherit(main: &AuthSnapshot, agent: &AuthSnapshot) -> AuthSnapshot {
    seen(main, agent, profiles(main, agent))
}

/// The same, for profiles that were merged already.
fn seen(main: &AuthSnapshot, agent: &AuthSnapshot, profiles: Credentials) -> AuthSnapshot {
    let mut seen = agent.clone();
    seen.profiles = profiles;
    seen.usage = usage(main, agent);
    for (id, fingerprint) in &main.resolved {
        if profile_owner(main, agent, id) == ProfileOwner::Main {
            seen.resolved.insert(id.clone(), fingerprint.clone());
        }
    }
    seen.order = orders(main, agent);
    for (provider, id) in &main.last_good {
        seen.last_good
            .entry(provider.clone())
            .or_insert_with(|| id.clone());
    }
    let profiles = &seen.profiles;
    seen.last_good.retain(|_, id| profiles.contains_key(id));
    seen
}

/// The main agent's usage, which is cheap to copy, with the agent's own entries.
fn usage(main: &AuthSnapshot, agent: &AuthSnapshot) -> UsageMap {
    if main.profiles.is_empty() {
        return agent.usage.clone();
    }
    let mut seen = main.usage.clone();
    let own = agent.profiles.keys().chain(agent.usage.keys());
    let unstored = agent.ambient.keys().chain(main.ambient.keys());
    for id in own.chain(unstored) {
        if profile_owner(main, agent, id) == ProfileOwner::Main {
            continue;
        }
        match agent.usage.get(id) {
            Some(usage) => seen.insert(id.clone(), usage.clone()),
            None => seen.remove(id),
        }
    }
    seen
}

fn profiles(main: &AuthSnapshot, agent: &AuthSnapshot) -> Credentials {
    if agent.profiles.is_empty() {
        return main.profiles.clone();
    }
    let mut profiles = agent.profiles.clone();
    for (id, credential) in &main.profiles {
        if !profiles.contains_key(id) {
            profiles.insert(id.clone(), credential.clone());
        }
    }
    profiles
}

/// The agent's own order of a provider counts alone; where it has profiles and no order, they come before the main
/// agent's order (I3).
fn orders(main: &AuthSnapshot, agent: &AuthSnapshot) -> IndexMap<ProviderId, Vec<ProfileId>> {
    let mut orders = agent.order.clone();
    for (provider, inherited) in &main.order {
        if orders.contains_key(provider) {
            continue;
        }
        let profiles = agent.profiles.iter();
        let own = profiles.filter(|(_, credential)| credential.provider() == provider);
        let mut ids: Vec<ProfileId> = own.map(|(id, _)| id.clone()).collect();
        for id in inherited {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        orders.insert(provider.clone(), ids);
    }
    orders
}

/// Whether `inherited` is the login `own` or a copy of it that is at least as fresh.
fn outlives(inherited: &Credential, own: &Credential) -> bool {
    let (Credential::Oauth(inherited), Credential::Oauth(own)) = (inherited, own) else {
        return false;
    };
    inherited == own || (own.may_become(inherited) && (own.end().is_none() || inherited.end() >= own.end()))
}

#[cfg(test)]
mod tests;
