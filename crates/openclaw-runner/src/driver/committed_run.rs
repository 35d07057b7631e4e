//! A run whose answer has begun: its caller reports how the answer ended (S9).

use std::sync::Arc;

use openclaw_auth_store::{UsageChange, UsageStore};
use openclaw_classify::{Failure, Verdict, classify};
use openclaw_cooldown::SuccessEvent;
use openclaw_session::{Notice, NoticeOutbox, SessionEntry, SessionStore, acknowledge_notice};

use crate::clock::Clock;
use crate::driver::committed_turn::CommittedTurn;
use crate::driver::store_timeout::within_timeout;
use crate::machine::failure_event::failure_event;
use crate::machine::{Standing, Winner};
use crate::observer::{LostWrite, Watcher};
use crate::record::report::RunReport;

/// A candidate answered.
#[derive(Debug)]
pub struct CompletedRun<T, C, U, S> {
    /// What the attempt yielded.
    pub value: T,
    /// Who answered.
    pub winner: Winner,
    /// What was decided on the way.
    pub report: RunReport,
    /// To be told how the answer ended.
    pub run: CommittedRun<C, U, S>,
}

/// Tells the stores how an answer ended. Dropping it records nothing: the caller
/// went away, which is no failure.
#[must_use = "tell it `finished` or `failed_late`; dropping it leaves no mark"]
pub struct CommittedRun<C, U, S> {
    pub(crate) clock: Arc<C>,
    pub(crate) usage: Arc<U>,
    pub(crate) sessions: Arc<S>,
    pub(crate) desk: Arc<NoticeOutbox>,
    pub(crate) watcher: Watcher,
    pub(crate) run_id: String,
    pub(crate) winner: Winner,
    pub(crate) turn: Option<CommittedTurn>,
}

impl<C, U, S> std::fmt::Debug for CommittedRun<C, U, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommittedRun")
            .field("winner", &self.winner)
            .finish_non_exhaustive()
    }
}

impl<C: Clock, U: UsageStore, S: SessionStore> CommittedRun<C, U, S> {
    /// A stream shows its first content: what people are to be told before it (S-10, S4). From now on the session is
    /// known to be on the fallback that answers; that its own model answers again is only known at the end (S9).
    ///
    /// The caller delivers a returned notice to the user.
    pub async fn begun(&self) -> Option<Notice> {
        let turn = self.turn.as_ref()?;
        let now = self.clock.now();
        let begun = self.update(turn, |entry| turn.begun(entry, &self.winner, now));
        self.take_notice(turn, begun.await?).await
    }

    /// The answer is whole: the credential proved good (D10), a probe of the session's primary that answered ends
    /// the automatic override (S-6.7), and the session remembers who answered (S-11.4). What people are to be told
    /// stays stored, for the session's next answer.
    pub async fn finished(self) {
        self.settle().await;
    }

    /// As [`finished`](Self::finished), for an answer that was not shown yet: what people are to be told with it
    /// (S-10, S4). The caller delivers a returned notice to the user.
    pub async fn finished_unseen(self) -> Option<Notice> {
        let entry = self.settle().await?;
        self.take_notice(self.turn.as_ref()?, entry).await
    }

    /// Tells the stores of a good answer; returns the session as it is then.
    async fn settle(&self) -> Option<SessionEntry> {
        if self.winner.standing == Standing::Preserved {
            // Its candidate failed, and was marked for it.
            return None;
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
            let written = self.watcher.commit(&*self.usage, &self.run_id, change, now);
            if let Err(error) = within_timeout(written).await {
                self.watcher.lost(LostWrite::SuccessMark, &error);
            }
        }
        let turn = self.turn.as_ref()?;
        self.update(turn, |entry| turn.finished(entry, &self.winner, now))
            .await
    }

    /// Changes the session while it is the run's own (S-13 hazard 5); returns it as it is then.
    async fn update(
        &self,
        turn: &CommittedTurn,
        change: impl Fn(&SessionEntry) -> SessionEntry + Send + Sync,
    ) -> Option<SessionEntry> {
        let updated = openclaw_session::update(&*self.sessions, &turn.busy.session.key, |entry| {
            let transcript = turn.busy.transcript();
            let Some(entry) = entry.filter(|entry| Some(&entry.session_id) == transcript.as_ref()) else {
                return (None, None);
            };
            let next = change(entry);
            ((next != *entry).then(|| next.clone()), Some(next))
        });
        match within_timeout(updated).await {
            Ok(entry) => entry,
            Err(error) => {
                self.watcher.lost(LostWrite::Answer, &error);
                None
            }
        }
    }

    /// Takes the notice that `entry` holds and notes in the session that it is handed over (S4).
    async fn take_notice(&self, turn: &CommittedTurn, entry: SessionEntry) -> Option<Notice> {
        let key = &turn.busy.session.key;
        let notice = self
            .desk
            .take(key, &entry)
            .filter(|_| turn.busy.session.kind.rights().notifies)?;
        let acknowledged = openclaw_session::update(&*self.sessions, key, |entry| {
            (entry.and_then(|entry| acknowledge_notice(entry, &notice.id)), ())
        });
        match within_timeout(acknowledged).await {
            Ok(()) => self.desk.release(key, &notice.id),
            // It stays taken, so that it is not told twice.
            Err(error) => self.watcher.lost(LostWrite::Notice, &error),
        }
        Some(notice)
    }

    /// The answer broke off after its first content. The failure is marked like any other, and returned as it
    /// was judged; the visible answer is never started again.
    pub async fn failed_late(self, failure: &Failure) -> Option<Verdict> {
        let now = self.clock.now();
        let verdict = classify(failure, now)?;
        let started_at = Some(self.winner.started_at);
        // The connection was made and content came, so the route itself is not at fault.
        let Some(event) = failure_event(&self.winner.candidate, &verdict, started_at) else {
            return Some(verdict);
        };
        let Some(profile) = self.winner.profile.clone() else {
            return Some(verdict);
        };
        let change = UsageChange::Failure { profile, event };
        let marked = self.watcher.commit(&*self.usage, &self.run_id, change, now);
        if let Err(error) = within_timeout(marked).await {
            self.watcher.lost(LostWrite::LateFailure, &error);
        }
        Some(verdict)
    }
}
