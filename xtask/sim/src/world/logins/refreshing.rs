//! Refreshes: the endpoint that answers them, what a process lends to them, and how a call gets a token that can be sent.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthConfig, Credential, Demand, Expiry, MemoryAuthStore, Oauth, RefreshHost, Refresher, RenewedLogin,
    TokenEndpoint, TokenEndpointError, UsageStore,
};
use openclaw_ids::ProfileId;

use super::{LASTS, Logins, TokenName};
use crate::faults::provider::ProviderFault;
use crate::random::SeededRandom;
use crate::setup::key_number;
use crate::time::{SECOND, at, span};
use crate::world::World;

/// How long a call waits for a refresh, which goes on without it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the providers of a world renew logins; a process asks it by its own clock.
pub(crate) struct Endpoint {
    world: Arc<World>,
    ahead: i64,
    calls: AtomicU64,
}

/// Ends a refresh that is dropped, too.
struct InFlight<'a>(&'a Logins, TokenName);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.end(&self.1);
    }
}

impl TokenEndpoint for Endpoint {
    async fn refresh(&self, login: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        let refused = || TokenEndpointError::new("HTTP 400: invalid_grant");
        let Some(named) = TokenName::of(login.refresh.as_ref()) else {
            return Err(refused());
        };
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut random = SeededRandom::of(self.world.setup.seed ^ number, 8_000 + named.generation);
        let is_good = self.world.logins.begin(&named);
        let flight = InFlight(&self.world.logins, named);
        let named = &flight.1;
        tokio::time::sleep(span(random.spread(50, 40 * SECOND))).await;
        if !is_good {
            return Err(refused());
        }
        let key = key_number(&named.profile);
        let provider = named.profile.split(':').next().unwrap_or_default();
        match self.world.trouble(provider, key) {
            Some(ProviderFault::BadLogin | ProviderFault::Revoked) => Err(refused()),
            Some(ProviderFault::Broken | ProviderFault::Down) => Err(TokenEndpointError::new("HTTP 503")),
            Some(ProviderFault::Silent) => {
                tokio::time::sleep(Duration::from_mins(5)).await;
                Err(TokenEndpointError::new("no answer"))
            }
            Some(_) | None => {
                let ends = self.world.now() + random.spread(LASTS.0, LASTS.1);
                // The provider says it in true time, which a process reads by its own clock.
                let renewed = self.world.logins.renew(named, ends).ok_or_else(refused)?;
                Ok(Some(RenewedLogin {
                    expires: Some(at(ends + self.ahead)),
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
    random: Mutex<SeededRandom>,
}

impl RefreshHost for Host {
    fn now(&self) -> Timestamp {
        at(self.world.now() + self.ahead)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn random(&self) -> u64 {
        self.random.lock().unwrap_or_else(PoisonError::into_inner).next()
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
            random: Mutex::new(SeededRandom::of(world.setup.seed, actor)),
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
        let lasts = matches!(stored.expires, Some(Expiry::At(end)) if end > now().as_millisecond());
        match outcome {
            Ok(Ok(Ok(Some(login)))) => Ok(Some(login)),
            _ if lasts => Ok(Some(stored.clone())),
            Ok(Ok(Err(error))) if error.needs_login() => Err(NoToken::NeedsLogin),
            Ok(_) | Err(_) => Err(NoToken::NotNow),
        }
    }
}
