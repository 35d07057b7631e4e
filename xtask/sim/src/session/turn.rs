//! One turn: planned, run, perhaps cut short by its caller, and told how its answer did.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_auth_store::UsageStore;
use openclaw_chain::{OneOffPolicy, RunKind};
use openclaw_classify::{Failure, Phase, Transport};
use openclaw_ids::{AgentId, ModelRef};
use openclaw_runner::{
    Clock, Completed, Plan, RunError, RunLimits, RunOptions, Standing, Turn, TurnSession, plan,
};
use openclaw_session::{PinSource, SessionAge, SessionStore, TurnKind};

use super::{Person, lock};
use crate::caller::{Answer, Caller, Pick};
use crate::dice::Dice;
use crate::setup::SECOND;
use crate::stage::Hand;
use crate::trace::{Candidate, Ending, OnOverride, Trace};
use crate::watch::RUN;
use crate::world::ProcessClock;

impl Person {
    pub(super) async fn ask(&mut self) {
        let setup = &self.stage.world.setup;
        let process = match self.session.process {
            Some(process) => process,
            None => self.dice.below(setup.processes.len()),
        };
        let ahead = setup.processes[process].ahead;
        let clock = ProcessClock {
            world: Arc::clone(&self.stage.world),
            ahead,
        };
        let stored = if self.session.stateless {
            None
        } else {
            self.sessions()
                .load(&self.key)
                .await
                .ok()
                .flatten()
                .map(|stored| stored.entry)
        };
        let (run, kind) = self.kind_of_turn();
        let id = format!("s{}-t{}", self.session.number, self.turn);
        let agent = &self.stage.agents[self.session.agent];
        let turn = Turn {
            run_id: id.clone(),
            agent: &AgentId::main(),
            run,
            kind,
            session: stored.as_ref().map(|entry| TurnSession {
                key: &self.key,
                entry,
                age: if self.fresh {
                    SessionAge::New
                } else {
                    SessionAge::Continuing
                },
            }),
            lane: None,
        };
        let planned = plan(
            &agent.resolver,
            &agent.policy,
            &agent.usage.snapshot(),
            turn,
            clock.now(),
        );
        self.fresh = false;
        let on_override = stored.as_ref().and_then(|entry| self.on_override(entry, kind));
        Box::pin(self.run(planned, process, on_override, kind)).await;
    }

    fn kind_of_turn(&mut self) -> (RunKind, TurnKind) {
        if self.dice.chance(40) {
            let (model, _) = self.some_model();
            let Ok(model) = model.parse::<ModelRef>() else {
                return (RunKind::Turn, TurnKind::Normal);
            };
            let policy = *self
                .dice
                .pick(&[OneOffPolicy::Strict, OneOffPolicy::ChainWhenConfigured]);
            return (RunKind::OneOff { model, policy }, TurnKind::OneOff);
        }
        if self.dice.chance(50) {
            return (RunKind::Heartbeat { model: None }, TurnKind::Heartbeat);
        }
        (RunKind::Turn, TurnKind::Normal)
    }

    async fn run(&mut self, planned: Plan, process: usize, on_override: Option<OnOverride>, kind: TurnKind) {
        if let Some(pin) = &planned.pin_to_store {
            let stored = openclaw_session::update(&**self.sessions(), &self.key, |entry| {
                let entry = entry.cloned().map(|mut entry| {
                    entry.pin = pin.clone();
                    entry
                });
                (entry, ())
            });
            drop(stored.await);
        }
        let probes_primary = planned
            .request
            .session
            .as_ref()
            .is_some_and(|session| session.probe.is_some());
        let options = RunOptions {
            limits: self.limits(),
            ..RunOptions::default()
        };
        let before = self.selection().await;
        let trace = self.trace(&planned, process, &options, on_override);
        let trace = Arc::new(Mutex::new(trace));
        let picks = kind == TurnKind::Normal && !self.session.stateless && self.dice.chance(6);
        let picked = picks.then(|| self.some_model().0);
        let done = Arc::new(AtomicBool::new(false));
        let id = planned.request.run_id.clone();
        let caller = Caller {
            world: Arc::clone(&self.stage.world),
            agent: self.session.agent,
            ahead: self.stage.world.setup.processes[process].ahead,
            run: id.clone(),
            dice: Dice::of(self.dice.next(), 1),
            calls: 0.into(),
            visible: false.into(),
            pick: picked.clone().map(|model| Pick {
                sessions: Arc::clone(self.sessions()),
                key: self.key.clone(),
                model,
                done: Arc::clone(&done),
            }),
        };
        let hand = self.hand();
        let taped = self.dice.chance(self.stage.taped);
        let runner = self.stage.agents[self.session.agent]
            .runner(process, taped)
            .clone();
        let request = planned.request;
        let run = async move {
            let outcome = runner.run_with(request, options, &caller).await;
            let now = caller.world.now();
            (outcome, now)
        };
        let scoped = RUN.scope(Arc::clone(&trace), run);
        let ended = match hand {
            Hand::Off => Some(scoped.await),
            Hand::Cancels(after) => {
                let mut scoped = Box::pin(scoped);
                let outcome = tokio::time::timeout(Duration::from_millis(after), scoped.as_mut())
                    .await
                    .ok();
                drop(scoped);
                if outcome.is_none() {
                    lock(&trace).ending = Ending::Dropped;
                }
                outcome
            }
            Hand::Kills(after) => {
                let mut scoped = Box::pin(scoped);
                let outcome = tokio::time::timeout(Duration::from_millis(after), scoped.as_mut())
                    .await
                    .ok();
                if outcome.is_none() {
                    // A process that dies runs no destructor.
                    std::mem::forget(scoped);
                    self.stage.world.crashed(self.session.agent, &id);
                    lock(&trace).ending = Ending::Crashed;
                }
                outcome
            }
        };
        match ended {
            Some((outcome, now)) => {
                lock(&trace).ended = now;
                self.settle(outcome, &trace).await;
            }
            None => lock(&trace).ended = self.stage.world.now(),
        }
        let picked = picked.filter(|_| done.load(Ordering::Relaxed));
        self.look_after(&trace, before, picked, probes_primary).await;
        let trace = lock(&trace).clone();
        self.stage.judge(trace);
    }

    fn limits(&mut self) -> RunLimits {
        RunLimits {
            attempts: (self.dice.chance(80))
                .then(|| std::num::NonZeroUsize::MIN.saturating_add(self.dice.below(4))),
            duration: (self.dice.chance(80)).then(|| {
                let seconds = u64::try_from(self.dice.between(1, 60)).unwrap_or(1);
                Duration::from_secs(seconds)
            }),
        }
    }

    fn hand(&mut self) -> Hand {
        let after = u64::try_from(self.dice.spread(10, 20 * SECOND)).unwrap_or(0);
        if self.dice.chance(12) {
            Hand::Cancels(after)
        } else if self.dice.chance(2) {
            Hand::Kills(after)
        } else {
            Hand::Off
        }
    }

    fn trace(
        &self,
        planned: &Plan,
        process: usize,
        options: &RunOptions,
        on_override: Option<OnOverride>,
    ) -> Trace {
        let setup = &self.stage.world.setup;
        let candidates = planned.request.chain.iter().map(|model| setup.candidate(model));
        let chain: Vec<Candidate> = candidates.collect();
        let pin = planned
            .request
            .pin
            .as_ref()
            .filter(|pin| pin.source == PinSource::User);
        Trace {
            run: planned.request.run_id.clone(),
            agent: self.session.agent,
            ahead: setup.processes[process].ahead,
            clocks_agree: setup.clocks_agree(),
            leases_hold: setup.leases_hold(),
            began: self.stage.world.now(),
            ended: 0,
            chain,
            pinned: pin.map(|pin| pin.profile.to_string()),
            max_attempts: options.limits.attempts.map(usize::from),
            max_duration: options
                .limits
                .duration
                .and_then(|limit| i64::try_from(limit.as_millis()).ok()),
            calls: Vec::new(),
            events: Vec::new(),
            ending: Ending::Dropped,
            report: None,
            view: self.stage.agents[self.session.agent].usage.snapshot(),
            override_: on_override,
            selection: None,
            pins: None,
            holds_lease: false,
            recording: None,
        }
    }

    /// Tells a run that answered how its answer did.
    async fn settle<C: Clock, U: UsageStore, S: SessionStore>(
        &self,
        outcome: Result<Completed<Answer, C, U, S>, RunError>,
        trace: &Mutex<Trace>,
    ) {
        match outcome {
            Ok(done) => {
                {
                    let mut trace = lock(trace);
                    trace.ending = match done.winner.standing {
                        Standing::Good => Ending::Answered {
                            candidate: done.winner.index,
                        },
                        Standing::Preserved => Ending::Preserved,
                    };
                    trace.report = Some(done.report);
                }
                match done.value {
                    Answer::Whole | Answer::Empty => done.run.finished().await,
                    Answer::Cut => {
                        tokio::time::sleep(Duration::from_millis(900)).await;
                        let cut = Failure {
                            transport: Some(Transport::Reset),
                            phase: Some(Phase::AfterContent),
                            ..Failure::default()
                        };
                        let provider = done.winner.candidate.provider().to_string();
                        done.run.failed_late(&cut).await;
                        self.stage.world.unanswered(self.session.agent, &provider);
                    }
                }
            }
            Err(error) => {
                let mut trace = lock(trace);
                trace.ending = match &error {
                    RunError::Aborted(_) => Ending::Aborted,
                    RunError::Exhausted(..) => Ending::Exhausted,
                    RunError::Failed(..) => Ending::Failed,
                    RunError::LimitReached(..) => Ending::Limited,
                    _ => Ending::Surfaced,
                };
                trace.report = Some(error.report().clone());
            }
        }
    }
}
