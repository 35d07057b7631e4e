//! Requests the limits of an account after a failure (cooldown.md 8.3), in the background.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use jiff::Timestamp;
use openclaw_auth_store::{Oauth, UsageChange, UsageStore};
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{
    ChatGptUsageProbe, FailureEvent, MarkScope, UsageCredential, UsageProbe, UsageReply, UsageRequest,
    codex_reset,
};
use openclaw_ids::ProfileId;
use openclaw_runner::{Clock, SystemClock};
use openclaw_upstream::{PlainRequest, Upstream};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use crate::agents::AgentAuthStore;

/// The shortest time between two requests about one login. Failures of many runs cause one request.
const SPACING: Duration = Duration::from_secs(30);
/// The largest reply that is read, in bytes.
const MAX_REPLY: usize = 64 * 1024;
/// The user agent of these requests.
const NAME: HeaderValue = HeaderValue::from_static(concat!("openclaw/", env!("CARGO_PKG_VERSION")));
const VERSION: HeaderValue = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));

/// The usage checks of one process.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageChecks {
    /// The time of the latest check of each login, by the store that holds it.
    asked: Arc<Mutex<HashMap<(PathBuf, ProfileId), Instant>>>,
}

/// A failed attempt with a login, which the limits of the account may explain.
pub(crate) struct UsageCheck {
    /// The profile.
    pub(crate) profile: ProfileId,
    /// The login that was sent.
    pub(crate) login: Oauth,
    /// The failure.
    pub(crate) event: FailureEvent,
}

impl UsageCheck {
    /// The change that replaces the failure by `event`.
    fn stated_end(&self, event: FailureEvent) -> UsageChange {
        UsageChange::StatedEnd {
            profile: self.profile.clone(),
            login: Box::new(self.login.clone()),
            event,
        }
    }
}

impl UsageChecks {
    /// Sends the check to `url` in the background, if it can explain the failure and none was sent in the last half minute,
    /// and stores the result.
    pub(crate) fn explain(
        &self,
        upstream: &Upstream,
        url: &Url,
        store: &Arc<AgentAuthStore>,
        check: UsageCheck,
    ) {
        let has_token = check
            .login
            .access
            .as_ref()
            .is_some_and(|access| !access.is_blank());
        let credential = if has_token {
            UsageCredential::Login
        } else {
            UsageCredential::Other
        };
        let request = ChatGptUsageProbe.request(&check.login.provider, check.event.reason, credential);
        let Some(request) = request.filter(|_| self.is_due(holder(store, &check.profile), &check.profile))
        else {
            return;
        };
        let (upstream, url, store) = (upstream.clone(), url.clone(), Arc::clone(store));
        tokio::spawn(async move {
            let reply = ask(&upstream, url, request, &check.login).await;
            let reply = match &reply {
                Some((status, body)) => UsageReply::Answered {
                    status: *status,
                    body: body.as_ref(),
                },
                None => UsageReply::Failed,
            };
            let now = SystemClock.now();
            let finding = ChatGptUsageProbe.read(reply, now);
            tracing::info!(finding = finding.label, "an account was asked about its limits");
            let change = check.stated_end(finding.refine(check.event.clone(), now));
            if let Err(error) = store.commit(change, SystemClock.now()).await {
                tracing::warn!(%error, "what an account said about its limits was not stored");
            }
        });
    }

    /// Reads the reset time from the body of the failure (cooldown.md 8.2); true when there is one, which is stored before
    /// the failure is.
    pub(crate) fn read_off(body: &[u8], store: &AgentAuthStore, check: &UsageCheck, now: Timestamp) -> bool {
        let Ok(report) = serde_json::from_slice::<Value>(body) else {
            return false;
        };
        let reset = codex_reset(&report, now).or_else(|| codex_reset(report.get("error")?, now));
        let Some(reset) = reset else {
            return false;
        };
        let event = FailureEvent {
            reason: Reason::RateLimit,
            scope: MarkScope::Profile,
            hint: Some(ResetHint::new(reset, HintSource::Body, now)),
            ..check.event.clone()
        };
        store.enqueue(check.stated_end(event), now);
        true
    }

    /// Whether a check of the login may be sent now; `true` counts as sending.
    fn is_due(&self, holder: &Path, profile: &ProfileId) -> bool {
        let now = Instant::now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|_, at| now.duration_since(*at) < SPACING);
        let login = (holder.to_owned(), profile.clone());
        let is_due = !asked.contains_key(&login);
        if is_due {
            asked.insert(login, now);
        }
        is_due
    }
}

/// The file of the store that holds a profile: two agents may have different logins under one name.
fn holder<'s>(store: &'s AgentAuthStore, profile: &ProfileId) -> &'s Path {
    let own = store.agent();
    match store.main() {
        Some(main) if !own.snapshot().profiles.contains_key(profile) => main.path(),
        Some(_) | None => own.path(),
    }
}

/// Status and body; none without a response in time.
async fn ask(
    upstream: &Upstream,
    url: Url,
    request: &'static UsageRequest,
    login: &Oauth,
) -> Option<(u16, Option<Value>)> {
    let asked = PlainRequest {
        method: Method::GET,
        url,
        headers: headers(request, login)?,
        body: Bytes::new(),
    };
    let asking = upstream.fetch(asked, MAX_REPLY);
    let (status, body) = tokio::time::timeout(request.timeout, asking).await.ok()?.ok()?;
    Some((status.as_u16(), serde_json::from_slice(&body).ok()))
}

fn headers(request: &'static UsageRequest, login: &Oauth) -> Option<HeaderMap> {
    let secret = |text: &str| {
        let mut value = HeaderValue::from_str(text).ok()?;
        value.set_sensitive(true);
        Some(value)
    };
    let mut headers: HeaderMap = request
        .headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    let access = login.access.as_ref()?.expose().trim();
    headers.insert(AUTHORIZATION, secret(&format!("Bearer {access}"))?);
    headers.insert(USER_AGENT, NAME);
    headers.insert("version", VERSION);
    if let Some(account) = login
        .account_id
        .as_deref()
        .and_then(|account| secret(account.trim()))
    {
        headers.insert(HeaderName::from_static(request.account_header), account);
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn many_failures_are_one_check_in_half_a_minute() {
        let checks = UsageChecks::default();
        let (me, other, elsewhere) = (("/a", "openai:me"), ("/a", "openai:other"), ("/b", "openai:me"));
        let is_due =
            |(holder, id): (&str, &str)| checks.is_due(Path::new(holder), &ProfileId::try_new(id).unwrap());
        assert!(is_due(me) && is_due(other) && is_due(elsewhere));
        assert!(!is_due(me) && !is_due(elsewhere));
        tokio::time::advance(SPACING).await;
        assert!(is_due(me) && !is_due(me));
    }
}
