//! One session: a person who comes back, chooses models, starts over, cancels.

mod after;
mod draws;
mod stored;
mod turn;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId, SessionKey};
use openclaw_session::{
    MemorySessionStore, Reset, Revision, SessionEntry, SessionStore, UserSelection, apply_user_selection,
};

use crate::play::Simulation;
use crate::random::SeededRandom;
use crate::setup::{Session, profile_id};
use crate::time::{at, span};
use crate::trace::{Pins, Trace};

/// Of a thousand turns of a person who chose a model or a profile, before so many that is taken back.
const TAKEN_BACK: u64 = 120;

/// Of a thousand turns so many come while another one is busy.
const OVERLAPS: u64 = 30;

/// Plays a session until its world ends.
pub(crate) async fn play(stage: Arc<Simulation>, session: Session) {
    let seed = stage.world.setup.seed;
    let number = u64::try_from(session.number).unwrap_or(0);
    let mut person = Person {
        key: key(&session),
        random: SeededRandom::of(seed, 1_000 + number),
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
            .random
            .spread(person.session.pause / 4, person.session.pause * 2);
        tokio::time::sleep(span(pause)).await;
        person.turn += 1;
        if !person.session.stateless {
            person.fiddle().await;
        }
        if !person.session.stateless && person.random.chance(OVERLAPS) {
            Box::pin(person.ask_twice()).await;
        } else {
            Box::pin(person.ask()).await;
        }
    }
}

fn key(session: &Session) -> SessionKey {
    let text = format!("agent:a{}:s{}", session.agent, session.number);
    text.parse()
        .unwrap_or_else(|_| unreachable!("the key is well formed"))
}

struct Person {
    stage: Arc<Simulation>,
    session: Session,
    key: SessionKey,
    random: SeededRandom,
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

    /// The configured primary of its agent.
    fn primary(&self) -> &String {
        &self.stage.world.setup.agents[self.session.agent].chain[0]
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
            TAKEN_BACK
        };
        if self.random.chance(chance) {
            let Ok(configured) = self.primary().parse::<ModelRef>() else {
                return;
            };
            let choice = UserSelection::default_model();
            choose(self.sessions(), &self.key, &choice, &configured, now).await;
            self.pins = Pins::default();
        } else if self.random.chance(12) {
            let (model, profile) = self.some_model();
            pick(self.sessions(), &self.key, &model, profile.as_deref(), now).await;
            self.pins = Pins {
                model: Some(model),
                profile,
            };
        } else if self.random.chance(15) {
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
        let provider = self.random.pick(providers).clone();
        let model = format!("{}/{}", provider.name, self.random.pick(&provider.models));
        let named = provider.keys > 0 && self.random.chance(400);
        let profile = named.then(|| profile_id(provider.name, self.random.below(provider.keys)));
        (model, profile)
    }
}

fn lock(trace: &Mutex<Trace>) -> std::sync::MutexGuard<'_, Trace> {
    trace.lock().unwrap_or_else(PoisonError::into_inner)
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
    let choice = UserSelection::model(model.clone(), profile);
    // What is configured does not matter to who names a model.
    choose(sessions, key, &choice, &model, now).await;
}

async fn choose(
    sessions: &MemorySessionStore,
    key: &SessionKey,
    choice: &UserSelection,
    configured: &ModelRef,
    now: Timestamp,
) {
    let chosen = openclaw_session::update(sessions, key, |entry| {
        let entry = entry.and_then(|entry| apply_user_selection(entry, choice, configured, now));
        (entry, ())
    });
    drop(chosen.await);
}
