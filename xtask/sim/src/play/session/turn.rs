//! One turn: planned, run, perhaps cut short by its caller, and told how its answer did.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_auth_store::UsageStore;
use openclaw_classify::{Failure, Phase, Transport};
use openclaw_ids::AgentId;
use openclaw_runner::{Clock, CompletedRun, Plan, RunError, RunOptions, Standing, Turn, TurnSession, plan};
use openclaw_session::{PinSource, SessionAge, SessionEntry, SessionStore, TurnKind};

use super::draws::{Draws, Hand};
use super::stored::Stored;
use super::{Person, lock};
use crate::play::caller::{Answer, Caller, Pick};
use crate::play::observed_stores::RUN;
use crate::time::{SECOND, span};
use crate::trace::LoginCounts;
use crate::trace::{Candidate, Ending, OnOverride, Trace};
use crate::world::ProcessClock;

/// When it is seen that an answer broke off.
const CUT_SEEN_AFTER: Duration = Duration::from_millis(900);

/// A turn that is over.
pub(super) struct Turned {
    pub(super) trace: Arc<Mutex<Trace>>,
    /// The stored selection when it began.
    pub(super) before: Option<String>,
    /// The model that a person picked meanwhile.
    pub(super) picked: Option<String>,
    pub(super) probes_primary: bool,
}

impl Person {
    pub(super) async fn ask(&mut self) {
        let draws = self.draws("");
        let turned = Box::pin(self.take_turn(draws)).await;
        self.look_after(turned).await;
    }

    /// Two turns of the session that overlap, as when a person does not wait, or two gateways serve it.
    pub(super) async fn ask_twice(&mut self) {
        let (mut first, mut second) = (self.draws("a"), self.draws("b"));
        (first.picks, second.picks) = (None, None);
        let apart = span(self.random.spread(1, 10 * SECOND));
        let before = self.stored().await.map(|before| before.choice());
        let later = async {
            tokio::time::sleep(apart).await;
            self.take_turn(second).await
        };
        let (first, second) = Box::pin(async { tokio::join!(self.take_turn(first), later) }).await;
        self.look_after_both(before, first, second).await;
    }

    /// What the session knows, as a run that begins now reads it.
    async fn entry(&self) -> Option<SessionEntry> {
        if self.session.stateless {
            return None;
        }
        let stored = self.sessions().load(&self.key).await.ok().flatten()?;
        Some(stored.entry)
    }

    /// The session as it is stored.
    pub(super) async fn stored(&self) -> Option<Stored> {
        self.entry().await.as_ref().map(Stored::of)
    }

    fn plan(&self, draws: &Draws, stored: Option<&SessionEntry>) -> Plan {
        let clock = ProcessClock {
            world: Arc::clone(&self.stage.world),
            ahead: self.stage.world.setup.processes[draws.process].ahead,
        };
        let agent = &self.stage.agents[self.session.agent];
        let turn = Turn {
            run_id: draws.id.clone(),
            agent: &AgentId::main(),
            run: draws.run.clone(),
            kind: draws.kind,
            session: stored.map(|entry| TurnSession {
                key: &self.key,
                entry,
                age: if draws.is_fresh {
                    SessionAge::New
                } else {
                    SessionAge::Continuing
                },
            }),
            lane: None,
        };
        plan(
            &agent.resolver,
            &agent.policy,
            &agent.usage.snapshot(),
            turn,
            clock.now(),
        )
    }

    fn on_override(&self, entry: Option<&SessionEntry>, kind: TurnKind) -> Option<OnOverride> {
        let is_on_one = Stored::of(entry?).is_on_override();
        is_on_one.then(|| OnOverride {
            primary: self.primary().clone(),
            last_asked: self.last_asked,
            may_ask: matches!(kind, TurnKind::Heartbeat | TurnKind::Normal),
        })
    }

    async fn take_turn(&self, draws: Draws) -> Turned {
        let entry = self.entry().await;
        let planned = self.plan(&draws, entry.as_ref());
        let on_override = self.on_override(entry.as_ref(), draws.kind);
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
            limits: draws.limits,
            ..RunOptions::default()
        };
        // What an earlier turn still writes is not this one's.
        let is_settled = self.stage.agents[self.session.agent].writing.try_lock().is_ok();
        let before = self.stored().await.filter(|_| is_settled);
        let before = before.map(|before| before.selection());
        let trace = self.trace(&planned, draws.process, &options, on_override);
        let trace = Arc::new(Mutex::new(trace));
        let done = Arc::new(AtomicBool::new(false));
        let caller = Caller {
            world: Arc::clone(&self.stage.world),
            agent: self.session.agent,
            ahead: self.stage.world.setup.processes[draws.process].ahead,
            run: draws.id.clone(),
            random: draws.random,
            calls: 0.into(),
            logins: Arc::clone(&self.stage.logins[draws.process]),
            store: Arc::clone(&self.stage.agents[self.session.agent].usage.store),
            visible: false.into(),
            pick: draws.picks.clone().map(|model| Pick {
                sessions: Arc::clone(self.sessions()),
                key: self.key.clone(),
                model,
                done: Arc::clone(&done),
            }),
        };
        let runner = self.stage.agents[self.session.agent]
            .runner(draws.process, draws.is_taped)
            .clone();
        let request = planned.request;
        let run = async move {
            let outcome = runner.run_with(request, options, &caller).await;
            let now = caller.world.now();
            (outcome, now)
        };
        let scoped = RUN.scope(Arc::clone(&trace), run);
        match self.hold(scoped, draws.hand, &draws.id, &trace).await {
            Some((outcome, now)) => {
                lock(&trace).ended = now;
                self.settle(outcome, &trace).await;
            }
            None => lock(&trace).ended = self.stage.world.now(),
        }
        Turned {
            trace,
            before,
            picked: draws.picks.filter(|_| done.load(Ordering::Relaxed)),
            probes_primary,
        }
    }

    /// What a caller does to its run; none when that ended it.
    async fn hold<T>(
        &self,
        run: impl Future<Output = T>,
        hand: Hand,
        id: &str,
        trace: &Mutex<Trace>,
    ) -> Option<T> {
        match hand {
            Hand::Off => Some(run.await),
            Hand::Cancels(after) => {
                let mut run = Box::pin(run);
                let outcome = tokio::time::timeout(after, run.as_mut()).await.ok();
                drop(run);
                if outcome.is_none() {
                    lock(trace).ending = Ending::Dropped;
                }
                outcome
            }
            Hand::Kills(after) => {
                let mut run = Box::pin(run);
                let outcome = tokio::time::timeout(after, run.as_mut()).await.ok();
                if outcome.is_none() {
                    // A process that dies runs no destructor.
                    std::mem::forget(run);
                    self.stage.world.crashed(self.session.agent, id);
                    lock(trace).ending = Ending::Crashed;
                }
                outcome
            }
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
            logins: LoginCounts::default(),
            overlap: None,
            selection: None,
            pins: None,
            holds_lease: false,
            recording: None,
        }
    }

    /// Tells a run that answered how its answer did.
    async fn settle<C: Clock, U: UsageStore, S: SessionStore>(
        &self,
        outcome: Result<CompletedRun<Answer, C, U, S>, RunError>,
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
                        tokio::time::sleep(CUT_SEEN_AFTER).await;
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
