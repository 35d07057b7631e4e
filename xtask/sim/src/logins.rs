//! Logins: what is true of each, the endpoint that renews it, and how a caller gets a token that can be sent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthConfig, Credential, Demand, Expires, MemoryAuthStore, Oauth, ProfileStore, RefreshHost, Refresher,
    RenewedLogin, Secret, TokenEndpoint, TokenEndpointError, UsageStore,
};
use openclaw_ids::ProfileId;
use serde_json::json;

use crate::dice::Dice;
use crate::setup::{HOUR, MINUTE, SECOND};
use crate::trouble::Trouble;
use crate::world::World;

/// How long a call waits for a refresh, which goes on without it.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an access token lasts.
const LASTS: (i64, i64) = (10 * MINUTE, 3 * HOUR);

/// What was seen of the logins of an agent since somebody last looked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoginsSeen {
    /// Refreshes that were answered.
    pub(crate) renewed: usize,
    /// Refreshes of one login that were in flight at the same time.
    pub(crate) at_once: usize,
    /// Refresh tokens that were sent although they had been answered.
    pub(crate) resent: usize,
    /// Calls with a login's token.
    pub(crate) calls: usize,
    /// Calls with an access token that had ended.
    pub(crate) ended: usize,
}

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
    seen: BTreeMap<usize, LoginsSeen>,
}

/// Whose tokens they are, as they are written: agent, profile, number.
struct Named {
    agent: usize,
    profile: String,
    generation: u64,
}

impl Named {
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
fn credential(named: &Named, ends: i64) -> Option<Credential> {
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
        let named = Named {
            agent,
            profile: profile.to_owned(),
            generation: login.generation,
        };
        credential(&named, ends)
    }

    /// What was seen of an agent's logins since the last time.
    pub(crate) fn take_seen(&self, agent: usize) -> LoginsSeen {
        self.state().seen.remove(&agent).unwrap_or_default()
    }

    /// A call leaves with a login's token at `now`; whether the provider takes it.
    pub(crate) fn sent(&self, access: Option<&Secret>, now: i64) -> bool {
        let Some(named) = Named::of(access) else {
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

    fn begin(&self, named: &Named) -> bool {
        let mut state = self.state();
        let login = state.of.entry((named.agent, named.profile.clone())).or_default();
        login.in_flight += 1;
        let (others, is_spent) = (login.in_flight - 1, login.answered.contains(&named.generation));
        let seen = state.seen.entry(named.agent).or_default();
        seen.at_once += others;
        seen.resent += usize::from(is_spent);
        !is_spent
    }

    fn end(&self, named: &Named) {
        let mut state = self.state();
        if let Some(login) = state.of.get_mut(&(named.agent, named.profile.clone())) {
            login.in_flight = login.in_flight.saturating_sub(1);
        }
    }

    /// New tokens; none when somebody logged in anew meanwhile.
    fn renew(&self, named: &Named, ends: i64) -> Option<RenewedLogin> {
        let mut state = self.state();
        let login = state.of.get_mut(&(named.agent, named.profile.clone()))?;
        if login.generation != named.generation {
            return None;
        }
        login.answered.insert(named.generation);
        login.generation += 1;
        login.ends.insert(login.generation, ends);
        let next = Named {
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

/// Where the providers of a world renew logins; a process asks it by its own clock.
pub(crate) struct Endpoint {
    world: Arc<World>,
    ahead: i64,
    calls: AtomicU64,
}

/// Ends a refresh that is dropped, too.
struct InFlight<'a>(&'a Logins, Named);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.end(&self.1);
    }
}

impl TokenEndpoint for Endpoint {
    async fn refresh(&self, login: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        let refused = || TokenEndpointError::new("HTTP 400: invalid_grant");
        let Some(named) = Named::of(login.refresh.as_ref()) else {
            return Err(refused());
        };
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut dice = Dice::of(self.world.setup.seed ^ number, 8_000 + named.generation);
        let is_good = self.world.logins.begin(&named);
        let flight = InFlight(&self.world.logins, named);
        let named = &flight.1;
        tokio::time::sleep(millis(dice.spread(50, 40 * SECOND))).await;
        if !is_good {
            return Err(refused());
        }
        let key = named
            .profile
            .rsplit_once(":k")
            .and_then(|(_, key)| key.parse().ok());
        let provider = named.profile.split(':').next().unwrap_or_default();
        match self.world.trouble(provider, key) {
            Some(Trouble::BadLogin | Trouble::Revoked) => Err(refused()),
            Some(Trouble::Broken | Trouble::Down) => Err(TokenEndpointError::new("HTTP 503")),
            Some(Trouble::Silent) => {
                tokio::time::sleep(Duration::from_mins(5)).await;
                Err(TokenEndpointError::new("no answer"))
            }
            Some(_) | None => {
                let ends = self.world.now() + dice.spread(LASTS.0, LASTS.1);
                // The provider says it in true time, which a process reads by its own clock.
                let renewed = self.world.logins.renew(named, ends).ok_or_else(refused)?;
                Ok(Some(RenewedLogin {
                    expires: Timestamp::from_millisecond(ends + self.ahead).ok(),
                    ..renewed
                }))
            }
        }
    }
}

/// What a process lends to its refreshes.
pub(crate) struct Host {
    world: Arc<World>,
    ahead: i64,
    dice: Mutex<Dice>,
}

impl RefreshHost for Host {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.world.now() + self.ahead).unwrap_or(Timestamp::MAX)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn random(&self) -> u64 {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

/// What one process refreshes its logins with.
pub(crate) struct Process(Refresher<Endpoint, Host>);

/// Worlds of this process that were begun.
static WORLDS: AtomicU64 = AtomicU64::new(0);

/// A folder of its own for the lock files of a world.
pub(crate) fn folder() -> PathBuf {
    let number = WORLDS.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("openclaw-sim-{}-{number}", std::process::id()))
}

/// No token can be sent.
pub(crate) enum NoToken {
    /// A person has to log in.
    NeedsLogin,
    /// It may be over soon.
    NotNow,
}

impl Process {
    pub(crate) fn new(world: &Arc<World>, number: usize) -> Self {
        let ahead = world.setup.processes[number].ahead;
        let endpoint = Endpoint {
            world: Arc::clone(world),
            ahead,
            calls: AtomicU64::new(0),
        };
        let actor = 9_000 + u64::try_from(number).unwrap_or(0);
        let host = Host {
            world: Arc::clone(world),
            ahead,
            dice: Mutex::new(Dice::of(world.setup.seed, actor)),
        };
        Self(Refresher::new(&world.folder, endpoint, host))
    }

    /// The login to send, refreshed where that is due; a refresh that has begun is brought to its end (O7).
    pub(crate) async fn ready(
        self: &Arc<Self>,
        store: &Arc<MemoryAuthStore>,
        id: &ProfileId,
        now: impl Fn() -> Timestamp,
    ) -> Result<Option<Oauth>, NoToken> {
        let snapshot = store.snapshot();
        let Some(Credential::Oauth(stored)) = snapshot.credential(id) else {
            return Ok(None);
        };
        if stored.is_usable(now()) {
            return Ok(Some(stored.clone()));
        }
        let (this, store, id) = (Arc::clone(self), Arc::clone(store), id.clone());
        let refreshing = tokio::spawn(async move {
            this.0
                .login(&*store, &AuthConfig::default(), &id, Demand::Usable)
                .await
        });
        let outcome = tokio::time::timeout(PATIENCE, refreshing).await;
        let lasts = matches!(stored.expires, Some(Expires::At(end)) if end > now().as_millisecond());
        match outcome {
            Ok(Ok(Ok(Some(login)))) => Ok(Some(login)),
            _ if lasts => Ok(Some(stored.clone())),
            Ok(Ok(Err(error))) if error.needs_login() => Err(NoToken::NeedsLogin),
            Ok(_) | Err(_) => Err(NoToken::NotNow),
        }
    }
}

/// People log in anew every now and then, also where nothing is wrong.
pub(crate) async fn people(world: Arc<World>, stores: Vec<Arc<MemoryAuthStore>>) {
    let mut dice = Dice::of(world.setup.seed, 10_000);
    loop {
        tokio::time::sleep(millis(dice.spread(20 * MINUTE, 6 * HOUR))).await;
        let agent = dice.below(stores.len());
        let with_logins: Vec<_> = world
            .setup
            .providers
            .iter()
            .filter(|provider| provider.logins > 0)
            .collect();
        if with_logins.is_empty() {
            continue;
        }
        let provider = *dice.pick(&with_logins);
        let profile = format!("{}:k{}", provider.name, dice.below(provider.logins));
        let ends = world.now() + dice.spread(LASTS.0, LASTS.1);
        let credential = world.logins.log_in(agent, &profile, ends);
        if let Some((credential, id)) = credential.zip(profile.parse::<ProfileId>().ok()) {
            let now = Timestamp::from_millisecond(world.now()).unwrap_or(Timestamp::MAX);
            drop(stores[agent].upsert(id, credential, now).await);
        }
    }
}

fn millis(number: i64) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or(0))
}
