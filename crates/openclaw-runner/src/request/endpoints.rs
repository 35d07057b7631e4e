//! Where credentials are used: a provider has one endpoint, and its logins may have another (D4).

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, EndpointKey};
use openclaw_cooldown::EndpointWindow;
use openclaw_ids::{ProfileId, ProviderId};

/// The endpoint of each provider that has one, for faults of the route itself (D4).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointKeys {
    of_providers: HashMap<ProviderId, EndpointKey>,
    of_logins: HashMap<ProviderId, LoginEndpoint>,
}

/// Where the logins of a provider are used, when that is not where its keys are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginEndpoint {
    /// The endpoint.
    pub key: EndpointKey,
    /// Which credentials are used there.
    pub used_by: LoginUse,
}

/// Which credentials are used where logins are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginUse {
    /// OAuth logins.
    Oauth,
    /// OAuth logins and stored tokens.
    OauthAndTokens,
}

/// What decides whether a candidate may be called: the credentials whose endpoint does not cool down. When the endpoints of
/// all of them do, all credentials, and the endpoint that is back first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach<'a> {
    /// The credentials, in order.
    pub profiles: Cow<'a, [ProfileId]>,
    /// What is known of their endpoint's cooldown, which may be over.
    pub endpoint: Option<&'a EndpointWindow>,
}

impl LoginUse {
    fn covers(self, credential: &Credential) -> bool {
        match credential {
            Credential::Oauth(_) => true,
            Credential::Token(_) => self == Self::OauthAndTokens,
            Credential::ApiKey(_) | Credential::Local(_) => false,
        }
    }
}

impl EndpointKeys {
    /// The logins whose credentials name `provider` are used at `endpoint`.
    #[must_use]
    pub fn with_logins(mut self, provider: ProviderId, endpoint: LoginEndpoint) -> Self {
        self.of_logins.insert(provider, endpoint);
        self
    }

    /// The endpoint of a provider, where its keys are used.
    pub fn get(&self, provider: &ProviderId) -> Option<&EndpointKey> {
        self.of_providers.get(provider)
    }

    /// The endpoint of the logins whose credentials name `provider`, when they have one of their own.
    pub fn of_logins(&self, provider: &ProviderId) -> Option<&LoginEndpoint> {
        self.of_logins.get(provider)
    }

    /// Where `credential` is used for `provider`.
    pub fn of(&self, provider: &ProviderId, credential: Option<&Credential>) -> Option<&EndpointKey> {
        let own = credential.and_then(|credential| {
            let logins = self.of_logins.get(credential.provider())?;
            logins.used_by.covers(credential).then_some(&logins.key)
        });
        own.or_else(|| self.get(provider))
    }

    /// What of `profiles`, the credentials of a candidate of `provider`, can be reached at `now`.
    pub fn reach<'a>(
        &self,
        snapshot: &'a AuthSnapshot,
        provider: &ProviderId,
        profiles: &'a [ProfileId],
        now: Timestamp,
    ) -> Reach<'a> {
        let all = |endpoint| Reach {
            profiles: Cow::Borrowed(profiles),
            endpoint,
        };
        // The most common case.
        if snapshot.endpoints.is_empty() {
            return all(None);
        }
        let key = |id| self.of(provider, snapshot.credential(id));
        let window = |key: &EndpointKey| snapshot.endpoints.get(key);
        let Some(first) = profiles.first() else {
            return all(self.get(provider).and_then(window));
        };
        if profiles.iter().all(|id| key(id) == key(first)) {
            return all(key(first).and_then(window));
        }
        let rest = |id| {
            key(id)
                .and_then(window)
                .filter(|window: &&EndpointWindow| window.is_active(now))
        };
        let reached: Vec<ProfileId> = profiles.iter().filter(|id| rest(id).is_none()).cloned().collect();
        if reached.is_empty() {
            return all(profiles.iter().filter_map(rest).min_by_key(|window| window.until));
        }
        Reach {
            profiles: Cow::Owned(reached),
            endpoint: None,
        }
    }
}

impl FromIterator<(ProviderId, EndpointKey)> for EndpointKeys {
    fn from_iter<I: IntoIterator<Item = (ProviderId, EndpointKey)>>(endpoints: I) -> Self {
        Self {
            of_providers: endpoints.into_iter().collect(),
            of_logins: HashMap::new(),
        }
    }
}
