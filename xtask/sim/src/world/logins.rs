//! The simulated logins: the actual state of each, and people who log in anew.

pub(crate) mod refreshing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_auth_store::{Credential, MemoryAuthStore, ProfileStore, RenewedLogin, Secret};
use openclaw_ids::ProfileId;
use serde_json::json;

use crate::random::SeededRandom;
use crate::setup::profile_id;
use crate::time::{HOUR, MINUTE, at, span};
use crate::trace::LoginCounts;
use crate::world::World;

/// How long an access token lasts.
const LASTS: (i64, i64) = (10 * MINUTE, 3 * HOUR);

/// What is true of one login.
#[derive(Debug, Default)]
struct Login {
    /// The number of the newest tokens.
    generation: u64,
    /// When the access token of each number ends.
    ends: BTreeMap<u64, i64>,
    /// Refresh tokens that were answered.
    answered: BTreeSet<u64>,
    in_flight: usize,
}

/// All logins, by agent and profile.
#[derive(Default)]
pub(crate) struct Logins {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    of: BTreeMap<(usize, String), Login>,
    seen: BTreeMap<usize, LoginCounts>,
}

/// Whose tokens they are, as they are written: agent, profile, number.
struct TokenName {
    agent: usize,
    profile: String,
    generation: u64,
}

impl TokenName {
    fn of(secret: Option<&Secret>) -> Option<Self> {
        let mut parts = secret?.expose().splitn(4, '|').skip(1);
        Some(Self {
            agent: parts.next()?.parse().ok()?,
            generation: parts.next()?.parse().ok()?,
            profile: parts.next()?.to_owned(),
        })
    }

    fn secret(&self, kind: &str) -> Secret {
        Secret::new(format!(
            "{kind}|{}|{}|{}",
            self.agent, self.generation, self.profile
        ))
    }
}

/// The stored form of a login.
fn credential(named: &TokenName, ends: i64) -> Option<Credential> {
    let provider = named.profile.split(':').next()?;
    let entry = json!({
        "type": "oauth", "provider": provider, "expires": ends,
        "access": named.secret("access").expose(), "refresh": named.secret("refresh").expose(),
    });
    Credential::from_json(&entry).ok()
}

impl Logins {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A person logs in: new tokens, good from now on.
    pub(crate) fn log_in(&self, agent: usize, profile: &str, ends: i64) -> Option<Credential> {
        let mut state = self.state();
        let login = state.of.entry((agent, profile.to_owned())).or_default();
        login.generation += 1;
        login.ends.insert(login.generation, ends);
        let named = TokenName {
            agent,
            profile: profile.to_owned(),
            generation: login.generation,
        };
        credential(&named, ends)
    }

    /// What was seen of an agent's logins since the last time.
    pub(crate) fn take_seen(&self, agent: usize) -> LoginCounts {
        self.state().seen.remove(&agent).unwrap_or_default()
    }

    /// A call leaves with a login's token at `now`; whether the provider takes it.
    pub(crate) fn sent(&self, access: Option<&Secret>, now: i64) -> bool {
        let Some(named) = TokenName::of(access) else {
            return false;
        };
        let mut state = self.state();
        let known = state.of.get(&(named.agent, named.profile.clone()));
        let end = known.and_then(|login| login.ends.get(&named.generation).copied());
        let is_good = end.is_some_and(|end| now < end);
        let seen = state.seen.entry(named.agent).or_default();
        seen.calls += 1;
        seen.ended += usize::from(!is_good);
        is_good
    }

    fn begin(&self, named: &TokenName) -> bool {
        let mut state = self.state();
        let login = state.of.entry((named.agent, named.profile.clone())).or_default();
        login.in_flight += 1;
        let (others, is_spent) = (login.in_flight - 1, login.answered.contains(&named.generation));
        let seen = state.seen.entry(named.agent).or_default();
        seen.at_once += others;
        seen.resent += usize::from(is_spent);
        !is_spent
    }

    fn end(&self, named: &TokenName) {
        let mut state = self.state();
        if let Some(login) = state.of.get_mut(&(named.agent, named.profile.clone())) {
            login.in_flight = login.in_flight.saturating_sub(1);
        }
    }

    /// New tokens; none when a person logged in anew meanwhile.
    fn renew(&self, named: &TokenName, ends: i64) -> Option<RenewedLogin> {
        let mut state = self.state();
        let login = state.of.get_mut(&(named.agent, named.profile.clone()))?;
        if login.generation != named.generation {
            return None;
        }
        login.answered.insert(named.generation);
        login.generation += 1;
        login.ends.insert(login.generation, ends);
        let next = TokenName {
            generation: login.generation,
            profile: named.profile.clone(),
            agent: named.agent,
        };
        state.seen.entry(named.agent).or_default().renewed += 1;
        Some(RenewedLogin {
            access: Some(next.secret("access")),
            refresh: Some(next.secret("refresh")),
            ..RenewedLogin::default()
        })
    }
}

/// People log in anew every now and then, also where nothing is wrong.
pub(crate) async fn people(world: Arc<World>, stores: Vec<Arc<MemoryAuthStore>>) {
    let mut random = SeededRandom::of(world.setup.seed, 10_000);
    loop {
        tokio::time::sleep(span(random.spread(20 * MINUTE, 6 * HOUR))).await;
        let agent = random.below(stores.len());
        let with_logins: Vec<_> = world
            .setup
            .providers
            .iter()
            .filter(|provider| provider.logins > 0)
            .collect();
        if with_logins.is_empty() {
            continue;
        }
        let provider = *random.pick(&with_logins);
        let profile = profile_id(provider.name, random.below(provider.logins));
        let ends = world.now() + random.spread(LASTS.0, LASTS.1);
        let credential = world.logins.log_in(agent, &profile, ends);
        if let Some((credential, id)) = credential.zip(profile.parse::<ProfileId>().ok()) {
            drop(stores[agent].upsert(id, credential, at(world.now())).await);
        }
    }
}
