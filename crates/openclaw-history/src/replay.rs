//! Plays recorded runs again: to check that the same circumstances lead to the same decisions, and to see what other
//! settings or another chain would have led to.

mod outcome;
mod simulate;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, UsageChange};
use openclaw_chain::Requested;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId, SessionKey};
use openclaw_runner::machine::{ClassifiedFailure, Event, Machine, Outcome, Step};
use openclaw_runner::{
    AttemptCall, Marker, Markers, PersistPolicy, Repair, RunPolicy, RunReport, RunRequest, RunSession,
};
use openclaw_session::{Progress, RunSelection, SelectionSnapshot, TurnKind};

use crate::millis;
use crate::recording::recorder::{LOST, applied_name, change_name};
use crate::recording::{RecordedFailure, RunRecording, SessionWrite, StepResult, pinned};

pub use outcome::{ReplayEnding, ReplayError, ReplayOverrides, ReplayResult};
pub use simulate::{Simulation, simulate};

/// Plays `recording` as it was, or under other circumstances.
///
/// As long as the run takes the steps that were recorded, each ends when it ended and as it ended; under the same
/// circumstances that is all of it, and every record comes out as it was, byte for byte. From the first other step on,
/// calls end as the recorded ones of the same candidate and credential did, and the run is over at a call that was not
/// recorded. No other process writes usage state meanwhile, and no user
/// chooses another model.
///
/// # Errors
/// [`ReplayError`] for a recording of another version.
pub fn replay(
    recording: &RunRecording,
    circumstances: &ReplayOverrides,
) -> Result<ReplayResult, ReplayError> {
    let policy = match &circumstances.policy {
        Some(policy) => Arc::clone(policy),
        None => Arc::new(recording.policy.policy().map_err(ReplayError::Policy)?),
    };
    let chain = circumstances
        .chain
        .clone()
        .unwrap_or_else(|| recording.chain.clone());
    Playback::new(recording, policy, chain).play()
}

struct Playback<'a> {
    recording: &'a RunRecording,
    policy: Arc<RunPolicy>,
    machine: Machine,
    snapshot: AuthSnapshot,
    now: Timestamp,
    /// The recorded step that comes next; none once the run went another way.
    next: Option<usize>,
    steps_as_recorded: usize,
    calls: Vec<(ModelRef, Option<ProfileId>)>,
    /// Recorded calls that were answered with already.
    used: Vec<usize>,
}

/// What the driver would say, or how the run ends.
enum Reply {
    Event(Event),
    End(ReplayEnding),
}

impl<'a> Playback<'a> {
    fn new(recording: &'a RunRecording, policy: Arc<RunPolicy>, chain: Vec<ModelRef>) -> Self {
        let snapshot = recording.state.snapshot(&policy).with_current_secrets();
        let now = recording.start();
        let request = RunRequest {
            run_id: recording.run_id.clone(),
            session: recording
                .session_id
                .clone()
                .and_then(|id| session(id, &recording.sticky_profiles)),
            lane: recording.lane.clone(),
            requested: Requested {
                provider: recording.requested_provider.clone(),
                model: recording.requested_model.clone(),
            },
            chain,
            pin: recording.pin.as_ref().map(pinned),
        };
        let skips: Markers = recording
            .auth_skips
            .iter()
            .map(|skip| {
                (
                    skip.model.clone(),
                    Marker::new(skip.reason, recording.after(skip.until)),
                )
            })
            .collect();
        let machine = Machine::new(
            request,
            Arc::clone(&policy),
            recording.holder.clone(),
            Arc::new(snapshot.clone()),
            now,
        )
        .with_options(&recording.options.options())
        .with_auth_skips(skips);
        Self {
            recording,
            policy,
            machine,
            snapshot,
            now,
            next: Some(0),
            steps_as_recorded: 0,
            calls: Vec::new(),
            used: Vec::new(),
        }
    }

    fn play(mut self) -> Result<ReplayResult, ReplayError> {
        for _ in 0..self.machine.max_steps() {
            let step = loop {
                self.pass_session_steps();
                if let Some(step) = self.machine.turn() {
                    break step;
                }
            };
            let reply = match step {
                Step::Finish(outcome) => return Ok(self.finished(*outcome)),
                step => self.reply(&step)?,
            };
            match reply {
                Reply::Event(event) => self.machine.on(event, self.now),
                Reply::End(ending) => return Ok(self.ended(ending)),
            }
        }
        let outcome = self.machine.give_up();
        Ok(self.finished(outcome))
    }

    /// Writing the session decides nothing, but it takes time: what was decided before was decided earlier.
    fn pass_session_steps(&mut self) {
        while let Some(step) = self.next.and_then(|next| self.recording.steps.get(next)) {
            let StepResult::Session { wrote } = step.result else {
                return;
            };
            let is_due = match wrote {
                Some(SessionWrite::Choice | SessionWrite::Probe) => self.machine.is_about_to_begin(),
                Some(SessionWrite::WayBack) => self.machine.has_left(),
                None => self.machine.is_about_to_begin() || self.machine.has_left(),
            };
            if !is_due {
                return;
            }
            self.take();
            self.machine.on(Event::Done, self.now);
        }
    }

    /// Goes on to the next recorded step, at the end of this one.
    fn take(&mut self) {
        if let Some(next) = self.next {
            if let Some(step) = self.recording.steps.get(next) {
                self.now = self.recording.after(step.at);
            }
            self.next = Some(next + 1);
            self.steps_as_recorded = next + 1;
        }
    }

    fn reply(&mut self, step: &Step) -> Result<Reply, ReplayError> {
        let recorded = self
            .next
            .and_then(|next| Some((next, &self.recording.steps.get(next)?.result)));
        if let Some((index, result)) = recorded
            && is_same(step, result)
        {
            self.take();
            return self.as_recorded(step, index, result);
        }
        self.next = None;
        self.otherwise(step)
    }

    /// What was recorded of this very step.
    fn as_recorded(&mut self, step: &Step, index: usize, result: &StepResult) -> Result<Reply, ReplayError> {
        Ok(Reply::Event(match (step, result) {
            (Step::Attempt(call), result) => {
                self.call(call);
                self.used.push(index);
                self.outcome(index, result)?
            }
            (Step::Commit(change), StepResult::Committed { applied, others, .. }) => {
                let folded = (applied != LOST).then(|| self.fold(change));
                if let Some(others) = others {
                    others.apply_to(&mut self.snapshot, &self.policy);
                }
                let snapshot = Arc::new(self.snapshot.clone());
                match folded {
                    None => Event::CommitFailed(snapshot),
                    Some(folded) => Event::Committed(snapshot, named(applied).unwrap_or(folded)),
                }
            }
            (Step::LookForSwitch(..), StepResult::Looked { chosen, others }) => {
                if let Some(others) = others {
                    // The machine goes on with what it knew before; the new provider's part was among it.
                    others.apply_to(&mut self.snapshot, &self.policy);
                    self.machine.learn(Arc::new(self.snapshot.clone()));
                }
                Event::Switch(chosen.as_ref().map(|chosen| {
                    Box::new(RunSelection {
                        model: chosen.model.clone(),
                        runtime: chosen.runtime.clone(),
                        profile: chosen.pin.as_ref().map(pinned),
                    })
                }))
            }
            (Step::Repair(..), StepResult::Repaired { done: true, .. }) => Event::Repaired(Repair::Done),
            (Step::Repair(..), _) => Event::Repaired(Repair::None),
            (_, _) => Event::Done,
        }))
    }

    /// What may be assumed of a step that was not recorded.
    fn otherwise(&mut self, step: &Step) -> Result<Reply, ReplayError> {
        Ok(Reply::Event(match step {
            Step::Attempt(call) => {
                self.call(call);
                return self.recall(call);
            }
            Step::Commit(change) => {
                let applied = self.fold(change);
                Event::Committed(Arc::new(self.snapshot.clone()), applied)
            }
            Step::LookForSwitch(..) => Event::Switch(None),
            Step::Persist(_) => Event::Persisted(None),
            Step::Repair(call, _) => Event::Repaired(self.repair_of(&call.candidate)),
            Step::Sleep(wait) => {
                self.now = self.now.saturating_add(*wait).unwrap_or(self.now);
                Event::Done
            }
            Step::Finish(_) | Step::MarkPrimaryProbe | Step::NoteAuthFailure(..) | Step::RollBack(_) => {
                Event::Done
            }
        }))
    }

    fn fold(&mut self, change: &UsageChange) -> ChangeOutcome {
        self.snapshot.apply(change, self.now, &self.policy.auth.cooldowns)
    }

    fn call(&mut self, call: &AttemptCall) {
        self.calls.push((call.candidate.clone(), call.profile.clone()));
    }

    fn repair_of(&self, candidate: &ModelRef) -> Repair {
        let repaired = self.recording.steps.iter().any(
            |step| matches!(&step.result, StepResult::Repaired { model, done: true } if model == candidate),
        );
        if repaired { Repair::Done } else { Repair::None }
    }

    /// The first recorded call of the same candidate with the same credential that was not answered with yet.
    fn recall(&mut self, call: &AttemptCall) -> Result<Reply, ReplayError> {
        let unknown = Reply::End(ReplayEnding::Unknown {
            model: call.candidate.clone(),
            profile: call.profile.clone(),
        });
        let steps = self.recording.steps.iter().enumerate();
        let mut same =
            steps.filter(|(index, step)| !self.used.contains(index) && is_call(call, &step.result));
        let Some((index, step)) = same.next() else {
            return Ok(unknown);
        };
        let began = index
            .checked_sub(1)
            .map_or(0, |before| self.recording.steps[before].at);
        let took = SignedDuration::from_nanos(step.at.saturating_sub(began));
        let ends = self.now.saturating_add(took).unwrap_or(self.now);
        let deadline = self.machine.deadline().filter(|deadline| *deadline < ends);
        if let Some(deadline) = deadline {
            self.now = self.now.max(deadline);
            return Ok(Reply::Event(Event::OutOfTime));
        }
        if matches!(step.result, StepResult::OutOfTime { .. }) {
            return Ok(unknown);
        }
        self.used.push(index);
        self.now = ends;
        Ok(Reply::Event(self.outcome(index, &step.result)?))
    }

    fn outcome(&self, index: usize, result: &StepResult) -> Result<Event, ReplayError> {
        match result {
            StepResult::Failed { model, failure, .. } => {
                let RecordedFailure {
                    visible, rejected, ..
                } = **failure;
                let judged = failure.judged(model, self.recording);
                let attempt = judged.ok_or(ReplayError::Step { step: index + 1 })?;
                let progress = if visible {
                    Progress::Visible
                } else {
                    Progress::Clean
                };
                Ok(Event::Judged(Box::new(ClassifiedFailure {
                    attempt,
                    progress,
                    rejected,
                })))
            }
            StepResult::OutOfTime { .. } => Ok(Event::OutOfTime),
            StepResult::Answered { .. }
            | StepResult::Committed { .. }
            | StepResult::Looked { .. }
            | StepResult::Noted
            | StepResult::Repaired { .. }
            | StepResult::Session { .. }
            | StepResult::Waited { .. } => Ok(Event::Succeeded),
        }
    }

    /// The run is over at a call that was not recorded.
    fn ended(mut self, ending: ReplayEnding) -> ReplayResult {
        let report = self.machine.give_up().into_report();
        self.replayed(report, ending)
    }

    fn finished(self, outcome: Outcome) -> ReplayResult {
        let ending = match &outcome {
            Outcome::Aborted(_) => ReplayEnding::Aborted,
            Outcome::Completed(winner, _) => ReplayEnding::Answered {
                model: winner.candidate.clone(),
                profile: winner.profile.clone(),
            },
            Outcome::Exhausted(summary, _) => ReplayEnding::Exhausted {
                error: summary.to_string(),
            },
            Outcome::Failed(attempt, _) => ReplayEnding::Failed {
                error: attempt.record.to_string(),
            },
            Outcome::LimitReached(limit, ..) => ReplayEnding::LimitReached {
                limit: limit.as_str().to_owned(),
            },
            Outcome::Preserved(preserved, _) => ReplayEnding::Preserved {
                model: preserved.kept.1.candidate.clone(),
            },
            Outcome::Surfaced(attempt, _) => ReplayEnding::Surfaced {
                error: attempt.record.to_string(),
            },
        };
        self.replayed(outcome.into_report(), ending)
    }

    fn replayed(self, report: RunReport, ending: ReplayEnding) -> ReplayResult {
        ReplayResult {
            report,
            ending,
            calls: self.calls,
            steps_as_recorded: self.steps_as_recorded,
        }
    }
}

/// Whether a step is the recorded one.
fn is_same(step: &Step, result: &StepResult) -> bool {
    match (step, result) {
        (Step::Attempt(call), result) => is_call(call, result),
        (Step::Commit(change), StepResult::Committed { change: recorded, .. }) => {
            change_name(change) == recorded
        }
        (Step::LookForSwitch(..), StepResult::Looked { .. })
        | (Step::NoteAuthFailure(..), StepResult::Noted) => true,
        (Step::Repair(call, _), StepResult::Repaired { model, .. }) => call.candidate == *model,
        (Step::Sleep(wait), StepResult::Waited { ms }) => millis::whole(*wait) == *ms,
        (_, _) => false,
    }
}

fn is_call(call: &AttemptCall, result: &StepResult) -> bool {
    match result {
        StepResult::Answered { model, profile }
        | StepResult::Failed { model, profile, .. }
        | StepResult::OutOfTime { model, profile } => call.candidate == *model && call.profile == *profile,
        StepResult::Committed { .. }
        | StepResult::Looked { .. }
        | StepResult::Noted
        | StepResult::Repaired { .. }
        | StepResult::Session { .. }
        | StepResult::Waited { .. } => false,
    }
}

fn named(applied: &str) -> Option<ChangeOutcome> {
    [
        ChangeOutcome::Done,
        ChangeOutcome::HeldElsewhere,
        ChangeOutcome::Unchanged,
    ]
    .into_iter()
    .find(|one| applied_name(*one) == applied)
}

/// A session that is named in records and never written to, with the profiles that served it last.
fn session(id: SessionId, sticky: &BTreeMap<ProviderId, ProfileId>) -> Option<RunSession> {
    let key: SessionKey = "agent:main:replay".parse().ok()?;
    Some(RunSession {
        sticky: sticky.clone(),
        key,
        id,
        kind: TurnKind::Normal,
        read: SelectionSnapshot::default(),
        persist: PersistPolicy::Never,
        probe: None,
    })
}
