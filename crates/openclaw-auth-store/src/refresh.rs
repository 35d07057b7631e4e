//! Refreshing logins: one call to the provider, however many tasks, agents and processes want the token (section 14).

mod endpoint;
mod error;
mod lease;
mod lock_file;
mod process;
mod single_flight;
mod suggestion;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{AuthConfig, ChangeOutcome, LoginChange, LoginStore, Oauth, Secret, StoreError};
use error::is_reuse;
use lease::LeaseGuard;
use single_flight::SingleFlight;
use suggestion::suggest;

pub use endpoint::{RefreshHost, RenewedLogin, TokenEndpoint, TokenEndpointError};
pub use error::{ReauthReason, RefreshError};
pub use lock_file::refresh_lock_name;

/// How long a call lasts before its lease is renewed.
const RENEW_AFTER: Duration = Duration::from_secs(20);
/// How many of these parts a call may take: two minutes (O7).
const CALL_PARTS: u32 = 6;

/// What a caller requires of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Demand {
    /// One with another access token than this one, which the provider has refused.
    OtherThan(Secret),
    /// One that does not end within five minutes (O1).
    Usable,
}

/// Provides logins whose access token can be sent, refreshed where that is due.
///
/// One value serves all agents of a process. It serialises tasks with a queue, processes that share a store with a
/// lease in it, and OpenClaw with its lock file.
///
/// ```
/// # use std::{path::Path, time::Duration};
/// use openclaw_auth_store::{
///     AuthConfig, Demand, LoginStore, Oauth, RefreshError, RefreshHost, Refresher, RenewedLogin, TokenEndpoint,
///     TokenEndpointError,
/// };
/// # use openclaw_ids::ProfileId;
///
/// /// The one call to a provider.
/// struct Endpoint;
///
/// impl TokenEndpoint for Endpoint {
///     async fn refresh(&self, login: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
///         if login.provider.as_str() != "openai" {
///             return Ok(None); // Unknown provider: the login is used until it ends.
///         }
///         // The provider's whole answer; what is shown of it is redacted.
///         Err(TokenEndpointError::new("HTTP 400: invalid_grant"))
///     }
/// }
///
/// /// The clock, sleep and randomness of the process.
/// struct Process;
///
/// impl RefreshHost for Process {
///     fn now(&self) -> jiff::Timestamp { jiff::Timestamp::UNIX_EPOCH }
///     async fn sleep(&self, duration: Duration) { drop(duration) }
///     fn random(&self) -> u64 { 4 }
/// }
///
/// async fn token(store: &impl LoginStore, state: &Path, id: &ProfileId) -> Result<Option<Oauth>, RefreshError> {
///     let refresher = Refresher::new(state, Endpoint, Process);
///     refresher.login(store, &AuthConfig::default(), id, Demand::Usable).await
/// }
/// ```
pub struct Refresher<E, H> {
    locks: PathBuf,
    endpoint: E,
    host: H,
    queues: Mutex<HashMap<Key, Queue>>,
}

type Key = (ProviderId, ProfileId);
type Queue = Arc<SingleFlight>;

/// One request for a login of a store.
struct RefreshRequest<'a, S> {
    store: &'a S,
    id: &'a ProfileId,
    /// The login at the time of the request.
    seen: Oauth,
    /// The time of the request.
    began: Timestamp,
    demand: Demand,
}

impl<E: TokenEndpoint, H: RefreshHost> Refresher<E, H> {
    /// `state_dir` is the state directory, in which OpenClaw keeps its locks, too.
    pub fn new(state_dir: &Path, endpoint: E, host: H) -> Self {
        Self {
            locks: state_dir.join("locks").join("oauth-refresh"),
            endpoint,
            host,
            queues: Mutex::default(),
        }
    }

    /// The login to send, refreshed before where that is due; `None` when there is no such login, or when it cannot be
    /// refreshed and nothing is wrong with that (O10).
    ///
    /// When only a new login would help and the profile is an older `…:default`, the login that probably replaced it
    /// is tried (O14). Renewed tokens that cannot be stored are returned all the same and stored with the next write.
    ///
    /// Dropping the future gives the lease back. A provider that accepts each refresh token once may have issued the
    /// next one by then: run it in a task that is not aborted.
    ///
    /// # Errors
    /// A [`RefreshError`] that holds no secret.
    pub async fn login<S: LoginStore>(
        &self,
        store: &S,
        config: &AuthConfig,
        id: &ProfileId,
        demand: Demand,
    ) -> Result<Option<Oauth>, RefreshError> {
        let outcome = self.login_of(store, id, demand).await;
        if let Err(error) = &outcome
            && error.needs_login()
            && let Some(other) = suggest(&store.snapshot(), config, id)
            && let Ok(Some(login)) = self.login_of(store, &other, Demand::Usable).await
        {
            return Ok(Some(login));
        }
        outcome
    }

    async fn login_of<S: LoginStore>(
        &self,
        store: &S,
        id: &ProfileId,
        demand: Demand,
    ) -> Result<Option<Oauth>, RefreshError> {
        let Some(seen) = store.stored_login(id) else {
            return Ok(None);
        };
        let asked = RefreshRequest {
            store,
            id,
            seen,
            began: self.host.now(),
            demand,
        };
        if let Some(login) = self.ready(&asked) {
            return Ok(Some(login));
        }
        let queue = self.queue(&asked);
        let known = queue.failures();
        let mut turn = queue.turn.lock().await;
        if let Some(login) = self.ready(&asked) {
            return Ok(Some(login));
        }
        let stored = store.stored_login(id);
        if let Some(error) = turn.as_ref().and_then(|last| last.shared(known, stored.as_ref())) {
            return Err(error);
        }
        let outcome = self.refresh(&asked).await;
        queue.note(&mut turn, store.stored_login(id), &outcome);
        outcome
    }

    async fn refresh<S: LoginStore>(
        &self,
        asked: &RefreshRequest<'_, S>,
    ) -> Result<Option<Oauth>, RefreshError> {
        match self.hold(asked).await? {
            Ok(held) => self.renew(asked, &held).await,
            Err(login) => Ok(Some(login)),
        }
    }

    fn queue<S>(&self, asked: &RefreshRequest<'_, S>) -> Queue {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        // No task waits in a queue that only this map refers to.
        queues.retain(|_, queue| Arc::strong_count(queue) > 1);
        let key = (asked.seen.provider.clone(), asked.id.clone());
        Arc::clone(queues.entry(key).or_default())
    }

    /// A login that needs no refresh: the stored one, or the main agent's fresher copy of it (O2, O3).
    fn ready<S: LoginStore>(&self, asked: &RefreshRequest<'_, S>) -> Option<Oauth> {
        let now = self.host.now();
        let serves = |login: &Oauth| {
            login.is_usable(now)
                && match &asked.demand {
                    Demand::OtherThan(refused) => login.access.as_ref() != Some(refused),
                    Demand::Usable => true,
                }
        };
        let stored = asked.store.stored_login(asked.id)?;
        let main = asked
            .store
            .main_login(asked.id)
            .filter(|main| serves(main) && stored.may_become(main) && main.end() > stored.end());
        main.or_else(|| Some(stored).filter(serves))
    }

    /// The failure that another process recorded while this one waited: the provider would only repeat it (O4).
    fn marked_meanwhile<S: LoginStore>(&self, asked: &RefreshRequest<'_, S>) -> Option<RefreshError> {
        let (snapshot, now) = (asked.store.snapshot(), self.host.now());
        let usage = snapshot.usage(asked.id);
        let mut windows = usage.windows.values();
        let window = windows.find(|window| {
            matches!(window.reason, Reason::Auth | Reason::AuthPermanent)
                && window.is_active(now)
                && window.opened_at > asked.began
        })?;
        Some(RefreshError::Failed {
            provider: asked.seen.provider.clone(),
            reason: (window.reason == Reason::AuthPermanent).then_some(ReauthReason::InvalidGrant),
            cause: "another process was refused a moment ago".to_owned(),
        })
    }

    /// The refresh itself, done by the holder of the lease (O7, O8, O11).
    async fn renew<S: LoginStore>(
        &self,
        asked: &RefreshRequest<'_, S>,
        held: &LeaseGuard<'_, S, H>,
    ) -> Result<Option<Oauth>, RefreshError> {
        let mut retried = false;
        loop {
            // OpenClaw may have stored a login between the lease and its lock file.
            self.lease(asked, &held.holder).await?;
            if let Some(login) = self.ready(asked) {
                return Ok(Some(login));
            }
            if !retried && let Some(error) = self.marked_meanwhile(asked) {
                return Err(error);
            }
            let Some(read) = asked.store.stored_login(asked.id) else {
                return Ok(None);
            };
            if let Some(login) = self.external(asked, &read) {
                return Ok(Some(login));
            }
            if read.refresh.as_ref().is_none_or(Secret::is_blank) {
                return Ok(None);
            }
            let error = match self.call(asked, held, &read).await {
                Ok(None) => return Ok(None),
                Ok(Some(renewed)) => {
                    let new = renewed.over(&read);
                    match self.persist(asked, &read, &new).await {
                        Ok(ChangeOutcome::Done) => return Ok(Some(new)),
                        Ok(ChangeOutcome::HeldElsewhere | ChangeOutcome::Unchanged) => None,
                        // The old tokens are revoked; the store buffers the new ones until it can write.
                        Err(error) if asked.store.stored_login(asked.id).as_ref() == Some(&new) => {
                            tracing::warn!(%error, "renewed tokens could not be stored yet; this process keeps them");
                            return Ok(Some(new));
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) => Some(error),
            };
            self.lease(asked, &held.holder).await?;
            if let Some(login) = self.ready(asked) {
                return Ok(Some(login));
            }
            let Some(error) = error else {
                return Err(RefreshError::NotPersisted {
                    provider: read.provider,
                });
            };
            let stored = asked.store.stored_login(asked.id);
            if is_reuse(&error) {
                if !retried && stored.as_ref().is_some_and(|stored| *stored != read) {
                    retried = true;
                    continue;
                }
                let id = asked.id.clone();
                let now = self.host.now();
                asked.store.change_login(id, LoginChange::ForgetGood, now).await?;
            }
            let logins = [&read, &asked.seen, stored.as_ref().unwrap_or(&read)];
            return Err(RefreshError::failed(&error, &read.provider, &logins));
        }
    }

    fn external<S>(&self, asked: &RefreshRequest<'_, S>, read: &Oauth) -> Option<Oauth> {
        let login = self.host.external_login(asked.id, read)?;
        (login.is_usable(self.host.now()) && read.may_become(&login)).then_some(login)
    }

    async fn persist<S: LoginStore>(
        &self,
        asked: &RefreshRequest<'_, S>,
        read: &Oauth,
        new: &Oauth,
    ) -> Result<ChangeOutcome, StoreError> {
        let change = LoginChange::Renew {
            read: Box::new(read.clone()),
            new: Box::new(new.clone()),
        };
        let id = asked.id.clone();
        asked.store.change_login(id, change, self.host.now()).await
    }

    /// Calls the provider, for two minutes at most, and renews the lease meanwhile.
    async fn call<S: LoginStore>(
        &self,
        asked: &RefreshRequest<'_, S>,
        held: &LeaseGuard<'_, S, H>,
        login: &Oauth,
    ) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        let mut call = pin!(self.endpoint.refresh(login));
        for _ in 0..CALL_PARTS {
            if let Some(answer) = within(call.as_mut(), self.host.sleep(RENEW_AFTER)).await {
                return answer;
            }
            if let Err(error) = self.lease(asked, &held.holder).await {
                tracing::warn!(%error, "the right to refresh a login could not be renewed");
            }
        }
        Err(TokenEndpointError::new(
            "the provider did not answer within 120 s",
        ))
    }
}

/// The result of `work`, unless `limit` passes before.
async fn within<T>(
    mut work: Pin<&mut impl Future<Output = T>>,
    limit: impl Future<Output = ()>,
) -> Option<T> {
    let mut limit = pin!(limit);
    poll_fn(|context| {
        if let Poll::Ready(value) = work.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        limit.as_mut().poll(context).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests;
