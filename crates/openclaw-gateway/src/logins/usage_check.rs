//! Asks an account about its limits after a failure (cooldown.md 8.3): in the background, with no request waiting.

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
/// What calls itself.
const NAME: HeaderValue = HeaderValue::from_static(concat!("openclaw/", env!("CARGO_PKG_VERSION")));
const VERSION: HeaderValue = HeaderValue::from_static(env!("CARGO_PKG_VERSION"));

/// The questions of one process.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageChecks {
    /// When each login was asked about last, by the store that holds it.
    asked: Arc<Mutex<HashMap<(PathBuf, ProfileId), Instant>>>,
}

/// A failed attempt with a login that may be explained.
pub(crate) struct Checked {
    /// The profile.
    pub(crate) profile: ProfileId,
    /// The login that was sent.
    pub(crate) login: Oauth,
    /// What happened.
    pub(crate) event: FailureEvent,
}

impl Checked {
    /// The failure as it is understood now.
    fn explained(&self, event: FailureEvent) -> UsageChange {
        UsageChange::StatedEnd {
            profile: self.profile.clone(),
            login: Box::new(self.login.clone()),
            event,
        }
    }
}

impl UsageChecks {
    /// Asks at `url` in the background, when the check can explain the failure and was not made a moment ago, and tells
    /// the store what was found out.
    pub(crate) fn explain(
        &self,
        upstream: &Upstream,
        url: &Url,
        store: &Arc<AgentAuthStore>,
        checked: Checked,
    ) {
        let has_token = checked
            .login
            .access
            .as_ref()
            .is_some_and(|access| !access.is_blank());
        let credential = if has_token {
            UsageCredential::Login
        } else {
            UsageCredential::Other
        };
        let request = ChatGptUsageProbe.request(&checked.login.provider, checked.event.reason, credential);
        let Some(request) =
            request.filter(|_| self.is_due(holder(store, &checked.profile), &checked.profile))
        else {
            return;
        };
        let (upstream, url, store) = (upstream.clone(), url.clone(), Arc::clone(store));
        tokio::spawn(async move {
            let reply = ask(&upstream, url, request, &checked.login).await;
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
            let change = checked.explained(finding.refine(checked.event.clone(), now));
            if let Err(error) = store.commit(change, SystemClock.now()).await {
                tracing::warn!(%error, "what an account said about its limits was not stored");
            }
        });
    }

    /// Reads the end off what the provider said with the failure (cooldown.md 8.2); true when it said one, which is
    /// told to the store before the failure is.
    pub(crate) fn read_off(body: &[u8], store: &AgentAuthStore, checked: &Checked, now: Timestamp) -> bool {
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
            ..checked.event.clone()
        };
        store.enqueue(checked.explained(event), now);
        true
    }

    /// Whether a request about the login may be sent now; the answer yes counts as sending.
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

/// The file of the store that holds a profile: agents may call logins of their own alike.
fn holder<'s>(store: &'s AgentAuthStore, profile: &ProfileId) -> &'s Path {
    let own = store.agent();
    match store.main() {
        Some(main) if !own.snapshot().profiles.contains_key(profile) => main.path(),
        Some(_) | None => own.path(),
    }
}

/// Status and body; nothing when there is no answer in time.
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
    async fn many_failures_are_one_question_in_half_a_minute() {
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
