//! The run as a sans-I/O state machine: it owns every decision, the driver every effect.
//!
//! [`Machine::next`] says what to do, [`Machine::on`] takes what came of it. The same machine serves live
//! runs, tests with scripted outcomes and simulations.

mod attempt;
mod candidate_gate;
mod candidate_state;
mod classified_failure;
mod failed_attempt;
mod failure;
pub(crate) mod failure_event;
mod finish;
mod incompatible;
mod limit;
mod outcome;
mod overflow;
pub(crate) mod policy;
mod provider_siblings;
mod record;
mod redirect;
mod rejected;
mod repair;
mod reset_wait;
mod step;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::AuthSnapshot;
use openclaw_chain::Shortfall;
use openclaw_ids::{ModelRef, ProfileId, ProviderId};

use crate::machine::policy::Advance;
use crate::record::decision::RunEvent;
use crate::record::report::{FailedAttempt, RunReport};
use crate::record::summary::AttemptRecord;
use crate::request::{ChainKind, RunOptions, RunPolicy, RunRequest};
use crate::skip_cache::Markers;

use candidate_state::{CandidateState, SkippedCandidate};
pub use classified_failure::{ClassifiedFailure, RejectedAnswer};
pub use limit::RunLimit;
use limit::{InFlight, Limits};
pub use outcome::{Outcome, PreservedAnswer, Standing, Winner};
use overflow::Sizes;
use provider_siblings::ProviderSiblings;
use redirect::Redirects;
use rejected::Rejected;
use reset_wait::{MOST_WAITS, ResetWait};
pub use step::{Event, Step};

/// What the machine does when no effect is outstanding.
#[derive(Debug)]
enum NextAction {
    /// Wait for the outcome of the attempt that runs.
    AwaitAttempt,
    /// Start the attempt with the current credential.
    Begin,
    /// Decide about candidate `.0` of the chain.
    Enter(usize),
    /// The chain has been walked.
    EndOfChain,
    /// Report this.
    Finish(Box<Outcome>),
    /// The failure is marked: ask whether the user chose another model meanwhile.
    LookForSwitch(Advance),
    /// The failure is marked and nothing repairs it: stop, rotate, wait or leave.
    Proceed(Advance),
    /// The failure is marked: ask for a repair, if that can help.
    Repair(Advance),
}

/// One run. See the module's description.
#[derive(Debug)]
pub struct Machine {
    request: RunRequest,
    policy: Arc<RunPolicy>,
    holder: String,
    now: Timestamp,
    snapshot: Arc<AuthSnapshot>,
    pending: VecDeque<Step>,
    then: NextAction,
    current: Option<CandidateState>,
    attempts: Vec<(usize, AttemptRecord)>,
    last_failed: Option<FailedAttempt>,
    rejected: Rejected,
    redirects: Redirects,
    used_slots: HashSet<ProviderId>,
    attempted_providers: HashSet<ProviderId>,
    auth_skips: Markers,
    skipped: Vec<SkippedCandidate>,
    siblings: ProviderSiblings,
    last_resort_taken: bool,
    /// Whether a failure that every model would repeat ends the run.
    surfaced: bool,
    events: Vec<RunEvent>,
    calls: usize,
    limits: Limits,
    kind: ChainKind,
    own_auth: HashSet<ProviderId>,
    set_aside: HashSet<ProfileId>,
    sizes: Sizes,
    reset_wait: ResetWait,
    incompatible: HashMap<ModelRef, Shortfall>,
}

impl Machine {
    /// A run over `request.chain`, judged by the usage state in `snapshot`. `holder` names this run in leases.
    pub fn new(
        request: RunRequest,
        policy: Arc<RunPolicy>,
        holder: String,
        snapshot: Arc<AuthSnapshot>,
        now: Timestamp,
    ) -> Self {
        let limits = Limits::new(policy.settings.limits, now);
        Self {
            request,
            policy,
            limits,
            holder,
            now,
            snapshot,
            pending: VecDeque::new(),
            then: NextAction::Enter(0),
            current: None,
            attempts: Vec::new(),
            last_failed: None,
            rejected: Rejected::default(),
            redirects: Redirects::default(),
            used_slots: HashSet::new(),
            attempted_providers: HashSet::new(),
            auth_skips: Markers::default(),
            skipped: Vec::new(),
            siblings: ProviderSiblings::default(),
            last_resort_taken: false,
            surfaced: false,
            events: Vec::new(),
            calls: 0,
            kind: ChainKind::Text,
            own_auth: HashSet::new(),
            set_aside: HashSet::new(),
            sizes: Sizes::default(),
            reset_wait: ResetWait::default(),
            incompatible: HashMap::new(),
        }
    }

    /// A run with options of its own.
    #[must_use]
    pub fn with_options(mut self, options: &RunOptions) -> Self {
        self.limits = Limits::new(self.policy.settings.limits.and(options.limits), self.now);
        self.kind = options.kind;
        self.own_auth.clone_from(&options.own_auth);
        self.set_aside.clone_from(&options.set_aside);
        if self.kind == ChainKind::Image {
            // nothing of it is the session's.
            self.request.session = None;
        }
        self.sizes = Sizes::new(options.larger_context.clone());
        self.reset_wait = ResetWait::new(options.wait_for_reset);
        self.incompatible.clone_from(&options.incompatible);
        self
    }

    /// Skips these fallbacks, which refused their login in the session a short while ago.
    #[must_use]
    pub fn with_auth_skips(mut self, markers: Markers) -> Self {
        self.auth_skips = markers;
        self
    }

    /// What the run was asked, with what a person changed about it since.
    pub fn request(&self) -> &RunRequest {
        &self.request
    }

    /// What the run is called in leases.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// What the run is called.
    pub(crate) fn run_id(&self) -> &str {
        &self.request.run_id
    }

    /// More steps than any run can take: per candidate a probe, a write and a rollback, and a repair with its attempt;
    /// per credential two attempts with a mark and a look for a switch each, and waits around them. One candidate may
    /// come twice as the last resort (G3), a person may add two (A6), and the only one may be waited for (BL-91).
    pub fn max_steps(&self) -> usize {
        let credentials = self.snapshot.profiles.len() + self.snapshot.ambient.len() + 2;
        let waits = if self.reset_wait.is_wished() {
            MOST_WAITS
        } else {
            0
        };
        (self.request.chain.len() + 4 + waits) * (12 + 9 * credentials)
    }

    /// The next thing to do. After [`Step::Finish`] it is not called again.
    #[expect(
        clippy::should_implement_trait,
        reason = "a run is no iterator: each step wants an answer"
    )]
    pub fn next(&mut self) -> Step {
        loop {
            if let Some(step) = self.turn() {
                return step;
            }
        }
    }

    /// One part of [`next`](Self::next): the step that waits, or one decision, which may come with a step.
    pub fn turn(&mut self) -> Option<Step> {
        if let Some(step) = self.pending.pop_front() {
            return Some(step);
        }
        match std::mem::replace(&mut self.then, NextAction::AwaitAttempt) {
            // A driver that asks again without an outcome gets the end rather than a second call.
            NextAction::AwaitAttempt | NextAction::EndOfChain => self.end_of_chain(),
            NextAction::Begin => match self.limit_reached() {
                Some(limit) => self.end_at(limit, InFlight::No),
                None => return Some(self.begin()),
            },
            NextAction::Enter(index) => self.enter(index),
            NextAction::Finish(mut outcome) => {
                self.tell_soonest(&mut outcome);
                return Some(Step::Finish(outcome));
            }
            NextAction::LookForSwitch(next) => {
                self.then = NextAction::Repair(next);
                return self.look_for_switch();
            }
            NextAction::Proceed(next) => self.proceed(next),
            NextAction::Repair(next) => {
                self.then = NextAction::Proceed(next);
                return self.ask_for_repair();
            }
        }
        None
    }

    /// Whether nothing but the attempt with the current credential is to come.
    pub fn is_about_to_begin(&self) -> bool {
        matches!(self.then, NextAction::Begin)
    }

    /// Whether the last candidate is done with.
    pub fn has_left(&self) -> bool {
        matches!(
            self.then,
            NextAction::EndOfChain | NextAction::Enter(_) | NextAction::Finish(_)
        )
    }

    /// Takes what came of the last step, at `now`.
    pub fn on(&mut self, event: Event, now: Timestamp) {
        self.now = now;
        match event {
            Event::Committed(snapshot, applied) => {
                self.snapshot = snapshot;
                self.on_applied(applied);
            }
            Event::CommitFailed(snapshot) => {
                self.snapshot = snapshot;
                self.on_unwritten();
            }
            Event::Done | Event::Switch(None) => {}
            Event::Failed(failure, progress) => self.on_failed(*failure, progress),
            Event::Judged(judged) => self.on_judged(*judged),
            Event::OutOfTime => self.end_at(RunLimit::Deadline, InFlight::Yes),
            Event::Persisted(rollback) => {
                if let Some(current) = &mut self.current {
                    current.rollback = rollback;
                }
            }
            Event::Rejected(rejection, progress) => self.on_rejected(*rejection, progress),
            Event::Repaired(repair) => self.on_repaired(repair),
            Event::Succeeded => self.on_succeeded(),
            Event::Switch(Some(target)) => self.on_switch(*target),
        }
    }

    /// Records made since `from`, for the driver to emit.
    pub fn events_since(&self, from: usize) -> &[RunEvent] {
        self.events.get(from..).unwrap_or_default()
    }

    /// Ends a run that took more steps than it can: the summary of what is known.
    pub fn give_up(&mut self) -> Outcome {
        let mut outcome = self.exhausted();
        self.tell_soonest(&mut outcome);
        outcome
    }

    fn has_next(&self, index: usize) -> bool {
        index + 1 < self.request.chain.len() && !self.redirects.are_made()
    }

    /// What was decided; nothing is decided after it.
    fn report(&mut self) -> RunReport {
        let mut attempts = std::mem::take(&mut self.attempts);
        attempts.sort_by_key(|(index, _)| *index);
        RunReport {
            run_id: self.request.run_id.clone(),
            events: self.events.clone(),
            attempts: attempts.into_iter().map(|(_, record)| record).collect(),
            calls: self.calls,
            // Known when the last write is made.
            soonest_cooldown_expiry: None,
        }
    }
}

#[cfg(test)]
mod tests;
