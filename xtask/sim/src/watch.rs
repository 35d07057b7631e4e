//! Stands between the engine and the store, and writes down what passes.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_auth_store::{Applied, AuthSnapshot, MemoryAuthStore, StoreError, UsageChange, UsageStore};
use openclaw_runner::replay::{RunRecorder, RunRecording};
use openclaw_runner::{DecisionKind, RotationKind, RunEvent, RunObserver};

use crate::trace::{Decided, Event, Kind, Trace};
use crate::trouble::Marks;
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

/// The store of one agent, watched.
pub(crate) struct Watched(pub(crate) MemoryAuthStore);

impl UsageStore for Watched {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        let snapshot = self.0.snapshot();
        note(|trace| trace.view = Arc::clone(&snapshot));
        snapshot
    }

    fn commit(
        &self,
        change: UsageChange,
        now: Timestamp,
    ) -> impl Future<Output = Result<Applied, StoreError>> + Send {
        let wrote = match &change {
            UsageChange::EndpointFailure { .. } => Some(Event::Wrote(Marks::Endpoint, None)),
            UsageChange::Failure { profile, .. } => {
                Some(Event::Wrote(Marks::Profile, Some(profile.to_string())))
            }
            UsageChange::Clear { .. }
            | UsageChange::ClearLane { .. }
            | UsageChange::EndpointSuccess { .. }
            | UsageChange::Explained { .. }
            | UsageChange::ProbeEnd { .. }
            | UsageChange::ProbeRenew { .. }
            | UsageChange::ProbeStart { .. }
            | UsageChange::Rest { .. }
            | UsageChange::Success { .. }
            | UsageChange::Used { .. } => None,
        };
        async move {
            // Others get their turn before and after every write.
            tokio::task::yield_now().await;
            if let Some(wrote) = wrote {
                note(|trace| trace.events.push(wrote));
            }
            let applied = self.0.commit(change, now).await;
            tokio::task::yield_now().await;
            applied
        }
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.0.enqueue(change, now);
    }
}

/// Hears every record of the runs of one agent.
pub(crate) struct Listener {
    pub(crate) world: Arc<World>,
    pub(crate) agent: usize,
}

impl RunObserver for Listener {
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
                    trace.events.push(Event::Decided(Decided {
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
pub(crate) struct Taper;

impl RunRecorder for Taper {
    fn on_recording(&self, recording: RunRecording) {
        note(|trace| trace.recording = Some(recording));
    }
}
