//! One session: a person who comes back, chooses models, starts over, cancels.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::UsageStore;
use openclaw_chain::{OneOffPolicy, RunKind};
use openclaw_classify::{Failure, Phase, Transport};
use openclaw_ids::{AgentId, ModelRef, ProfileId, SessionKey};
use openclaw_runner::{
    Clock, Completed, Plan, RunError, RunLimits, RunOptions, Standing, Turn, TurnSession, plan,
};
use openclaw_session::{
    MemorySessionStore, PinSource, Reset, Revision, SessionAge, SessionEntry, SessionStore, TurnKind,
    UserSelection, apply_user_selection,
};
use serde_json::{Value, json};

use crate::caller::{Answer, Caller, Pick};
use crate::dice::Dice;
use crate::setup::{SECOND, Session};
use crate::stage::{Hand, Stage};
use crate::trace::{Candidate, Ending, OnOverride, Pins, Trace};
use crate::watch::RUN;
use crate::world::ProcessClock;

/// How many of its last turns a person's choice of model lasts, on average.
const CHOICE_LASTS: u64 = 120;

/// Plays a session until its world ends.
pub(crate) async fn play(stage: Arc<Stage>, session: Session) {
    let seed = stage.world.setup.seed;
    let number = u64::try_from(session.number).unwrap_or(0);
    let mut person = Person {
        key: key(&session),
        dice: Dice::of(seed, 1_000 + number),
        pins: Pins::default(),
        last_asked: 0,
        turn: 0,
        fresh: true,
        session,
        stage,
    };
    if !person.session.stateless {
        person.arrive().await;
    }
    loop {
        let pause = person
            .dice
            .spread(person.session.pause / 4, person.session.pause * 2);
        tokio::time::sleep(Duration::from_millis(u64::try_from(pause).unwrap_or(0))).await;
        person.turn += 1;
        if !person.session.stateless {
            person.fiddle().await;
        }
        Box::pin(person.ask()).await;
    }
}

fn key(session: &Session) -> SessionKey {
    let text = format!("agent:a{}:s{}", session.agent, session.number);
    text.parse()
        .unwrap_or_else(|_| unreachable!("the key is well formed"))
}

struct Person {
    stage: Arc<Stage>,
    session: Session,
    key: SessionKey,
    dice: Dice,
    pins: Pins,
    /// When a turn that probes the primary last asked it.
    last_asked: i64,
    turn: usize,
    fresh: bool,
}

impl Person {
    fn sessions(&self) -> &Arc<MemorySessionStore> {
        &self.stage.agents[self.session.agent].sessions
    }

    async fn arrive(&self) {
        let id = format!("s{}-0", self.session.number);
        let Ok(id) = id.parse() else { return };
        let entry = SessionEntry::new(id, at(self.stage.world.now()));
        drop(
            self.sessions()
                .compare_and_set(&self.key, Revision::NONE, entry)
                .await,
        );
    }

    /// Between two turns a person may choose a model, take that back, or start over.
    async fn fiddle(&mut self) {
        let now = at(self.stage.world.now());
        let chance = if self.pins == Pins::default() {
            0
        } else {
            CHOICE_LASTS
        };
        if self.dice.chance(chance) {
            choose(self.sessions(), &self.key, &UserSelection::default_model(), now).await;
            self.pins = Pins::default();
        } else if self.dice.chance(12) {
            let (model, profile) = self.some_model();
            pick(self.sessions(), &self.key, &model, profile.as_deref(), now).await;
            self.pins = Pins {
                model: Some(model),
                profile,
            };
        } else if self.dice.chance(15) {
            let Ok(id) = format!("s{}-{}", self.session.number, self.turn).parse() else {
                return;
            };
            let fold = |entry: Option<&SessionEntry>| {
                let entry = entry.map(|entry| openclaw_session::reset(entry, id, &Reset::NewSession, now));
                (entry, ())
            };
            let mut fold = Some(fold);
            drop(
                openclaw_session::update(&**self.sessions(), &self.key, |entry| {
                    fold.take().map_or((None, ()), |fold| fold(entry))
                })
                .await,
            );
            self.pins.profile = None;
            self.fresh = true;
        }
    }

    /// A model of the world, and a key of its provider in some cases.
    fn some_model(&mut self) -> (String, Option<String>) {
        let providers = &self.stage.world.setup.providers;
        let provider = self.dice.pick(providers).clone();
        let model = format!("{}/{}", provider.name, self.dice.pick(&provider.models));
        let named = provider.keys > 0 && self.dice.chance(400);
        let profile = named.then(|| format!("{}:k{}", provider.name, self.dice.below(provider.keys)));
        (model, profile)
    }

    async fn ask(&mut self) {
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

    /// Read off the stored form, whatever the engine makes of it.
    fn on_override(&self, entry: &SessionEntry, kind: TurnKind) -> Option<OnOverride> {
        let json = serde_json::to_value(entry).unwrap_or_default();
        let text = |name: &str| {
            json.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let written = (text("providerOverride"), text("modelOverride"));
        let origin = (
            text("modelOverrideFallbackOriginProvider"),
            text("modelOverrideFallbackOriginModel"),
        );
        let complete = [&written.0, &written.1, &origin.0, &origin.1]
            .iter()
            .all(|part| !part.is_empty());
        (text("modelOverrideSource") == "auto" && complete && written != origin).then(|| OnOverride {
            primary: self.stage.world.setup.agents[self.session.agent].chain[0].clone(),
            last_asked: self.last_asked,
            may_ask: matches!(kind, TurnKind::Heartbeat | TurnKind::Normal),
        })
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

    /// What is left when a run is over.
    async fn look_after(
        &mut self,
        trace: &Mutex<Trace>,
        before: Option<String>,
        picked: Option<String>,
        probes_primary: bool,
    ) {
        let after = self.selection().await;
        if let Some(model) = &picked {
            self.pins = Pins {
                model: Some(model.clone()),
                profile: None,
            };
        }
        let found = self.found_pins().await;
        let agent = &self.stage.agents[self.session.agent];
        let snapshot = agent.usage.0.snapshot();
        let mut trace = lock(trace);
        let mine = format!("{}#", trace.run);
        trace.holds_lease = snapshot.probes.values().any(|probe| {
            probe
                .lease
                .as_ref()
                .is_some_and(|lease| lease.holder.starts_with(&mine))
        });
        if picked.is_none() {
            trace.selection = before.zip(after);
        }
        trace.pins = found.map(|found| (self.pins.clone(), found));
        if probes_primary {
            let asked = trace
                .calls
                .iter()
                .filter(|call| call.candidate == 0)
                .map(|call| call.began)
                .max();
            let cut_short = matches!(trace.ending, Ending::Crashed | Ending::Dropped).then_some(trace.ended);
            self.last_asked = self
                .last_asked
                .max(asked.unwrap_or(0))
                .max(cut_short.unwrap_or(0));
        }
    }

    async fn stored(&self) -> Option<Value> {
        if self.session.stateless {
            return None;
        }
        let stored = self.sessions().load(&self.key).await.ok().flatten()?;
        serde_json::to_value(stored.entry).ok()
    }

    /// The selection as it is stored.
    async fn selection(&self) -> Option<String> {
        let entry = self.stored().await?;
        let names = [
            "providerOverride",
            "modelOverride",
            "modelOverrideSource",
            "modelOverrideFallbackOriginProvider",
            "modelOverrideFallbackOriginModel",
            "authProfileOverride",
            "authProfileOverrideSource",
        ];
        let mut selection: Vec<Value> = names.iter().map(|name| entry[*name].clone()).collect();
        selection.push(entry["failover"]["parkedPin"].clone());
        Some(json!(selection).to_string())
    }

    /// What the session holds of a person's choices.
    async fn found_pins(&self) -> Option<Pins> {
        let entry = self.stored().await?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let model = (entry["modelOverrideSource"] == "user").then(|| {
            let (provider, model) = (text(&entry["providerOverride"]), text(&entry["modelOverride"]));
            format!("{}/{}", provider.unwrap_or_default(), model.unwrap_or_default())
        });
        let pin = |holder: &Value| {
            (holder["authProfileOverrideSource"] == "user")
                .then(|| text(&holder["authProfileOverride"]))
                .flatten()
        };
        Some(Pins {
            model,
            profile: pin(&entry["failover"]["parkedPin"]).or_else(|| pin(&entry)),
        })
    }
}

fn lock(trace: &Mutex<Trace>) -> std::sync::MutexGuard<'_, Trace> {
    trace.lock().unwrap_or_else(PoisonError::into_inner)
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX)
}

/// A person types `/model`.
pub(crate) async fn pick(
    sessions: &MemorySessionStore,
    key: &SessionKey,
    model: &str,
    profile: Option<&str>,
    now: Timestamp,
) {
    let Ok(model) = model.parse::<ModelRef>() else {
        return;
    };
    let profile = profile.and_then(|profile| profile.parse::<ProfileId>().ok());
    choose(sessions, key, &UserSelection::model(model, profile), now).await;
}

async fn choose(sessions: &MemorySessionStore, key: &SessionKey, choice: &UserSelection, now: Timestamp) {
    let Ok(configured) = "anthropic/m0".parse::<ModelRef>() else {
        return;
    };
    let chosen = openclaw_session::update(sessions, key, |entry| {
        let entry = entry.and_then(|entry| apply_user_selection(entry, choice, &configured, now));
        (entry, ())
    });
    drop(chosen.await);
}
