//! A person, two runs and the system act on one session in any order; what the person chose stays theirs.
#![expect(clippy::unwrap_used, reason = "functions that tests share")]

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId};
use openclaw_session::{
    OrderOrigin, PersistFallback, Persisted, PinFacts, PinSource, PrimaryProbe, ProfilePin, ProfileStanding,
    Reset, Rollback, SelectionSnapshot, SessionAge, SessionEntry, UserSelection, apply_user_selection,
    choose_pin, clear_after_probe, compacted, drop_stale_override, is_stale_override, mark_probe,
    persist_fallback, probe_due, reset, roll_back, settle_failed_probe, store_pin,
};
use proptest::prelude::*;

/// Few enough that actors keep running into each other's models.
const MODELS: [&str; 4] = ["openai/gpt", "openai/o4", "anthropic/claude", "google/gemini"];
const PROFILES: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
enum Act {
    /// The person picks a model, perhaps with a profile.
    Choose {
        model: usize,
        profile: Option<usize>,
    },
    /// The person goes back to the default.
    ChooseDefault,
    /// The person starts over, or a call does.
    Reset {
        by_call: bool,
    },
    /// The host compacts the transcript, perhaps into another one.
    Compact {
        moves: bool,
    },
    /// A run reads the session.
    Start {
        run: usize,
    },
    /// It attempts a candidate.
    Attempt {
        run: usize,
        candidate: usize,
        profile: Option<usize>,
    },
    /// Its attempt fails, or it is dropped.
    Fail {
        run: usize,
    },
    /// It takes its profile for the turn.
    Pin {
        resting: usize,
        compaction: bool,
    },
    /// A probe of a primary is planned, starts, answers, fails.
    PlanProbe {
        primary: usize,
    },
    StartProbe,
    ProbeAnswers,
    ProbeFails {
        winner: usize,
    },
    /// A heartbeat looks for a stale override.
    Heartbeat {
        primary: usize,
    },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let model = 0..MODELS.len();
    let profile = || proptest::option::of(0..PROFILES.len());
    let run = 0..2_usize;
    let act = prop_oneof![
        2 => (model.clone(), profile()).prop_map(|(model, profile)| Act::Choose { model, profile }),
        1 => Just(Act::ChooseDefault),
        1 => any::<bool>().prop_map(|by_call| Act::Reset { by_call }),
        1 => any::<bool>().prop_map(|moves| Act::Compact { moves }),
        3 => run.clone().prop_map(|run| Act::Start { run }),
        6 => (run.clone(), model.clone(), profile())
            .prop_map(|(run, candidate, profile)| Act::Attempt { run, candidate, profile }),
        4 => run.prop_map(|run| Act::Fail { run }),
        2 => (0..PROFILES.len(), any::<bool>()).prop_map(|(resting, compaction)| Act::Pin { resting, compaction }),
        3 => model.clone().prop_map(|primary| Act::PlanProbe { primary }),
        2 => Just(Act::StartProbe),
        2 => Just(Act::ProbeAnswers),
        1 => model.clone().prop_map(|winner| Act::ProbeFails { winner }),
        1 => model.prop_map(|primary| Act::Heartbeat { primary }),
    ];
    proptest::collection::vec(act, 1..40)
}

struct Run {
    session_id: SessionId,
    requested: ModelRef,
    read: SelectionSnapshot,
    rollback: Option<Rollback>,
}

/// The session, everybody's possibly outdated knowledge of it, and what the person wants.
struct World {
    entry: SessionEntry,
    sessions: usize,
    runs: [Option<Run>; 2],
    probe: Option<PrimaryProbe>,
    chosen: Option<ModelRef>,
    pinned: Option<ProfileId>,
}

fn model(index: usize) -> ModelRef {
    MODELS[index].parse().unwrap()
}

fn profile(index: usize) -> ProfileId {
    PROFILES[index].parse().unwrap()
}

fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

fn home() -> ProviderId {
    "openai".parse().unwrap()
}

impl World {
    fn new() -> Self {
        Self {
            entry: SessionEntry::new("s0".parse().unwrap(), now()),
            sessions: 0,
            runs: [None, None],
            probe: None,
            chosen: None,
            pinned: None,
        }
    }

    fn next_id(&mut self) -> SessionId {
        self.sessions += 1;
        format!("s{}", self.sessions).parse().unwrap()
    }

    fn store(&mut self, next: Option<SessionEntry>) {
        if let Some(next) = next {
            self.entry = next;
        }
    }

    fn play(&mut self, act: &Act) {
        match act {
            Act::Choose {
                model: index,
                profile: named,
            } => {
                self.chosen = Some(model(*index));
                self.pinned = named.map(profile);
                let selection = UserSelection::model(model(*index), self.pinned.clone());
                self.store(apply_user_selection(&self.entry, &selection, &model(0), now()));
            }
            Act::ChooseDefault => {
                (self.chosen, self.pinned) = (None, None);
                let selection = UserSelection::default_model();
                self.store(apply_user_selection(&self.entry, &selection, &model(0), now()));
            }
            Act::Reset { by_call } => {
                let id = self.next_id();
                let kind = if *by_call {
                    Reset::Call { selection: model(0) }
                } else {
                    Reset::NewSession
                };
                if !by_call {
                    self.pinned = None;
                }
                self.entry = reset(&self.entry, id, &kind, now());
            }
            Act::Compact { moves } => {
                let id = moves.then(|| self.next_id());
                self.entry = compacted(&self.entry, id, now());
            }
            Act::Start { run } => {
                self.runs[*run] = Some(Run {
                    session_id: self.entry.session_id.clone(),
                    requested: self.entry.override_ref(&home()).unwrap_or_else(|| model(0)),
                    read: self.entry.selection(),
                    rollback: None,
                });
            }
            Act::Attempt {
                run,
                candidate,
                profile,
            } => self.attempt(*run, *candidate, *profile),
            Act::Fail { run } => {
                if let Some(rollback) = self.runs[*run].as_mut().and_then(|run| run.rollback.take()) {
                    self.store(roll_back(&self.entry, &rollback, now()));
                }
            }
            Act::Pin { resting, compaction } => self.pin(*resting, *compaction),
            Act::PlanProbe { primary } => self.probe = probe_due(&self.entry, &model(*primary), now()),
            Act::StartProbe => self.with_probe(mark),
            Act::ProbeAnswers => self.with_probe(|entry, probe| clear_after_probe(entry, probe, now())),
            Act::ProbeFails { winner } => {
                let winner = model(*winner);
                self.with_probe(|entry, probe| settle_failed_probe(entry, probe, &winner, now()));
            }
            Act::Heartbeat { primary } => {
                let resolve = |text: &str| text.parse().ok();
                if is_stale_override(&self.entry, &model(*primary), &resolve) {
                    self.entry = drop_stale_override(&self.entry, &model(*primary), now());
                }
            }
        }
    }

    fn attempt(&mut self, run: usize, candidate: usize, with_profile: Option<usize>) {
        let Some(run) = self.runs[run].as_mut() else {
            return;
        };
        let change = PersistFallback {
            session_id: run.session_id.clone(),
            candidate: model(candidate),
            requested: run.requested.clone(),
            origin: None,
            profile: with_profile.map(|index| ProfilePin {
                profile: profile(index),
                source: PinSource::Auto,
            }),
            read: run.read.clone(),
        };
        let (next, persisted) = persist_fallback(&self.entry, &change, now());
        if let Persisted::Written(rollback) = persisted {
            run.rollback = Some(rollback);
        }
        self.store(next);
    }

    fn pin(&mut self, resting: usize, compaction: bool) {
        if compaction {
            self.entry = compacted(&self.entry, None, now());
        }
        let order = [0, 1, 2].map(profile);
        let facts = PinFacts {
            order: &order,
            origin: OrderOrigin::Derived,
            standing: &|id| {
                if *id == profile(resting) {
                    ProfileStanding::Resting
                } else {
                    ProfileStanding::Usable
                }
            },
            session: SessionAge::Continuing,
        };
        let decision = choose_pin(&self.entry, &facts);
        self.store(store_pin(&self.entry, &decision, now()));
    }

    fn with_probe(&mut self, fold: impl FnOnce(&SessionEntry, &PrimaryProbe) -> Option<SessionEntry>) {
        if let Some(probe) = &self.probe {
            let next = fold(&self.entry, probe);
            self.store(next);
        }
    }
}

fn mark(entry: &SessionEntry, probe: &PrimaryProbe) -> Option<SessionEntry> {
    mark_probe(entry, probe, now())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_persons_choice_is_never_lost_split_or_rewritten(acts in acts()) {
        let mut world = World::new();
        for act in &acts {
            world.play(act);
            let entry = &world.entry;
            match &world.chosen {
                Some(chosen) => {
                    prop_assert!(entry.is_user_pin(), "{act:?} lost the choice: {entry:?}");
                    prop_assert_eq!(entry.override_ref(&home()), Some(chosen.clone()), "after {:?}", act);
                    prop_assert_eq!(entry.origin(), None, "after {:?}", act);
                    if let Some(pinned) = &world.pinned {
                        let pin = ProfilePin { profile: pinned.clone(), source: PinSource::User };
                        prop_assert_eq!(entry.profile_pin(), Some(pin), "after {:?}", act);
                    }
                }
                // Without a choice there is no override, or a whole automatic one that leads back.
                None if entry.has_override() => prop_assert!(
                    entry.is_auto() && entry.has_auto_provenance() && entry.override_ref(&home()).is_some(),
                    "{act:?} left half an override: {entry:?}"
                ),
                None => prop_assert_eq!(entry.origin(), None, "after {:?}", act),
            }
        }
    }
}
