//! Resolves the credential of an attempt: a key, a pointer that is followed, or a login that is refreshed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use openclaw_auth_store::{
    AuthConfig, AuthSnapshot, Credential, Oauth, Secret, SecretError, UsageStore, profile_secret,
};
use openclaw_classify::error_chain;
use openclaw_classify::{Failure, Phase};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_upstream::Upstream;
use secrecy::SecretString;

use crate::agents::AgentAuthStore;
use crate::logins::{Logins, UsageChecks};
use crate::providers::{LoginEndpoints, SecretSources, pointer};

/// Resolves the credentials of all attempts.
#[derive(Clone)]
pub(crate) struct Credentials {
    /// Resolves pointers to secrets.
    pub(crate) sources: SecretSources,
    /// Keeps logins fresh.
    pub(crate) logins: Logins,
    /// Requests the limits of accounts.
    pub(crate) checks: UsageChecks,
}

/// The credential of one attempt, with the secret to send.
pub(crate) struct ResolvedCredential {
    /// The credential as stored.
    pub(crate) credential: Credential,
    /// The key or token; none for providers that need none.
    pub(crate) secret: Option<SecretString>,
}

impl ResolvedCredential {
    /// The login, where it is one.
    pub(crate) fn login(&self) -> Option<&Oauth> {
        match &self.credential {
            Credential::Oauth(login) => Some(login),
            Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_) => None,
        }
    }

    /// The same login with another access token.
    pub(crate) fn of_login(login: Oauth) -> Self {
        let secret = login
            .access
            .as_ref()
            .map(|access| Secret::new(access.expose().trim()).into_inner());
        Self {
            credential: Credential::Oauth(login),
            secret,
        }
    }
}

impl Credentials {
    /// Credentials under `sources` and `logins`.
    pub(crate) fn new(
        state_dir: &Path,
        sources: SecretSources,
        logins: &LoginEndpoints,
        upstream: &Upstream,
    ) -> Self {
        Self {
            logins: Logins::new(state_dir, logins.clone(), sources.clone(), upstream.clone()),
            sources,
            checks: UsageChecks::default(),
        }
    }

    /// The credential of a profile for calls to `provider`; `None` when the profile is gone.
    ///
    /// # Errors
    /// A failure of the credential that says what to do about it.
    pub(crate) async fn resolve(
        &self,
        store: &Arc<AgentAuthStore>,
        auth: &AuthConfig,
        provider: &ProviderId,
        profile: &ProfileId,
    ) -> Result<Option<ResolvedCredential>, Failure> {
        let snapshot = store.snapshot();
        let Some(credential) = snapshot.credential(profile) else {
            return Ok(None);
        };
        if let Credential::Oauth(_) = credential {
            // A login that is a pointer is refused before any request is sent.
            let checked = self
                .sources
                .with(|places| profile_secret(&snapshot, auth, profile, places));
            checked.map_err(|error| unresolved(provider, &error))?;
            let login = self.logins.ready(store, auth, profile).await?;
            return match login {
                Some(login) => Ok(Some(ResolvedCredential::of_login(login))),
                None => Err(not_refreshable(provider)),
            };
        }
        let secret = match pointer(credential) {
            Some(pointer) if !self.sources.is_quick(&pointer) => {
                let (sources, snapshot) = (self.sources.clone(), Arc::clone(&snapshot));
                let (auth, profile) = (auth.clone(), profile.clone());
                let follow =
                    move || sources.with(|places| profile_secret(&snapshot, &auth, &profile, places));
                match tokio::task::spawn_blocking(follow).await {
                    Ok(secret) => secret,
                    // The task neither panics nor is cancelled, unless the process ends.
                    Err(_) => return Err(stopped(provider)),
                }
            }
            Some(_) | None => self
                .sources
                .with(|places| profile_secret(&snapshot, auth, profile, places)),
        };
        let secret = secret.map_err(|error| unresolved(provider, &error))?;
        if let (Some(_), Some(secret)) = (pointer(credential), &secret) {
            note_secret(store, &snapshot, profile, secret);
        }
        Ok(Some(ResolvedCredential {
            credential: credential.clone(),
            secret,
        }))
    }

    /// A provider has refused the secret of a pointer: the pointer is followed again next time.
    pub(crate) fn refused(&self, refused: &ResolvedCredential) {
        if let Some(pointer) = pointer(&refused.credential) {
            self.sources.forget(&pointer);
        }
    }
}

/// Records in the store that a pointer yields another secret than before, which starts clean (D9).
fn note_secret(store: &AgentAuthStore, snapshot: &AuthSnapshot, profile: &ProfileId, secret: &SecretString) {
    let found = fingerprint(secret);
    if found.is_none() || snapshot.resolved.get(profile) == found.as_ref() {
        return;
    }
    let owners = [Some(store.agent()), store.main()];
    for owner in owners.into_iter().flatten() {
        let own = owner.snapshot();
        if own.credential(profile).is_none() || own.resolved.get(profile) == found.as_ref() {
            continue;
        }
        let mut resolved: HashMap<ProfileId, String> = own.resolved.clone();
        resolved.extend(found.clone().map(|found| (profile.clone(), found)));
        owner.set_resolved(resolved);
    }
}

/// The fingerprint of a secret, as the store computes it for an inline key.
fn fingerprint(secret: &SecretString) -> Option<String> {
    let any = ProviderId::try_new("any").ok()?;
    Credential::api_key(any, Secret::from(secret.clone())).fingerprint()
}

fn unresolved(provider: &ProviderId, error: &SecretError) -> Failure {
    // The failure goes to the client, which must not learn where secrets are kept (Z2); the log names the place.
    tracing::warn!(
        provider = provider.as_str(),
        error = error_chain::line(error),
        "a credential leads nowhere"
    );
    let message = format!("no credentials found: {}", for_clients(error));
    before_request(provider, "invalid_api_key", message)
}

/// The fault of a pointer, without the place it points to.
fn for_clients(error: &SecretError) -> String {
    match error {
        SecretError::Missing { .. } => {
            "the file of its secret has no text where it should be; put it there or correct the pointer"
                .to_owned()
        }
        SecretError::Unreadable { source, .. } => {
            format!("the file of its secret cannot be read ({source}); the log says which")
        }
        other => other.to_string(),
    }
}

/// The failure of a login whose provider has no token endpoint (O10).
fn not_refreshable(provider: &ProviderId) -> Failure {
    let message = format!(
        "no credentials found: the login for `{provider}` has ended and cannot be refreshed; log in again, or set \
         logins.{provider}.tokenUrl in failover.json5"
    );
    before_request(provider, "token_expired", message)
}

fn stopped(provider: &ProviderId) -> Failure {
    before_request(
        provider,
        "invalid_api_key",
        "no credentials found: the process is ending".to_owned(),
    )
}

/// A failure before anything was sent.
pub(crate) fn before_request(provider: &ProviderId, code: &str, message: String) -> Failure {
    Failure {
        provider: Some(provider.clone()),
        code: Some(code.to_owned()),
        message: Some(message),
        phase: Some(Phase::BeforeRequest),
        ..Failure::default()
    }
}
