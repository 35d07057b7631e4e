//! Records a run while the driver executes it.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange};
use openclaw_ids::ProviderId;
use openclaw_runner::machine::{Event, Machine, RejectedAnswer};
use openclaw_runner::{ChainKind, Repair, RunPolicy, RunRecorder, RunStart, StepRecorder, StepSummary};
use openclaw_session::{Progress, RunSelection};

use super::state::RecordingScope;
use super::{
    RecordedFailure, RecordedOptions, RecordedPolicy, RecordedSelection, RecordedSkip, RecordedStep,
    RunRecording, SessionWrite, StateChanges, StepResult, UsageState, nanos, pin_of,
};
use crate::millis;

/// Takes the recordings of runs from a [`Recorder`].
pub trait RecordingSink: Send + Sync {
    /// Called when a run has ended, before its caller gets the result; it should not block. A run that was dropped is not
    /// recorded.
    fn on_recording(&self, recording: RunRecording);

    /// As [`RunRecorder::has_room`].
    fn has_room(&self, _now: Timestamp) -> bool {
        true
    }

    /// As [`RunRecorder::wants_uneventful`].
    fn wants_uneventful(&self) -> bool {
        true
    }
}

/// Records the runs of a [`Runner`](openclaw_runner::Runner) and hands the recordings to a sink.
#[derive(Debug)]
pub struct Recorder<S: ?Sized>(Arc<S>);

impl<S: RecordingSink + ?Sized> Recorder<S> {
    /// A recorder that hands recordings to `sink`.
    pub fn new(sink: Arc<S>) -> Self {
        Self(sink)
    }
}

impl<S: RecordingSink + ?Sized> RunRecorder for Recorder<S> {
    fn start<'r>(&'r self, start: &RunStart<'r>, machine: &Machine) -> Box<dyn StepRecorder + 'r> {
        Box::new(RecordingBuilder::start(&*self.0, start, machine))
    }

    fn has_room(&self, now: Timestamp) -> bool {
        self.0.has_room(now)
    }

    fn wants_uneventful(&self) -> bool {
        self.0.wants_uneventful()
    }
}

/// A recording that grows with its run.
struct RecordingBuilder<'r, S: ?Sized> {
    sink: &'r S,
    recording: RunRecording,
    policy: Arc<RunPolicy>,
    concern: RecordingScope,
    start: Timestamp,
    /// What the machine knows now.
    snapshot: Arc<AuthSnapshot>,
    /// What a replay would know now.
    mirror: AuthSnapshot,
    /// What came of the step that the machine takes now.
    pending: Option<PendingResult>,
}

/// What came of a step, before the machine took it.
enum PendingResult {
    Failed {
        visible: bool,
        rejected: Option<RejectedAnswer>,
    },
    Result(StepResult),
}

impl<'r, S: RecordingSink + ?Sized> RecordingBuilder<'r, S> {
    /// The tape of a run that `machine` has just been made for, or has not changed the request of since.
    fn start(sink: &'r S, start: &RunStart<'_>, machine: &Machine) -> Self {
        let RunStart {
            options,
            policy,
            auth_skips: skips,
            snapshot,
            now,
        } = start;
        let (now, request) = (*now, machine.request());
        let mut providers: Vec<ProviderId> = Vec::new();
        for model in &request.chain {
            if !providers.contains(model.provider()) {
                providers.push(model.provider().clone());
            }
        }
        let concern = RecordingScope {
            providers,
            pins: request.pin.iter().map(|pin| pin.profile.clone()).collect(),
        };
        let recorded = RecordedPolicy::of(policy, &concern.providers);
        let state = UsageState::of(snapshot, &concern, policy, now);
        let mirror = state.snapshot(policy);
        let started_at = Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now);
        let session = request
            .session
            .as_ref()
            .filter(|_| options.kind == ChainKind::Text);
        let mut auth_skips: Vec<RecordedSkip> = skips
            .iter()
            .map(|(model, marker)| RecordedSkip {
                model: model.clone(),
                reason: marker.reason,
                until: nanos(now, marker.expires()),
            })
            .collect();
        auth_skips.sort_by_key(|skip| skip.model.key());
        let recording = RunRecording {
            run_id: request.run_id.clone(),
            holder: machine.holder().to_owned(),
            started_at,
            started_at_nanos: i32::try_from(nanos(started_at, now)).unwrap_or(0),
            session_id: session.map(|session| session.id.clone()),
            lane: request.lane.clone(),
            requested_provider: request.requested.provider.clone(),
            requested_model: request.requested.model.clone(),
            chain: request.chain.clone(),
            pin: request.pin.as_ref().map(pin_of),
            sticky_profiles: session.map(|session| session.sticky.clone()).unwrap_or_default(),
            options: RecordedOptions::of(options),
            policy: recorded,
            state,
            auth_skips,
            steps: Vec::new(),
        };
        Self {
            sink,
            recording,
            policy: Arc::clone(policy),
            concern,
            start: now,
            snapshot: Arc::clone(snapshot),
            mirror,
            pending: None,
        }
    }

    /// Listens to what came of a step at `now`, before the machine hears it.
    fn result_of(&mut self, step: &StepSummary, event: &Event, now: Timestamp) -> PendingResult {
        let result = match (step, event) {
            (StepSummary::Attempt(..), Event::Failed(_, progress)) => {
                return PendingResult::Failed {
                    visible: *progress == Progress::Visible,
                    rejected: None,
                };
            }
            (StepSummary::Attempt(..), Event::Rejected(rejection, progress)) => {
                return PendingResult::Failed {
                    visible: *progress == Progress::Visible,
                    rejected: Some(RejectedAnswer {
                        preserve: rejection.preserve,
                    }),
                };
            }
            (StepSummary::Attempt(model, profile), Event::OutOfTime) => StepResult::OutOfTime {
                model: model.clone(),
                profile: profile.clone(),
            },
            (StepSummary::Attempt(model, profile), _) => StepResult::Answered {
                model: model.clone(),
                profile: profile.clone(),
            },
            (StepSummary::Commit(change), event) => self.committed(change, event, now),
            (StepSummary::LookForSwitch, Event::Switch(chosen)) => self.looked(chosen.as_deref(), now),
            (StepSummary::LookForSwitch, _) => self.looked(None, now),
            (StepSummary::NoteAuthFailure, _) => StepResult::Noted,
            (StepSummary::Repair(model), event) => StepResult::Repaired {
                model: model.clone(),
                done: matches!(event, Event::Repaired(Repair::Done)),
            },
            (StepSummary::MarkPrimaryProbe, _) => session(SessionWrite::Probe),
            (StepSummary::Persist, _) => session(SessionWrite::Choice),
            (StepSummary::RollBack, _) => session(SessionWrite::WayBack),
            (StepSummary::Sleep(wait), _) => StepResult::Waited {
                ms: millis::whole(*wait),
            },
        };
        PendingResult::Result(result)
    }

    fn committed(&mut self, change: &UsageChange, event: &Event, now: Timestamp) -> StepResult {
        let (snapshot, applied) = match event {
            Event::Committed(snapshot, applied) => (snapshot, applied_name(*applied)),
            Event::CommitFailed(snapshot) => (snapshot, LOST),
            _ => (&self.snapshot, LOST),
        };
        self.snapshot = Arc::clone(snapshot);
        if applied != LOST {
            self.mirror.apply(change, now, &self.policy.auth.cooldowns);
        }
        StepResult::Committed {
            change: change_name(change).to_owned(),
            applied: applied.to_owned(),
            others: self.catch_up(now),
        }
    }

    fn looked(&mut self, chosen: Option<&RunSelection>, now: Timestamp) -> StepResult {
        let Some(chosen) = chosen else {
            return StepResult::Looked {
                chosen: None,
                others: None,
            };
        };
        let provider = chosen.model.provider();
        if !self.concern.providers.contains(provider) {
            self.concern.providers.push(provider.clone());
            // What concerns the chosen model concerns the run from here on.
            self.recording.policy = RecordedPolicy::of(&self.policy, &self.concern.providers);
        }
        self.concern
            .pins
            .extend(chosen.profile.iter().map(|pin| pin.profile.clone()));
        StepResult::Looked {
            chosen: Some(RecordedSelection {
                model: chosen.model.clone(),
                runtime: chosen.runtime.clone(),
                pin: chosen.profile.as_ref().map(pin_of),
            }),
            others: self.catch_up(now),
        }
    }

    /// What others changed that a replay does not know yet; from now on it does.
    fn catch_up(&mut self, now: Timestamp) -> Option<Box<StateChanges>> {
        let expected = UsageState::of(&self.mirror, &self.concern, &self.policy, now);
        let actual = UsageState::of(&self.snapshot, &self.concern, &self.policy, now);
        let others = actual.changes_since(&expected)?;
        others.apply_to(&mut self.mirror, &self.policy);
        Some(Box::new(others))
    }
}

impl<S: RecordingSink + ?Sized> StepRecorder for RecordingBuilder<'_, S> {
    fn on_event(&mut self, step: &StepSummary, event: &Event, now: Timestamp) {
        self.pending = Some(self.result_of(step, event, now));
    }

    fn on_step_done(&mut self, step: &StepSummary, machine: &Machine, now: Timestamp) {
        let result = match (step, self.pending.take()) {
            (_, Some(PendingResult::Result(result))) => result,
            (StepSummary::Attempt(model, profile), Some(PendingResult::Failed { visible, rejected })) => {
                let Some(attempt) = machine.last_failure() else {
                    return;
                };
                StepResult::Failed {
                    model: model.clone(),
                    profile: profile.clone(),
                    failure: Box::new(RecordedFailure::of(attempt, visible, rejected, self.start)),
                }
            }
            (_, Some(PendingResult::Failed { .. }) | None) => return,
        };
        let at = nanos(self.start, now);
        self.recording.steps.push(RecordedStep { at, result });
    }

    fn finish(self: Box<Self>) {
        self.sink.on_recording(self.recording);
    }
}

fn session(wrote: SessionWrite) -> StepResult {
    StepResult::Session { wrote: Some(wrote) }
}

/// A change that could not be written, as recordings name it.
pub(crate) const LOST: &str = "lost";

pub(crate) fn applied_name(applied: ChangeOutcome) -> &'static str {
    match applied {
        ChangeOutcome::Done => "done",
        ChangeOutcome::HeldElsewhere => "heldElsewhere",
        ChangeOutcome::Unchanged => "unchanged",
    }
}

pub(crate) fn change_name(change: &UsageChange) -> &'static str {
    match change {
        UsageChange::Clear { .. } => "clear",
        UsageChange::ClearLane { .. } => "clearLane",
        UsageChange::EndpointFailure { .. } => "endpointFailure",
        UsageChange::EndpointSuccess { .. } => "endpointSuccess",
        UsageChange::StatedEnd { .. } => "explained",
        UsageChange::Failure { .. } => "failure",
        UsageChange::ProbeEnd { .. } => "probeEnd",
        UsageChange::ProbeRenew { .. } => "probeRenew",
        UsageChange::ProbeStart { .. } => "probeStart",
        UsageChange::CoolDown { .. } => "rest",
        UsageChange::Success { .. } => "success",
        UsageChange::Used { .. } => "used",
    }
}
