//! Refreshes OAuth logins before they end, and requests the limits of their accounts after a failure.

mod claims;
mod process_host;
mod token_answer;
mod token_endpoint;
mod usage_check;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openclaw_auth_store::{
    AuthConfig, Credential, Demand, Expiry, Oauth, RefreshError, Refresher, StoreError, UsageStore,
};
use openclaw_classify::error_chain;
use openclaw_classify::{Failure, Phase};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_runner::{Clock, LOGIN_NOT_RENEWED, SystemClock};
use openclaw_upstream::Upstream;

use crate::agents::AgentAuthStore;
use crate::providers::LoginEndpoints;
use crate::providers::SecretSources;
use process_host::ProcessHost;
use token_endpoint::HttpTokenEndpoint;

pub(crate) use usage_check::{UsageCheck, UsageChecks};

/// How long a request waits for a refresh, which goes on without it afterwards.
const REFRESH_WAIT: Duration = Duration::from_secs(30);
/// The code of a login that only a new login by an operator can renew.
const NEEDS_LOGIN: &str = "invalid_grant";
/// The code of a login that could not be refreshed now.
const NOT_REFRESHED: &str = "token_expired";

/// The refresher that all agents of a process share.
#[derive(Clone)]
pub(crate) struct Logins {
    refresher: Arc<Refresher<HttpTokenEndpoint, ProcessHost>>,
}

impl Logins {
    /// `state_dir` is the state directory, which holds the locks of refreshes.
    pub(crate) fn new(
        state_dir: &Path,
        endpoints: LoginEndpoints,
        sources: SecretSources,
        upstream: Upstream,
    ) -> Self {
        let endpoint = HttpTokenEndpoint::new(endpoints, sources, upstream);
        Self {
            refresher: Arc::new(Refresher::new(state_dir, endpoint, ProcessHost)),
        }
    }

    /// The login to send for a stored profile, refreshed first where that is due (O1, O2); `None` when there is none,
    /// or its provider has no token endpoint (O10).
    ///
    /// A refresh that has begun is completed, also when its request is gone: a provider that gives each refresh token once
    /// would not give it again.
    ///
    /// # Errors
    /// A failure of the credential. A token that has not ended yet is used all the same.
    pub(crate) async fn ready(
        &self,
        store: &Arc<AgentAuthStore>,
        config: &AuthConfig,
        id: &ProfileId,
    ) -> Result<Option<Oauth>, Failure> {
        let now = SystemClock.now();
        let stored = match store.snapshot().credential(id) {
            Some(Credential::Oauth(login)) => login.clone(),
            Some(Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_)) | None => {
                return Ok(None);
            }
        };
        if stored.is_usable(now) {
            return Ok(Some(stored));
        }
        let outcome = self.refreshed(store, config, id, Demand::Usable).await;
        if is_still_valid(&stored) && !matches!(&outcome, Ok(Some(_))) {
            if let Err(error) = &outcome {
                tracing::warn!(%error, "a login could not be refreshed ahead of its end; its token is used until then");
            }
            return Ok(Some(stored));
        }
        outcome.map_err(|error| failure(&stored.provider, &error))
    }

    /// Another login after the provider has refused this one's access token, refreshed once; `None` when there is
    /// nothing else to send, or not now.
    ///
    /// # Errors
    /// The failure of a login that only a new login by an operator can renew.
    pub(crate) async fn after_refusal(
        &self,
        store: &Arc<AgentAuthStore>,
        config: &AuthConfig,
        id: &ProfileId,
        refused: &Oauth,
    ) -> Result<Option<Oauth>, Failure> {
        let Some(access) = refused.access.clone() else {
            return Ok(None);
        };
        match self.refreshed(store, config, id, Demand::OtherThan(access)).await {
            Ok(login) => Ok(login.filter(|login| login.access != refused.access)),
            Err(error) if error.needs_login() => Err(failure(&refused.provider, &error)),
            Err(error) => {
                tracing::warn!(%error, "a refused login could not be refreshed");
                Ok(None)
            }
        }
    }

    async fn refreshed(
        &self,
        store: &Arc<AgentAuthStore>,
        config: &AuthConfig,
        id: &ProfileId,
        demand: Demand,
    ) -> Result<Option<Oauth>, RefreshFailure> {
        let (refresher, store) = (Arc::clone(&self.refresher), Arc::clone(store));
        let (config, id) = (config.clone(), id.clone());
        let refreshing = tokio::spawn(async move { refresher.login(&*store, &config, &id, demand).await });
        match tokio::time::timeout(REFRESH_WAIT, refreshing).await {
            Ok(Ok(outcome)) => outcome.map_err(RefreshFailure::Refused),
            // The task neither panics nor is cancelled, unless the process ends.
            Ok(Err(_)) | Err(_) => Err(RefreshFailure::TimedOut),
        }
    }
}

/// Why there is no fresh login.
#[derive(Debug, thiserror::Error)]
enum RefreshFailure {
    /// The provider, the lock or the store refused.
    #[error(transparent)]
    Refused(RefreshError),
    /// It takes longer than a request waits.
    #[error("the refresh takes longer than {} s; it goes on, try again in a moment", REFRESH_WAIT.as_secs())]
    TimedOut,
}

impl RefreshFailure {
    /// Whether only a new login helps.
    fn needs_login(&self) -> bool {
        match self {
            Self::Refused(error) => error.needs_login(),
            Self::TimedOut => false,
        }
    }
}

/// Whether the access token may still be sent.
fn is_still_valid(login: &Oauth) -> bool {
    let ends_later = match login.expires {
        Some(Expiry::At(end)) => end > SystemClock.now().as_millisecond(),
        Some(Expiry::Invalid) | None => false,
    };
    ends_later && login.access.as_ref().is_some_and(|access| !access.is_blank())
}

/// Reasons why a new login could not be stored, each with its remedy.
const FULL: &str = "its disk is full; make room on it";
const LOCKED: &str = "another program keeps its store locked; end that program";
const UNWRITABLE: &str = "its state cannot be written; its log says why";

fn not_renewed(provider: &ProviderId, why: &str) -> String {
    format!("the login for {provider} has ended, and the gateway could not store a new one: {why}")
}

/// The failure of an attempt that has no token to send. If only a new login helps, the credential is dead; every other
/// fault may be temporary.
fn failure(provider: &ProviderId, error: &RefreshFailure) -> Failure {
    let code = match error {
        _ if error.needs_login() => NEEDS_LOGIN,
        RefreshFailure::Refused(RefreshError::Lock { .. } | RefreshError::Store(_)) => LOGIN_NOT_RENEWED,
        RefreshFailure::Refused(_) | RefreshFailure::TimedOut => NOT_REFRESHED,
    };
    let message = match error {
        // The paths of the gateway's files belong in its log alone.
        RefreshFailure::Refused(error @ RefreshError::Lock { source, .. }) => {
            tracing::warn!(error = error_chain::line(error), "a login could not be renewed");
            let kind = source.downcast_ref::<io::Error>().map(io::Error::kind);
            let is_full = kind == Some(io::ErrorKind::StorageFull);
            not_renewed(provider, if is_full { FULL } else { UNWRITABLE })
        }
        RefreshFailure::Refused(error @ RefreshError::Store(store)) => {
            tracing::warn!(error = error_chain::line(error), "a login could not be renewed");
            let why = match store {
                StoreError::Busy { .. } => LOCKED,
                StoreError::Full { .. } => FULL,
                _ => UNWRITABLE,
            };
            not_renewed(provider, why)
        }
        RefreshFailure::Refused(RefreshError::Failed {
            cause, reason: None, ..
        }) => {
            format!("OAuth token refresh failed for {provider}: {cause}. Try again in a moment")
        }
        RefreshFailure::Refused(error) => error_chain::line(error),
        RefreshFailure::TimedOut => format!("OAuth token refresh failed for {provider}: {error}"),
    };
    Failure {
        provider: Some(provider.clone()),
        code: Some(code.to_owned()),
        message: Some(message),
        phase: Some(Phase::BeforeRequest),
        ..Failure::default()
    }
}
