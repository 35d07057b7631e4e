//! Records a run as the driver carries it out.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_session::{Progress, RunSelection};

use super::failure::RecordedFailure;
use super::options::RecordedOptions;
use super::policy::RecordedPolicy;
use super::quiet::Beginning;
use super::recording::{
    RecordedSelection, RecordedSkip, RecordedStep, RunRecording, SessionWrite, StepResult, nanos, pin_of,
};
use super::state::{Concern, StateChanges, UsageState};
use crate::attempt::Repair;
use crate::machine::{Event, Machine, RejectedAnswer, Step};
use crate::millis;
use crate::request::{ChainKind, RunPolicy};

/// A recording that grows with its run.
pub(crate) struct Tape {
    recording: RunRecording,
    policy: Arc<RunPolicy>,
    concern: Concern,
    start: Timestamp,
    /// What the machine knows now.
    snapshot: Arc<AuthSnapshot>,
    /// What a replay would know now.
    mirror: AuthSnapshot,
}

/// A step that was taken, until it is known what came of it.
pub(crate) enum Taken {
    Attempt(ModelRef, Option<ProfileId>),
    Commit(UsageChange),
    Look,
    Note,
    Repair(ModelRef),
    Session(SessionWrite),
    Wait(u64),
}

/// What came of a step, before the machine took it.
pub(crate) enum Heard {
    Failed {
        visible: bool,
        rejected: Option<RejectedAnswer>,
    },
    Result(StepResult),
}

impl Tape {
    /// The tape of a run that `machine` has just been made for, or has not changed the request of since.
    pub(super) fn start(beginning: &Beginning<'_>, machine: &Machine) -> Self {
        let Beginning {
            options,
            policy,
            skips,
            snapshot,
            now,
        } = beginning;
        let (now, request) = (*now, machine.request());
        let mut providers: Vec<ProviderId> = Vec::new();
        for model in &request.chain {
            if !providers.contains(model.provider()) {
                providers.push(model.provider().clone());
            }
        }
        let concern = Concern {
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
            options: RecordedOptions::of(options),
            policy: recorded,
            state,
            auth_skips,
            steps: Vec::new(),
        };
        Self {
            recording,
            policy: Arc::clone(policy),
            concern,
            start: now,
            snapshot: Arc::clone(snapshot),
            mirror,
        }
    }

    /// What `step` is about; none for the end of the run.
    pub(crate) fn taken(step: &Step) -> Option<Taken> {
        Some(match step {
            Step::Attempt(call) => Taken::Attempt(call.candidate.clone(), call.profile.clone()),
            Step::Commit(change) => Taken::Commit(change.clone()),
            Step::Finish(_) => return None,
            Step::LookForSwitch(..) => Taken::Look,
            Step::MarkPrimaryProbe => Taken::Session(SessionWrite::Probe),
            Step::NoteAuthFailure(..) => Taken::Note,
            Step::Persist(_) => Taken::Session(SessionWrite::Choice),
            Step::Repair(call, _) => Taken::Repair(call.candidate.clone()),
            Step::RollBack(_) => Taken::Session(SessionWrite::WayBack),
            Step::Sleep(wait) => Taken::Wait(millis::whole(*wait)),
        })
    }

    /// Listens to what came of a step at `now`, before the machine hears it.
    pub(crate) fn hear(&mut self, taken: &Taken, event: &Event, now: Timestamp) -> Heard {
        let result = match (taken, event) {
            (Taken::Attempt(..), Event::Failed(_, progress)) => {
                return Heard::Failed {
                    visible: *progress == Progress::Visible,
                    rejected: None,
                };
            }
            (Taken::Attempt(..), Event::Rejected(rejection, progress)) => {
                return Heard::Failed {
                    visible: *progress == Progress::Visible,
                    rejected: Some(RejectedAnswer {
                        preserve: rejection.preserve,
                    }),
                };
            }
            (Taken::Attempt(model, profile), Event::OutOfTime) => StepResult::OutOfTime {
                model: model.clone(),
                profile: profile.clone(),
            },
            (Taken::Attempt(model, profile), _) => StepResult::Answered {
                model: model.clone(),
                profile: profile.clone(),
            },
            (Taken::Commit(change), event) => self.committed(change, event, now),
            (Taken::Look, Event::Switch(chosen)) => self.looked(chosen.as_deref(), now),
            (Taken::Look, _) => self.looked(None, now),
            (Taken::Note, _) => StepResult::Noted,
            (Taken::Repair(model), event) => StepResult::Repaired {
                model: model.clone(),
                done: matches!(event, Event::Repaired(Repair::Done)),
            },
            (Taken::Session(wrote), _) => StepResult::Session { wrote: Some(*wrote) },
            (Taken::Wait(ms), _) => StepResult::Waited { ms: *ms },
        };
        Heard::Result(result)
    }

    /// Writes down a step, once the machine has heard what came of it.
    pub(crate) fn note(&mut self, taken: &Taken, heard: Heard, machine: &Machine, now: Timestamp) {
        let result = match (taken, heard) {
            (_, Heard::Result(result)) => result,
            (Taken::Attempt(model, profile), Heard::Failed { visible, rejected }) => {
                let Some(attempt) = machine.judgement() else {
                    return;
                };
                StepResult::Failed {
                    model: model.clone(),
                    profile: profile.clone(),
                    failure: Box::new(RecordedFailure::of(attempt, visible, rejected, self.start)),
                }
            }
            (_, Heard::Failed { .. }) => return,
        };
        let at = nanos(self.start, now);
        self.recording.steps.push(RecordedStep { at, result });
    }

    /// The recording of a run that has ended.
    pub(crate) fn finish(self) -> RunRecording {
        self.recording
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

pub(super) const LOST: &str = "lost";

pub(super) fn applied_name(applied: ChangeOutcome) -> &'static str {
    match applied {
        ChangeOutcome::Done => "done",
        ChangeOutcome::HeldElsewhere => "heldElsewhere",
        ChangeOutcome::Unchanged => "unchanged",
    }
}

pub(super) fn change_name(change: &UsageChange) -> &'static str {
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
