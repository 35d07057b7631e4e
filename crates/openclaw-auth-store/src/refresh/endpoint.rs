//! The traits that a caller implements for refreshes: the provider's token endpoint, and the host with clock, sleep
//! and randomness.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_ids::ProfileId;

use crate::{Expiry, Oauth, Secret};

/// The token endpoint of a provider.
pub trait TokenEndpoint: Send + Sync {
    /// Requests new tokens; `None` when logins of this provider cannot be refreshed (O10).
    ///
    /// # Errors
    /// The provider's answer, or why it could not be reached.
    fn refresh(
        &self,
        login: &Oauth,
    ) -> impl Future<Output = Result<Option<RenewedLogin>, TokenEndpointError>> + Send;
}

/// The clock, sleep and randomness that a refresh uses.
pub trait RefreshHost: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Returns after `duration`.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;

    /// A random number, a new one each time.
    fn random(&self) -> u64;

    /// A login that another program on this machine has for the same profile, for hosts that read such programs'
    /// files; it is used when it is usable and of the same account.
    fn external_login(&self, _id: &ProfileId, _stored: &Oauth) -> Option<Oauth> {
        None
    }
}

/// The tokens that a provider returned; missing members stay as they were (O7).
#[derive(Debug, Clone, Default)]
pub struct RenewedLogin {
    /// The new access token.
    pub access: Option<Secret>,
    /// The next refresh token.
    pub refresh: Option<Secret>,
    /// The new identity token.
    pub id_token: Option<Secret>,
    /// When the access token ends.
    pub expires: Option<Timestamp>,
    /// The account that the tokens belong to.
    pub account_id: Option<String>,
    /// Its address.
    pub email: Option<String>,
    /// The plan of that account.
    pub chatgpt_plan_type: Option<String>,
    /// The provider's project.
    pub project_id: Option<String>,
}

/// The provider's answer without tokens, verbatim; `Debug` does not show it.
#[derive(Clone)]
pub struct TokenEndpointError(String);

impl TokenEndpointError {
    /// Wraps the provider's answer.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(super) fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TokenEndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenEndpointError([redacted])")
    }
}

impl RenewedLogin {
    /// `old` with the returned members replaced.
    pub(super) fn over(self, old: &Oauth) -> Oauth {
        let mut new = old.clone();
        let expires = self.expires.map(|end| Expiry::At(end.as_millisecond()));
        new.access = self.access.or(new.access);
        new.refresh = self.refresh.or(new.refresh);
        new.id_token = self.id_token.or(new.id_token);
        new.expires = expires.or(new.expires);
        new.account_id = self.account_id.or(new.account_id);
        new.chatgpt_plan_type = self.chatgpt_plan_type.or(new.chatgpt_plan_type);
        new.project_id = self.project_id.or(new.project_id);
        new.attributes.email = self.email.or(new.attributes.email);
        new
    }
}
