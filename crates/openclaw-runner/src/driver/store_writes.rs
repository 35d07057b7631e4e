//! Executes the machine's reads and writes of the stores.

use std::sync::{MutexGuard, PoisonError};

use openclaw_auth_store::{ChangeOutcome, UsageChange, UsageStore};
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;
use openclaw_session::{
    FallbackChoice, LiveRun, LiveSwitch, PersistOutcome, Rollback, RunSelection, SessionStore, live_switch,
};

use super::Runner;
use super::cancel_guard::CancelGuard;
use crate::clock::Clock;
use crate::driver::active_sessions::ActiveSession;
use crate::driver::store_timeout::{StoreFailure, within_timeout};
use crate::machine::Event;
use crate::observer::LostWrite;
use crate::skip_cache::SkipCache;

impl<C: Clock, U: UsageStore, S: SessionStore> Runner<C, U, S> {
    pub(super) async fn commit(
        &self,
        run_id: &str,
        change: UsageChange,
        undo: &mut CancelGuard<'_, C, U, S>,
    ) -> Event {
        let ends = matches!(change, UsageChange::ProbeEnd { .. });
        if let UsageChange::ProbeStart { provider, holder } = &change {
            // Armed before the write: a run dropped in the middle of it still gives the lease back.
            undo.lease = Some((provider.clone(), holder.clone()));
        }
        let written = self
            .watcher
            .commit(&*self.usage, run_id, change, self.clock.now());
        match within_timeout(written).await {
            Ok(applied) => {
                if ends || applied == ChangeOutcome::HeldElsewhere {
                    undo.lease = None;
                }
                Event::Committed(self.usage.snapshot(), applied)
            }
            Err(error) => {
                self.watcher.lost(LostWrite::UsageState, &error);
                // The engine may hold in memory what it could not write.
                Event::CommitFailed(self.usage.snapshot())
            }
        }
    }

    /// Writes the choice; `undo` is armed before the write, so that a run dropped in the middle of it is undone.
    pub(super) async fn persist(
        &self,
        busy: Option<&ActiveSession>,
        change: &FallbackChoice,
        undo: &mut Option<Rollback>,
    ) {
        let Some(busy) = busy else { return };
        let now = self.clock.now();
        let written = openclaw_session::update(&*self.sessions, &busy.session.key, |entry| {
            *undo = None;
            let (Some(entry), Some(session_id)) = (entry, busy.transcript()) else {
                return (None, ());
            };
            let change = FallbackChoice {
                session_id,
                ..change.clone()
            };
            let (entry, persisted) = openclaw_session::persist_fallback(entry, &change, now);
            match persisted {
                PersistOutcome::Written(rollback) => *undo = Some(rollback),
                PersistOutcome::Skipped(cause) => {
                    tracing::debug!(?cause, "fallback choice not written to the session");
                }
            }
            (entry, ())
        });
        if let Err(error) = within_timeout(written).await {
            // S-3.7: the attempt goes ahead; a write that did happen is still taken back when it fails.
            self.watcher.lost(LostWrite::Choice, &error);
        }
    }

    pub(super) async fn roll_back(&self, busy: Option<&ActiveSession>, rollback: &Rollback) {
        let Some(busy) = busy else { return };
        let now = self.clock.now();
        let undone = openclaw_session::update(&*self.sessions, &busy.session.key, |entry| {
            let undone = entry.zip(busy.transcript()).and_then(|(entry, transcript)| {
                // What was written moved along with a compaction.
                let rollback = rollback.clone().with_session_id(transcript);
                openclaw_session::roll_back(entry, &rollback, now)
            });
            (undone, ())
        });
        if let Err(error) = within_timeout(undone).await {
            // S-4.4: the attempt's own failure matters more.
            self.watcher.lost(LostWrite::Rollback, &error);
            if let (StoreFailure::Busy, Some(transcript)) = (error, busy.transcript()) {
                // It may not even have been read yet; undone twice is undone once.
                let rollback = rollback.clone().with_session_id(transcript);
                self.sessions.enqueue_rollback(&busy.session.key, rollback, now);
            }
        }
    }

    pub(super) fn note_auth_failure(
        &self,
        busy: Option<&ActiveSession>,
        candidate: ModelRef,
        reason: Reason,
    ) {
        let Some(transcript) = busy.and_then(ActiveSession::transcript) else {
            return;
        };
        let (ttl, now) = (self.policy.settings.auth_skip_ttl, self.clock.now());
        self.skips().record(transcript, candidate, reason, ttl, now);
    }

    /// Ends what [`note_auth_failure`](Self::note_auth_failure) noted of a candidate that answers now (F-1).
    pub(super) fn note_good_login(&self, busy: Option<&ActiveSession>, candidate: &ModelRef) {
        if self.policy.settings.auth_skip_ttl.is_zero() {
            return;
        }
        if let Some(transcript) = busy.and_then(ActiveSession::transcript) {
            self.skips().forget(&transcript, candidate);
        }
    }

    pub(super) fn skips(&self) -> MutexGuard<'_, SkipCache> {
        // Markers are whole values, so a panic elsewhere leaves nothing half done.
        self.skips.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The model that a person marked meanwhile; the mark is consumed before the run goes there (S-12.2d).
    pub(super) async fn look_for_switch(
        &self,
        busy: Option<&ActiveSession>,
        run: &LiveRun,
        default: &ModelRef,
    ) -> Option<Box<RunSelection>> {
        let busy = busy?;
        let now = self.clock.now();
        let looked = openclaw_session::update(&*self.sessions, &busy.session.key, |entry| {
            let transcript = busy.transcript();
            let Some(entry) = entry.filter(|entry| Some(&entry.session_id) == transcript.as_ref()) else {
                return (None, None);
            };
            let (consumed, found) = live_switch(entry, run, default, now);
            match found {
                LiveSwitch::Switch(target) => (consumed, Some(Box::new(target))),
                LiveSwitch::Satisfied | LiveSwitch::Unmarked | LiveSwitch::Waits => (consumed, None),
            }
        });
        match within_timeout(looked).await {
            Ok(found) => found,
            Err(error) => {
                self.watcher.lost(LostWrite::Switch, &error);
                None
            }
        }
    }

    pub(super) async fn mark_primary_probe(&self, busy: Option<&ActiveSession>) {
        let Some((busy, probe)) = busy.and_then(|busy| Some((busy, busy.session.probe.as_ref()?))) else {
            return;
        };
        let now = self.clock.now();
        let marked = openclaw_session::update(&*self.sessions, &busy.session.key, |entry| {
            let entry = entry.filter(|_| busy.transcript().is_some());
            (
                entry.and_then(|entry| openclaw_session::mark_probe(entry, probe, now)),
                (),
            )
        });
        if let Err(error) = within_timeout(marked).await {
            self.watcher.lost(LostWrite::ProbeMark, &error);
        }
    }
}
