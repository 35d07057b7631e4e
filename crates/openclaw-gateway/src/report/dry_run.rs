//! What a run would do if a model's calls failed in a certain way: the real machine walks the real chain over a copy of
//! the usage state, and nothing is called or written.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::AuthSnapshot;
use openclaw_chain::RunKind;
use openclaw_classify::Failure;
use openclaw_history::explain::{Story, story_of};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_runner::machine::{Event, Machine, Outcome, Step};
use openclaw_runner::{Repair, RunPolicy, RunReport, Turn, plan};
use openclaw_session::{Progress, TurnKind};
use serde::Serialize;

use super::cooldowns::{CooldownsReport, RestingEndpoint};
use super::profiles::WindowReport;
use super::{AgentState, Installation};

/// How a run would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DryRun {
    /// The model whose calls fail.
    pub failing: ModelRef,
    /// The candidates of the run.
    pub chain: Vec<ModelRef>,
    /// The model that would answer; none when no candidate would.
    pub answered: Option<ModelRef>,
    /// Whether the caller would get this very failure, because every model would repeat it.
    pub surfaced: bool,
    /// How often a provider would be called.
    pub calls: usize,
    /// What would be decided on the way.
    pub story: Option<Story>,
    /// Windows that would open or grow.
    pub opened: Vec<OpenedWindow>,
    /// Addresses that would rest.
    pub endpoints: Vec<RestingEndpoint>,
}

/// A window that a failure would open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenedWindow {
    /// The credential.
    pub profile: ProfileId,
    /// The window.
    #[serde(flatten)]
    pub window: WindowReport,
}

impl DryRun {
    /// A run of the agent at `now` in which every call of `failing` fails like this and every other call answers.
    /// Without a model it is the first that would be asked.
    pub fn of(
        installation: &Installation<'_>,
        state: &AgentState<'_>,
        policy: RunPolicy,
        failing: Option<ModelRef>,
        failure: &Failure,
        now: Timestamp,
    ) -> Self {
        let policy = Arc::new(policy);
        let run = match &failing {
            Some(model) => RunKind::OneOff {
                model: model.clone(),
                policy: openclaw_chain::OneOffPolicy::ChainWhenConfigured,
            },
            None => RunKind::Turn,
        };
        let turn = Turn {
            run_id: "rehearsal".to_owned(),
            agent: state.agent,
            run,
            kind: TurnKind::Normal,
            session: None,
            lane: None,
        };
        let request = plan(installation.resolver, &policy, state.seen, turn, now).request;
        let chain = request.chain.clone();
        let snapshot = Arc::new(state.seen.clone());
        let machine = Machine::new(
            request,
            Arc::clone(&policy),
            "rehearsal".to_owned(),
            snapshot,
            now,
        );
        let mut walk = Walk {
            machine,
            policy,
            snapshot: state.seen.clone(),
            failing,
            now,
        };
        let outcome = walk.end(failure);
        let (answered, surfaced) = match &outcome {
            Outcome::Completed(winner, _) => (Some(winner.candidate.clone()), false),
            Outcome::Surfaced(..) => (None, true),
            Outcome::Aborted(_)
            | Outcome::Exhausted(..)
            | Outcome::Failed(..)
            | Outcome::LimitReached(..)
            | Outcome::Preserved(..) => (None, false),
        };
        let report: RunReport = outcome.into_report();
        let after = AgentState {
            seen: &walk.snapshot,
            ..*state
        };
        let before = CooldownsReport::of(installation, state, now);
        let after = CooldownsReport::of(installation, &after, walk.now);
        Self {
            failing: walk
                .failing
                .unwrap_or_else(|| installation.resolver.agent_primary(state.agent)),
            chain,
            answered,
            surfaced,
            calls: report.calls,
            story: story_of(&report),
            opened: opened(&before, &after),
            endpoints: after
                .endpoints
                .into_iter()
                .filter(|endpoint| !before.endpoints.contains(endpoint))
                .collect(),
        }
    }
}

/// Windows of `after` that are not, or not that long, in `before`.
fn opened(before: &CooldownsReport, after: &CooldownsReport) -> Vec<OpenedWindow> {
    let known = |profile: &ProfileId, window: &WindowReport| {
        let profiles = before.profiles.iter().filter(|known| known.profile == *profile);
        let mut windows = profiles.flat_map(|known| &known.windows);
        windows.any(|known| known.lane == window.lane && known.until == window.until)
    };
    let mut opened = Vec::new();
    for profile in &after.profiles {
        let new = profile
            .telling_windows()
            .filter(|window| !known(&profile.profile, window));
        opened.extend(new.map(|window| OpenedWindow {
            profile: profile.profile.clone(),
            window: window.clone(),
        }));
    }
    opened
}

/// A run over a copy of the usage state.
struct Walk {
    machine: Machine,
    policy: Arc<RunPolicy>,
    snapshot: AuthSnapshot,
    failing: Option<ModelRef>,
    now: Timestamp,
}

impl Walk {
    fn end(&mut self, failure: &Failure) -> Outcome {
        for _ in 0..self.machine.max_steps() {
            let event = match self.machine.next() {
                Step::Finish(outcome) => return *outcome,
                Step::Attempt(call) => {
                    let failing = self.failing.get_or_insert_with(|| call.candidate.clone());
                    if *failing == call.candidate {
                        Event::Failed(Box::new(failure.clone()), Progress::Clean)
                    } else {
                        Event::Succeeded
                    }
                }
                Step::Commit(change) => {
                    let applied = self
                        .snapshot
                        .apply(&change, self.now, &self.policy.auth.cooldowns);
                    Event::Committed(Arc::new(self.snapshot.clone()), applied)
                }
                Step::LookForSwitch(..) => Event::Switch(None),
                Step::Persist(_) => Event::Persisted(None),
                Step::Repair(..) => Event::Repaired(Repair::None),
                Step::Sleep(wait) => {
                    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
                    self.now = self.now.saturating_add(wait).unwrap_or(self.now);
                    Event::Done
                }
                Step::MarkPrimaryProbe | Step::NoteAuthFailure(..) | Step::RollBack(_) => Event::Done,
            };
            self.machine.on(event, self.now);
        }
        self.machine.give_up()
    }
}
