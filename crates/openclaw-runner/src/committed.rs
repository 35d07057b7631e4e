//! A run whose answer has begun: what is still to be told about it (S9).

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_classify::{Failure, Scope, Verdict, classify};
use openclaw_cooldown::{FailureEvent, MarkScope, SuccessEvent};
use openclaw_session::{
    LiveRun, Progress, RunSelection, SessionEntry, SessionStore, clear_after_probe, live_switch,
};

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
        let Some(session) = &self.session else { return };
        let settled = openclaw_session::update(&*self.sessions, &session.key, |entry| {
            let entry = entry.filter(|entry| entry.session_id == session.id);
            (entry.and_then(|entry| self.settled(entry, session, now)), ())
        });
        if let Err(error) = settled.await {
            warn_lost("end of the turn", &error);
        }
    }

    /// The session after a good answer, if that changes it: a probed primary that answered ends the automatic
    /// override (S-6.7), and a person's mark for the model that just answered is done with (S-12.2c).
    fn settled(&self, entry: &SessionEntry, session: &RunSession, now: Timestamp) -> Option<SessionEntry> {
        let probe = session.probe.as_ref().filter(|_| self.winner.index == 0);
        let cleared = probe.and_then(|probe| clear_after_probe(entry, probe, now));
        let current = cleared.as_ref().unwrap_or(entry);
        let pin = current.profile_pin();
        let run = LiveRun {
            running: RunSelection {
                model: self.winner.candidate.clone(),
                runtime: current.agent_runtime_override.clone(),
                profile: pin.filter(|pin| Some(&pin.profile) == self.winner.profile.as_ref()),
            },
            // The answer stands, so a mark for another model waits for the next turn.
            progress: Progress::Visible,
            redirects: 0,
        };
        let (consumed, _) = live_switch(current, &run, &self.winner.candidate, now);
        consumed.or(cleared)
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
