//! One attempt of a run: the provider's endpoint, one credential, the client's request.

mod repair;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::HeaderMap;
use jiff::Timestamp;
use openclaw_auth_store::{AuthConfig, Credential, Oauth, UsageStore};
use openclaw_classify::{Failure, Reason, Scope, classify};
use openclaw_config::{FailoverConfig, Rescue};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::{Attempt, AttemptCall, Clock, Repair, SystemClock};
use openclaw_upstream::{Answer, Call, Upstream, buffer_whole, is_transient};
use openclaw_wire::{RequestBody, WireFormat};
use tokio::time::Instant;

use crate::agents::{AgentAuthStore, has_unstored_legacy};
use crate::credentials::{Credentials, ResolvedCredential, before_request};
use crate::logins::{UsageCheck, UsageChecks};
use crate::providers::attempt_deadlines;
use crate::providers::{Endpoints, UnusableSecret, known, secret_kind};
use crate::telemetry::Stopwatch;
use crate::telemetry::metrics::Metrics;

pub(crate) use repair::repaired;

/// Performs the attempts of one client request.
pub(crate) struct ProviderAttempt<'a> {
    pub(crate) upstream: &'a Upstream,
    pub(crate) metrics: &'a Metrics,
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) credentials: &'a Credentials,
    pub(crate) usage: &'a Arc<AgentAuthStore>,
    pub(crate) auth: &'a AuthConfig,
    pub(crate) failover: &'a FailoverConfig,
    pub(crate) wire: WireFormat,
    /// The client's headers that belong to the wire format.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a RequestBody,
    /// Names the request in the log.
    pub(crate) request_id: &'a str,
    /// Adds up the time that calls take.
    pub(crate) spent: Arc<Stopwatch>,
    /// The failure after which a call was repeated at once; none when no call was.
    pub(crate) repeated: OnceLock<&'static str>,
    /// The repaired request, and the candidate that gets it.
    pub(crate) repaired: Mutex<Option<(ModelRef, RequestBody)>>,
}

impl Attempt for ProviderAttempt<'_> {
    type Output = Answer;

    async fn attempt(&self, call: AttemptCall) -> Result<Answer, Failure> {
        // Boxed, because the future of a run contains it, and every future around a run contains the run.
        Box::pin(self.perform(call)).await
    }

    fn repair_format(&self, call: &AttemptCall, failure: &Failure) -> Repair {
        if !self.failover.allow_format_retry {
            return Repair::None;
        }
        let Some(body) = repaired(self.body, self.wire, failure) else {
            return Repair::None;
        };
        tracing::info!(
            model = call.candidate.key(),
            "tool-call ids were rewritten after the provider refused them"
        );
        let mut repaired = self.repaired.lock().unwrap_or_else(PoisonError::into_inner);
        *repaired = Some((call.candidate.clone(), body));
        Repair::Done
    }
}

impl ProviderAttempt<'_> {
    async fn perform(&self, call: AttemptCall) -> Result<Answer, Failure> {
        let provider = call.candidate.provider();
        let started_at = SystemClock.now();
        if self.endpoints.get(provider).is_none() {
            return Err(unknown_provider(provider));
        }
        let Some(profile) = &call.profile else {
            return Err(self.no_credential(provider).await);
        };
        let credential = self
            .credentials
            .resolve(self.usage, self.auth, provider, profile)
            .await?;
        // Removed by a login in another process since the run chose it.
        let Some(credential) = credential else {
            return Err(self.no_credential(provider).await);
        };
        let failure = match self.send(&call, &credential).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        let Some(login) = credential.login() else {
            if failure.status == Some(401) {
                self.credentials.refused(&credential);
            }
            return Err(failure);
        };
        // A token can be revoked before its end; it is replaced once.
        if failure.status == Some(401) {
            let logins = &self.credentials.logins;
            let other = logins
                .after_refusal(self.usage, self.auth, profile, login)
                .await?;
            return match other {
                Some(other) => self.send(&call, &ResolvedCredential::of_login(other)).await,
                None => Err(failure),
            };
        }
        self.check_usage(&call, profile, login, &failure, started_at);
        Err(failure)
    }

    async fn send(&self, call: &AttemptCall, credential: &ResolvedCredential) -> Result<Answer, Failure> {
        let provider = call.candidate.provider();
        let Some(endpoint) = self.endpoints.of(provider, &credential.credential) else {
            return Err(unknown_provider(provider));
        };
        let endpoint = match self.endpoints.logins().account_header(&credential.credential) {
            Some((name, value)) => endpoint.clone().with_header(name, value),
            None => endpoint.clone(),
        };
        let repaired = {
            let repaired = self.repaired.lock().unwrap_or_else(PoisonError::into_inner);
            let own = repaired
                .as_ref()
                .filter(|(candidate, _)| *candidate == call.candidate);
            own.map(|(_, body)| body.clone())
        };
        let out = Call {
            kind: secret_kind(&endpoint, &credential.credential),
            endpoint: &endpoint,
            model: call.candidate.model().as_str(),
            secret: credential.secret.as_ref(),
            wire: self.wire,
            headers: self.headers,
            body: repaired.as_ref().unwrap_or(self.body),
            deadlines: attempt_deadlines(&self.failover.deadlines, &call.candidate, endpoint.answer_limit()),
        };
        let started = Instant::now();
        let made = match self.call_once(&out).await {
            Err(failure) if self.may_repeat(call, &failure) => self.call_once(&out).await,
            outcome => outcome,
        };
        self.spent.add_since(started);
        made
    }

    /// One call, whose stream is buffered or remembered as the settings say.
    async fn call_once(&self, out: &Call<'_>) -> Result<Answer, Failure> {
        let mut live = match self.upstream.attempt(out).await? {
            Answer::Live(live) => live,
            whole @ Answer::Whole(_) => return Ok(whole),
        };
        match self.failover.stream.rescue {
            Rescue::Off => {}
            Rescue::Buffered => *live = buffer_whole(*live).await?,
            Rescue::Splice => live.remember(),
        }
        Ok(Answer::Live(live))
    }

    /// Whether the call is repeated at once, which is recorded: once per request, after a transient failure, when no other
    /// model could answer instead, and never for a probe.
    fn may_repeat(&self, call: &AttemptCall, failure: &Failure) -> bool {
        if !call.is_final_fallback_attempt || call.is_probe || !is_transient(failure) {
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
            self.metrics.repeated(call.candidate.provider().as_str(), met);
            tracing::info!(
                requestId = self.request_id,
                model,
                met,
                "calling once more at once"
            );
        }
        first
    }

    /// Asks the account of a login about its limits after a failure, unless the failure states them.
    fn check_usage(
        &self,
        call: &AttemptCall,
        profile: &ProfileId,
        login: &Oauth,
        failure: &Failure,
        started_at: Timestamp,
    ) {
        let now = SystemClock.now();
        let Some(url) = self.endpoints.logins().usage_url(&login.provider) else {
            return;
        };
        let Some(verdict) = classify(failure, now) else {
            return;
        };
        let has_stated_end =
            verdict.scope == Scope::Profile && verdict.hint.is_some_and(|hint| hint.credible);
        if has_stated_end && verdict.reason == Reason::RateLimit {
            return;
        }
        let check = UsageCheck {
            profile: profile.clone(),
            login: login.clone(),
            event: FailureEvent {
                provider: call.candidate.provider().clone(),
                reason: verdict.reason,
                scope: MarkScope::of(verdict.scope).unwrap_or(MarkScope::Model),
                model: Some(call.candidate.model().clone()),
                hint: None,
                started_at: Some(started_at),
            },
        };
        let checks = &self.credentials.checks;
        match failure.body.as_deref() {
            Some(body) if UsageChecks::read_off(body, self.usage, &check, now) => {}
            Some(_) | None => checks.explain(self.upstream, url.as_url(), self.usage, check),
        }
    }

    async fn no_credential(&self, provider: &ProviderId) -> Failure {
        let is_its_key = |secret: &&UnusableSecret| secret.header.is_none() && secret.provider == *provider;
        let unusable = self.endpoints.unusable().iter().find(is_its_key);
        if let Some(secret) = unusable {
            let message = format!("no credentials found for provider `{provider}`; {secret}");
            return before_request(provider, "invalid_api_key", message);
        }
        let snapshot = self.usage.snapshot();
        let incompatible = |credential: &&Credential| {
            credential.provider() == provider && !self.endpoints.serves(provider, credential, self.wire)
        };
        if snapshot
            .profiles
            .values()
            .any(|credential| incompatible(&credential))
        {
            let format = self.wire.name();
            let message = format!(
                "`{provider}` has no credential that is good for {format}; add one, or use another format"
            );
            return before_request(provider, "wire_unsupported", message);
        }
        if has_unstored_legacy(self.usage, provider).await {
            let message = format!(
                "no credentials found for provider `{provider}`; older files hold some, which \
                 `openclaw-gateway doctor --fix` brings into the store"
            );
            return before_request(provider, "invalid_api_key", message);
        }
        let variable = known(provider).and_then(|row| row.key_variables.first());
        let set = variable.map(|name| format!("{name} or ")).unwrap_or_default();
        let message = format!(
            "no credentials found for provider `{provider}`; set {set}models.providers.{provider}.apiKey, or store a key \
             with `openclaw-gateway auth add {provider}`"
        );
        before_request(provider, "invalid_api_key", message)
    }
}

/// The failure for a provider of the chain that has no endpoint.
fn unknown_provider(provider: &ProviderId) -> Failure {
    let message = format!(
        "provider `{provider}` has no endpoint; set models.providers.{provider}.baseUrl, or correct the model's name"
    );
    before_request(provider, "model_not_found", message)
}
