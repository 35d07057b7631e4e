//! A run whose answer has begun: what is still to be told about it (S9).

use std::sync::Arc;

use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_classify::{Failure, Scope, Verdict, classify};
use openclaw_cooldown::{FailureEvent, MarkScope, SuccessEvent};
use openclaw_session::SessionStore;

use crate::clock::Clock;
use crate::driver::effects::warn_lost;
use crate::error::RunReport;
use crate::machine::{Standing, Winner};
use crate::request::RunSession;

/// A candidate answered.
#[derive(Debug)]
pub struct Completed<T, C, U, S> {
    /// What the attempt yielded.
    pub value: T,
    /// Who answered.
    pub winner: Winner,
    /// What was decided on the way.
    pub report: RunReport,
    /// To be told how the answer ended.
    pub run: CommittedRun<C, U, S>,
}

/// Tells the stores how an answer ended. Dropping it says nothing: the caller went away, which is nobody's fault.
#[must_use = "tell it `finished` or `failed_late`; dropping it leaves no mark"]
pub struct CommittedRun<C, U, S> {
    pub(crate) clock: Arc<C>,
    pub(crate) usage: Arc<U>,
    pub(crate) sessions: Arc<S>,
    pub(crate) winner: Winner,
    pub(crate) session: Option<RunSession>,
}

impl<C, U, S> std::fmt::Debug for CommittedRun<C, U, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommittedRun")
            .field("winner", &self.winner)
            .finish_non_exhaustive()
    }
}

impl<C: Clock, U: UsageStore, S: SessionStore> CommittedRun<C, U, S> {
    /// The answer is whole: the credential proved good (D10), and a probe of the session's primary that
    /// answered ends the automatic override (S-6.7).
    pub async fn finished(self) {
        if self.winner.standing == Standing::Preserved {
            // Its candidate failed, and was marked for it.
            return;
        }
        let now = self.clock.now();
        if let Some(profile) = &self.winner.profile {
            let event = SuccessEvent {
                model: Some(self.winner.candidate.model().clone()),
                started_at: Some(self.winner.started_at),
            };
            let change = UsageChange::Success {
                profile: profile.clone(),
                event,
            };
            if let Err(error) = self.usage.commit(change, now).await {
                warn_lost("success mark", &error);
            }
        }
        let Some(session) = self.session.as_ref().filter(|_| self.winner.index == 0) else {
            return;
        };
        let Some(probe) = &session.probe else { return };
        let cleared = openclaw_session::update(&*self.sessions, &session.key, |entry| {
            (
                entry.and_then(|entry| openclaw_session::clear_after_probe(entry, probe, now)),
                (),
            )
        });
        if let Err(error) = cleared.await {
            warn_lost("end of the automatic override", &error);
        }
    }

    /// The answer broke off after its first content. The failure is marked like any other, and returned as it
    /// was judged; the visible answer is never started again.
    pub async fn failed_late(self, failure: &Failure) -> Option<Verdict> {
        let now = self.clock.now();
        let verdict = classify(failure, now)?;
        let scope = match verdict.scope {
            Scope::Model => MarkScope::Model,
            Scope::Profile => MarkScope::Profile,
            // The connection was made and content came, so the route itself is not at fault.
            Scope::Endpoint | Scope::None => return Some(verdict),
        };
        let Some(profile) = self.winner.profile.clone() else {
            return Some(verdict);
        };
        let event = FailureEvent {
            provider: self.winner.candidate.provider().clone(),
            reason: verdict.reason,
            scope,
            model: Some(self.winner.candidate.model().clone()),
            hint: verdict.hint.clone(),
            started_at: Some(self.winner.started_at),
        };
        if let Err(error) = self
            .usage
            .commit(UsageChange::Failure { profile, event }, now)
            .await
        {
            warn_lost("late failure", &error);
        }
        Some(verdict)
    }
}
