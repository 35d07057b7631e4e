//! Wraps the stores and observers of the engine, and notes in the trace what passes.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, ChangeOutcome, MemoryAuthStore, StoreError, UsageChange, UsageStore,
};
use openclaw_history::recording::{RecordingSink, RunRecording};
use openclaw_ids::SessionKey;
use openclaw_runner::{DecisionKind, RotationKind, RunEvent, RunObserver};
use openclaw_session::{
    CasOutcome, MemorySessionStore, Revision, Rollback, SessionEntry, SessionStore,
    StoreError as SessionError, VersionedEntry,
};

use crate::faults::provider::Marks;
use crate::faults::store_outage::{File, How};
use crate::time::span;
use crate::trace::{DecisionEvent, Event, Kind, Trace};
use crate::world::World;

tokio::task_local! {
    /// The run that the current task carries out.
    pub(crate) static RUN: Arc<Mutex<Trace>>;
}

/// Writes into the trace of the run at hand, if there is one.
pub(crate) fn note(with: impl FnOnce(&mut Trace)) {
    let noted = RUN.try_with(|trace| with(&mut trace.lock().unwrap_or_else(PoisonError::into_inner)));
    // Outside of a run nothing is written down.
    noted.unwrap_or_default();
}

/// The usage state of one agent, watched, and jammed at times.
pub(crate) struct ObservedUsageStore {
    pub(crate) store: Arc<MemoryAuthStore>,
    pub(crate) world: Arc<World>,
    pub(crate) agent: usize,
}

impl UsageStore for ObservedUsageStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        let snapshot = self.store.snapshot();
        note(|trace| trace.view = Arc::clone(&snapshot));
        snapshot
    }

    fn commit(
        &self,
        change: UsageChange,
        now: Timestamp,
    ) -> impl Future<Output = Result<ChangeOutcome, StoreError>> + Send {
        let (mut wrote, mut lease, mut good) = (None, None, None);
        let is_of_a_lease = matches!(
            change,
            UsageChange::ProbeEnd { .. } | UsageChange::ProbeStart { .. }
        );
        match &change {
            UsageChange::EndpointFailure { .. } => wrote = Some(Event::Wrote(Marks::Endpoint, None)),
            UsageChange::Failure { profile, .. } => {
                wrote = Some(Event::Wrote(Marks::Profile, Some(profile.to_string())));
            }
            UsageChange::ProbeStart { provider, .. } => lease = Some(provider.to_string()),
            UsageChange::Success { profile, .. } => {
                good = profile
                    .as_str()
                    .split_once(':')
                    .map(|(provider, _)| provider.to_owned());
            }
            UsageChange::Clear { .. }
            | UsageChange::ClearLane { .. }
            | UsageChange::EndpointSuccess { .. }
            | UsageChange::StatedEnd { .. }
            | UsageChange::ProbeEnd { .. }
            | UsageChange::ProbeRenew { .. }
            | UsageChange::CoolDown { .. }
            | UsageChange::Used { .. } => {}
        }
        async move {
            // Others get their turn before and after every write.
            tokio::task::yield_now().await;
            if let Some(wrote) = wrote {
                note(|trace| trace.events.push(wrote));
            }
            let jam = self.world.jam(self.agent, File::Usage);
            if jam.is_some() {
                note(|trace| trace.events.push(Event::Lost(File::Usage)));
                let late = match jam {
                    Some(How::Late(after)) => after,
                    Some(How::Forgotten | How::Kept) | None => 0,
                };
                if is_of_a_lease {
                    // It ends by itself, as that of a process that died.
                    self.world.lease_left(self.agent, late);
                }
                if let Some(provider) = good {
                    // No process learns that it answered.
                    self.world.unanswered(self.agent, &provider);
                }
            }
            let applied = match jam {
                None => self.store.commit(change, now).await,
                Some(How::Forgotten) => Err(full()),
                Some(How::Kept) => {
                    self.store.enqueue(change, now);
                    Err(full())
                }
                Some(How::Late(after)) => {
                    // What was handed over is written, also when no caller waits for it.
                    let store = Arc::clone(&self.store);
                    let writing = tokio::spawn(async move {
                        tokio::time::sleep(span(after)).await;
                        store.commit(change, now).await
                    });
                    writing.await.unwrap_or(Err(StoreError::Closed))
                }
            };
            if let Some(provider) = lease {
                let given = matches!(applied, Ok(ChangeOutcome::Done | ChangeOutcome::Unchanged));
                note(|trace| trace.events.push(Event::Leased(provider, given)));
            }
            tokio::task::yield_now().await;
            applied
        }
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.store.enqueue(change, now);
    }
}

fn full() -> StoreError {
    StoreError::Full { path: "usage".into() }
}

/// The sessions of one agent as its runs see them, jammed at times. What people do is not.
#[derive(Clone)]
pub(crate) struct ObservedSessionStore {
    pub(crate) store: Arc<MemorySessionStore>,
    pub(crate) world: Arc<World>,
    pub(crate) agent: usize,
    /// Whatever was handed over keeps its place, also when no caller waits for it any more.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
}

impl SessionStore for ObservedSessionStore {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, SessionError> {
        tokio::task::yield_now().await;
        let _turn = self.turn.lock().await;
        self.store.load(key).await
    }

    async fn compare_and_set(
        &self,
        key: &SessionKey,
        expected: Revision,
        entry: SessionEntry,
    ) -> Result<CasOutcome, SessionError> {
        tokio::task::yield_now().await;
        let jam = self.world.jam(self.agent, File::Sessions);
        if jam.is_some() {
            note(|trace| trace.events.push(Event::Lost(File::Sessions)));
        }
        let late = match jam {
            None if self.turn.try_lock().is_ok() => {
                return self.store.compare_and_set(key, expected, entry).await;
            }
            None => 0,
            Some(How::Forgotten) => return Err(SessionError::Closed),
            Some(How::Kept) => {
                // It is stored, and the process does not learn of it.
                self.store.compare_and_set(key, expected, entry).await?;
                return Err(SessionError::Closed);
            }
            Some(How::Late(after)) => after,
        };
        let (this, key) = (self.clone(), key.clone());
        let writing = tokio::spawn(async move {
            let _turn = this.turn.lock().await;
            tokio::time::sleep(span(late)).await;
            this.store.compare_and_set(&key, expected, entry).await
        });
        writing.await.unwrap_or(Err(SessionError::Closed))
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        if self.turn.try_lock().is_ok() {
            self.store.enqueue_rollback(key, rollback, now);
            return;
        }
        let (this, key) = (self.clone(), key.clone());
        tokio::spawn(async move {
            let _turn = this.turn.lock().await;
            this.store.enqueue_rollback(&key, rollback, now);
        });
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, SessionError> {
        self.store.list().await
    }
}

/// Hears every record of the runs of one agent.
pub(crate) struct DecisionListener {
    pub(crate) world: Arc<World>,
    pub(crate) agent: usize,
}

impl RunObserver for DecisionListener {
    fn on_event(&self, event: &RunEvent) {
        let at = self.world.now();
        match event {
            RunEvent::Candidate(decision) => {
                let kind = match decision.kind {
                    DecisionKind::CandidateFailed => Kind::Failed,
                    DecisionKind::CandidateSucceeded => Kind::Succeeded,
                    DecisionKind::ProbeCooldownCandidate => Kind::Probed,
                    DecisionKind::SkipCandidate => Kind::Skipped,
                };
                let truth = (kind == Kind::Skipped && decision.attempt == 1).then(|| {
                    self.world
                        .truth(self.agent, decision.candidate.provider().as_str())
                });
                note(|trace| {
                    let view = Arc::clone(&trace.view);
                    trace.events.push(Event::DecisionEvent(DecisionEvent {
                        kind,
                        candidate: decision.attempt - 1,
                        reason: decision.reason,
                        text: decision
                            .error
                            .error_preview
                            .as_deref()
                            .unwrap_or_default()
                            .to_owned(),
                        last_resort: decision.last_resort == Some(true),
                        at,
                        view,
                        truth,
                    }));
                });
            }
            RunEvent::Rotation(rotation) => match rotation.kind {
                RotationKind::FallbackModel | RotationKind::SurfaceError => {}
                RotationKind::InlineWait | RotationKind::RetryRepaired | RotationKind::WaitForReset => {
                    note(|trace| trace.events.push(Event::Again));
                }
                RotationKind::Redirect => note(|trace| trace.events.push(Event::Redirected)),
                RotationKind::RotateProfile => note(|trace| trace.events.push(Event::Rotated)),
            },
        }
    }
}

/// Keeps the recording of a run with its trace.
pub(crate) struct SampledRecorder;

impl RecordingSink for SampledRecorder {
    fn on_recording(&self, recording: RunRecording) {
        note(|trace| trace.recording = Some(recording));
    }
}
