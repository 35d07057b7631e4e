//! The session, what each run and the person know of it, and what the person chose.

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId};
use openclaw_session::{
    FallbackChoice, FinishedTurn, LiveRun, MergeOutcome, ModelChoice, OrderOrigin, PersistOutcome, PinFacts,
    PinSource, PrimaryProbe, ProfileAvailability, ProfileChoice, ProfilePin, Progress, Reset, Rollback,
    RotationCause, RunSelection, RunTrace, SelectionSnapshot, SessionAge, SessionEntry, SessionRotation,
    StepOutcome, TraceStep, UserSelection, apply_user_selection, choose_pin, clear_after_probe,
    drop_stale_override, is_stale_override, live_switch, mark_probe, merge, persist_fallback, probe_due,
    record_compaction, record_notice, record_trace, reset, roll_back, settle_failed_probe, store_pin,
};

use crate::action::Action;

/// Few enough that actors keep running into each other's models.
pub(crate) const MODELS: [&str; 4] = ["openai/gpt", "openai/o4", "anthropic/claude", "google/gemini"];
pub(crate) const PROFILES: [&str; 3] = ["a", "b", "c"];

/// A run and its possibly outdated knowledge.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    session_id: SessionId,
    requested: ModelRef,
    read: SelectionSnapshot,
    /// The candidate that is being attempted, and how to take its write back.
    attempt: Option<(ModelRef, Option<Rollback>)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct World {
    pub(crate) entry: SessionEntry,
    /// The model that the person wants.
    pub(crate) chosen: Option<ModelRef>,
    /// The profile that the person wants.
    pub(crate) pinned: Option<ProfileId>,
    /// What an override may be when no attempt is busy: whatever answered, or was there before a run.
    pub(crate) accounted_for: Vec<ModelRef>,
    sessions: usize,
    runs: [Option<Run>; 2],
    probe: Option<PrimaryProbe>,
    read_to_change: Option<SessionEntry>,
}

pub(crate) fn model(index: usize) -> ModelRef {
    MODELS[index].parse().unwrap()
}

pub(crate) fn profile(index: usize) -> ProfileId {
    PROFILES[index].parse().unwrap()
}

pub(crate) fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH
}

pub(crate) fn home() -> ProviderId {
    "openai".parse().unwrap()
}

impl World {
    /// A session with these further members, as JSON.
    pub(crate) fn with(members: &str) -> Self {
        let json = format!(r#"{{"sessionId": "s0", "updatedAt": 0{members}}}"#);
        let entry: SessionEntry = serde_json::from_str(&json).unwrap();
        let override_ref = entry.override_ref(&home());
        let persons_pin = entry.profile_pin().filter(|pin| pin.source == PinSource::User);
        Self {
            chosen: override_ref.clone().filter(|_| entry.is_user_pin()),
            pinned: persons_pin.map(|pin| pin.profile),
            accounted_for: override_ref.into_iter().collect(),
            entry,
            sessions: 0,
            runs: [None, None],
            probe: None,
            read_to_change: None,
        }
    }

    /// Whether an attempt is busy whose write can still be taken back.
    pub(crate) fn is_busy(&self) -> bool {
        let mut runs = self.runs.iter().flatten();
        runs.any(|run| run.attempt.is_some() && run.session_id == self.entry.session_id)
    }

    fn account_for(&mut self, model: Option<ModelRef>) {
        let new = model.filter(|model| !self.accounted_for.contains(model));
        self.accounted_for.extend(new);
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

    pub(crate) fn play(&mut self, act: Action) {
        match act {
            Action::Choose {
                model: index,
                profile: named,
            } => {
                let selection = self.want(Some(index), named);
                self.apply(&selection);
            }
            Action::ChooseDefault => {
                let selection = self.want(None, None);
                self.apply(&selection);
            }
            Action::ChooseProfile { profile: named } => {
                let selection = self.want(None, Some(named));
                self.apply(&selection);
            }
            Action::KeepProfile => {
                self.chosen = None;
                self.apply(&UserSelection::cleared(ProfileChoice::Keep));
            }
            Action::ReadToChange => self.read_to_change = Some(self.entry.clone()),
            Action::Commit {
                model: index,
                profile: named,
            } => self.commit(index, named),
            Action::Reset { by_call } => self.start_over(by_call),
            Action::Compact { moves } => self.compact(moves),
            Action::Start { run } => self.start(run),
            Action::Attempt {
                run,
                candidate,
                profile,
            } => self.attempt(run, candidate, profile),
            Action::Fail { run } => {
                let ended = self.runs[run].as_mut().and_then(|run| run.attempt.take());
                if let Some(rollback) = ended.and_then(|(_, rollback)| rollback) {
                    self.store(roll_back(&self.entry, &rollback, now()));
                }
            }
            Action::Succeed { run } => {
                let ended = self.runs[run].as_mut().and_then(|run| run.attempt.take());
                self.account_for(ended.map(|(candidate, _)| candidate));
            }
            Action::CheckSwitchMark { model: index } => {
                let running = RunSelection {
                    model: model(index),
                    runtime: None,
                    profile: None,
                };
                let run = LiveRun {
                    running,
                    progress: Progress::Clean,
                    redirects: 0,
                };
                self.store(live_switch(&self.entry, &run, &model(0), now()).0);
            }
            Action::Pin { resting, first_turn } => self.pin(resting, first_turn),
            Action::FinishTurn { selected, active } => self.finish_turn(selected, active),
            Action::PlanProbe { primary } => self.probe = probe_due(&self.entry, &model(primary), now()),
            Action::StartProbe => self.with_probe(|entry, probe| mark_probe(entry, probe, now())),
            Action::ProbeAnswers => {
                self.with_probe(|entry, probe| clear_after_probe(entry, probe, now()));
                self.probe = None;
            }
            Action::ProbeFails { winner } => {
                let winner = model(winner);
                self.with_probe(|entry, probe| settle_failed_probe(entry, probe, &winner, now()));
                self.account_for(Some(winner));
                self.probe = None;
            }
            Action::Heartbeat { primary } => {
                let resolve = |text: &str| text.parse().ok();
                if is_stale_override(&self.entry, &model(primary), &resolve) {
                    self.entry = drop_stale_override(&self.entry, &model(primary), now());
                }
            }
        }
    }

    /// Notes what the person wants from now on.
    fn want(&mut self, wanted: Option<usize>, named: Option<usize>) -> UserSelection {
        self.chosen = wanted.map(model);
        self.pinned = named.map(profile);
        let selection = wanted.map(|wanted| UserSelection::model(model(wanted), self.pinned.clone()));
        selection.unwrap_or_else(|| UserSelection {
            model: ModelChoice::Default,
            profile: self
                .pinned
                .clone()
                .map_or(ProfileChoice::Drop, ProfileChoice::Named),
            ..UserSelection::default_model()
        })
    }

    fn apply(&mut self, selection: &UserSelection) {
        self.store(apply_user_selection(&self.entry, selection, &model(0), now()));
    }

    fn commit(&mut self, index: usize, named: Option<usize>) {
        let Some(read) = self.read_to_change.take() else {
            return;
        };
        let selection = UserSelection::model(model(index), named.map(profile));
        let Some(changed) = apply_user_selection(&read, &selection, &model(0), now()) else {
            return;
        };
        match merge(&read, &changed, &self.entry) {
            MergeOutcome::Applied(next) => {
                // A choice that was stored already when it was read is none; one that came meanwhile stays (S-12.4 item 5).
                if changed.selection() != read.selection() {
                    self.want(Some(index), named);
                }
                self.entry = next;
            }
            MergeOutcome::SelectionConflict(next) => self.entry = next,
            MergeOutcome::OtherSession => {}
        }
    }

    fn start_over(&mut self, by_call: bool) {
        let id = self.next_id();
        let kind = if by_call {
            Reset::Call { selection: model(0) }
        } else {
            Reset::NewSession
        };
        self.pinned = None;
        self.entry = reset(&self.entry, id, &kind, now());
    }

    fn compact(&mut self, moves: bool) {
        let old = self.entry.session_id.clone();
        let id = moves.then(|| self.next_id());
        self.entry = record_compaction(&self.entry, id, now());
        let moved = SessionRotation {
            old,
            new: self.entry.session_id.clone(),
            cause: RotationCause::Compaction,
        };
        for run in self.runs.iter_mut().flatten() {
            let Some(id) = moved.adopt(&run.session_id) else {
                continue;
            };
            run.session_id = id.clone();
            if let Some((_, Some(rollback))) = run.attempt.as_mut() {
                *rollback = rollback.clone().with_session_id(id);
            }
        }
        let adopted = |probe: &PrimaryProbe| moved.adopt(probe.session_id());
        if let Some(id) = self.probe.as_ref().and_then(adopted) {
            self.probe = self.probe.take().map(|probe| probe.with_session_id(id));
        }
    }

    /// One run attempts one candidate at a time, and the next run of its kind begins when it is over.
    fn start(&mut self, run: usize) {
        if self.runs[run].as_ref().is_some_and(|run| run.attempt.is_some()) {
            return;
        }
        let before = self.entry.override_ref(&home());
        self.account_for(before.clone());
        self.runs[run] = Some(Run {
            session_id: self.entry.session_id.clone(),
            requested: before.unwrap_or_else(|| model(0)),
            read: self.entry.selection(),
            attempt: None,
        });
    }

    fn attempt(&mut self, run: usize, candidate: usize, with_profile: Option<usize>) {
        let Some(run) = self.runs[run].as_mut().filter(|run| run.attempt.is_none()) else {
            return;
        };
        let change = FallbackChoice {
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
        let rollback = match persisted {
            PersistOutcome::Written(rollback) => Some(rollback),
            PersistOutcome::Skipped(_) => None,
        };
        run.attempt = Some((model(candidate), rollback));
        self.store(next);
    }

    fn pin(&mut self, resting: usize, first_turn: bool) {
        let order = [0, 1, 2].map(profile);
        let resting = profile(resting);
        let facts = PinFacts {
            order: &order,
            origin: OrderOrigin::Derived,
            availability: &|id| {
                if *id == resting {
                    ProfileAvailability::CoolingDown
                } else {
                    ProfileAvailability::Usable
                }
            },
            session: if first_turn {
                SessionAge::New
            } else {
                SessionAge::Continuing
            },
        };
        let decision = choose_pin(&self.entry, &facts);
        self.store(store_pin(&self.entry, &decision, now()));
    }

    fn finish_turn(&mut self, selected: usize, active: usize) {
        let turn = FinishedTurn {
            session_id: self.entry.session_id.clone(),
            selected: model(selected),
            active: model(active),
            reason: "rate limit".to_owned(),
        };
        let (next, _) = record_notice(&self.entry, &self.entry.notice, &turn, now());
        self.store(next);
        let step = TraceStep {
            model: model(selected),
            outcome: StepOutcome::Failed,
            reason: None,
            status: None,
            code: None,
            summary: None,
            next: Some(model(active)),
        };
        let trace = RunTrace {
            run_id: "r".to_owned(),
            at: now(),
            steps: vec![step],
        };
        self.store(record_trace(&self.entry, &trace));
    }

    fn with_probe(&mut self, fold: impl FnOnce(&SessionEntry, &PrimaryProbe) -> Option<SessionEntry>) {
        let next = self.probe.as_ref().and_then(|probe| fold(&self.entry, probe));
        self.store(next);
    }
}
