//! One attempt of a run: the provider's endpoint, one credential, the client's request.

use std::sync::OnceLock;

use axum::http::HeaderMap;
use openclaw_auth_store::{AuthConfig, Credential, SecretPlaces, UsageStore, profile_secret};
use openclaw_classify::{Failure, Phase};
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_runner::{Attempt, AttemptCall};
use secrecy::SecretString;
use tokio::time::Instant;

use crate::config::FailoverConfig;
use crate::environment::Environment;
use crate::providers::{Endpoints, UnusableSecret, known};
use crate::telemetry::Stopwatch;
use crate::upstream::{Answer, Call, RequestBody, SecretKind, Upstream, Wire, is_by_chance};

/// Performs the attempts of one client request.
pub(crate) struct ProviderAttempt<'a, U> {
    pub(crate) upstream: &'a Upstream,
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) environment: &'a Environment,
    pub(crate) usage: &'a U,
    pub(crate) auth: &'a AuthConfig,
    pub(crate) failover: &'a FailoverConfig,
    pub(crate) wire: Wire,
    /// The client's headers that belong to the wire format.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a RequestBody,
    /// Names the request in the log.
    pub(crate) request_id: &'a str,
    /// Takes the time that calls took.
    pub(crate) spent: &'a Stopwatch,
    /// What the one call met that was made once more at once; none when no call was.
    pub(crate) repeated: OnceLock<&'static str>,
}

impl<U: UsageStore> Attempt for ProviderAttempt<'_, U> {
    type Output = Answer;

    async fn attempt(&self, call: AttemptCall) -> Result<Answer, Failure> {
        let provider = call.candidate.provider();
        let Some(endpoint) = self.endpoints.get(provider) else {
            return Err(unknown_provider(provider));
        };
        let Some(profile) = &call.profile else {
            return Err(self.no_credential(provider));
        };
        let (secret, kind) = self.secret(provider, profile)?;
        let out = Call {
            endpoint,
            model: call.candidate.model().as_str(),
            secret: secret.as_ref(),
            kind,
            wire: self.wire,
            headers: self.headers,
            body: self.body,
            deadlines: self
                .failover
                .deadlines
                .of(&call.candidate, endpoint.answer_limit()),
        };
        let started = Instant::now();
        let made = match self.upstream.attempt(&out).await {
            Err(failure) if self.may_repeat(&call, &failure) => self.upstream.attempt(&out).await,
            outcome => outcome,
        };
        self.spent.add_since(started);
        made
    }
}

impl<U: UsageStore> ProviderAttempt<'_, U> {
    /// Whether the call is made once more at once, which is noted: once per request, for what looks like chance, when
    /// no other model could answer instead, and never to find out whether something works again.
    fn may_repeat(&self, call: &AttemptCall, failure: &Failure) -> bool {
        if !call.is_final_fallback_attempt || call.is_probe || !is_by_chance(failure) {
            return false;
        }
        let met = match failure.status {
            Some(500) => "500",
            Some(502) => "502",
            Some(_) => "504",
            None => "reset",
        };
        let first = self.repeated.set(met).is_ok();
        if first {
            let model = call.candidate.key();
            tracing::info!(
                requestId = self.request_id,
                model,
                met,
                "calling once more at once"
            );
        }
        first
    }

    #[expect(
        clippy::result_large_err,
        reason = "a failure is made and moved once, off the fast path"
    )]
    fn secret(
        &self,
        provider: &ProviderId,
        profile: &ProfileId,
    ) -> Result<(Option<SecretString>, SecretKind), Failure> {
        let snapshot = self.usage.snapshot();
        // Removed by a login in another process since the run chose it.
        let credential = snapshot
            .credential(profile)
            .ok_or_else(|| self.no_credential(provider))?;
        let kind = match credential {
            Credential::ApiKey(_) | Credential::Local(_) => SecretKind::Key,
            Credential::Oauth(_) | Credential::Token(_) => SecretKind::Token,
        };
        let variable = |name: &str| self.environment.get(name).map(str::to_owned);
        let places = SecretPlaces::env(&variable);
        let secret = profile_secret(&snapshot, self.auth, profile, places).map_err(|error| {
            before_request(
                provider,
                "invalid_api_key",
                format!("no credentials found: {error}"),
            )
        })?;
        Ok((secret, kind))
    }

    fn no_credential(&self, provider: &ProviderId) -> Failure {
        let is_its_key = |secret: &&UnusableSecret| secret.header.is_none() && secret.provider == *provider;
        let unusable = self.endpoints.unusable().iter().find(is_its_key);
        if let Some(secret) = unusable {
            let message = format!("no credentials found for provider `{provider}`; {secret}");
            return before_request(provider, "invalid_api_key", message);
        }
        let variable = known(provider).and_then(|row| row.key_variables.first());
        let set = variable.map(|name| format!("{name} or ")).unwrap_or_default();
        let message = format!(
            "no credentials found for provider `{provider}`; set {set}models.providers.{provider}.apiKey"
        );
        before_request(provider, "invalid_api_key", message)
    }
}

/// A provider of the chain that nobody told us how to reach: the model is not to be had here.
fn unknown_provider(provider: &ProviderId) -> Failure {
    let message = format!(
        "provider `{provider}` has no endpoint; set models.providers.{provider}.baseUrl, or correct the model's name"
    );
    before_request(provider, "model_not_found", message)
}

fn before_request(provider: &ProviderId, code: &str, message: String) -> Failure {
    Failure {
        provider: Some(provider.clone()),
        code: Some(code.to_owned()),
        message: Some(message),
        phase: Some(Phase::BeforeRequest),
        ..Failure::default()
    }
}
