//! A run in which the engine does everything it ever waits for, dropped after each poll (A3, S1, G4).

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, UsageChange, UsageStore};
use openclaw_chain::Requested;
use openclaw_classify::{Failure, Header, Reason};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelRef, ProfileId, SessionKey};
use openclaw_runner::machine::{Event, Machine};
use openclaw_runner::{
    Attempt, AttemptCall, InlineWait, PersistPolicy, Repair, RunPolicy, RunRecorder, RunRequest, RunSession,
    RunSettings, RunStart, Runner, StepRecorder, StepSummary,
};
use openclaw_session::{
    FallbackChoice, MemorySessionStore, Revision, SessionEntry, SessionStore, TurnKind, persist_fallback,
    probe_due,
};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::slow::Slow;

/// `a` is the primary, which the session left for `b`; it rests, is probed, and is busy. `b` asks to wait a second and then
/// refuses its login; `c` cannot read the request, and is busy once it can; `d` answers.
pub(crate) const CHAIN: [&str; 4] = ["a/m", "b/m", "c/m", "d/m"];

#[derive(Default)]
struct Everything {
    calls: AtomicUsize,
}

impl Attempt for Everything {
    type Output = ();

    async fn attempt(&self, call: AttemptCall) -> Result<(), Failure> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        let failure = |status, message: &str, headers| Failure {
            provider: Some(call.candidate.provider().clone()),
            status: Some(status),
            message: Some(message.to_owned()),
            headers,
            ..Failure::default()
        };
        let soon = vec![Header {
            name: "retry-after".to_owned(),
            value: "1".to_owned(),
        }];
        Err(match number {
            0 | 4 => failure(503, "busy", Vec::new()),
            1 => failure(429, "Rate limit reached", soon),
            2 => failure(401, "Incorrect API key provided", Vec::new()),
            3 => failure(
                400,
                "messages.1: tool_use_id: String should match pattern",
                Vec::new(),
            ),
            _ => return Ok(()),
        })
    }

    fn repair_format(&self, _call: &AttemptCall, _failure: &Failure) -> Repair {
        Repair::Done
    }
}

/// What a run did, by the names of recordings; known when it has ended.
#[derive(Default)]
struct Done(Mutex<BTreeSet<&'static str>>);

struct Doing<'r> {
    all: &'r Done,
    names: Vec<&'static str>,
}

impl RunRecorder for Done {
    fn start<'r>(&'r self, _start: &RunStart<'r>, _machine: &Machine) -> Box<dyn StepRecorder + 'r> {
        Box::new(Doing {
            all: self,
            names: Vec::new(),
        })
    }
}

impl StepRecorder for Doing<'_> {
    fn on_event(&mut self, step: &StepSummary, event: &Event, _now: Timestamp) {
        self.names.push(match step {
            StepSummary::Attempt(..) => match event {
                Event::Failed(..) | Event::Rejected(..) => "failed",
                Event::OutOfTime => "outOfTime",
                _ => "answered",
            },
            StepSummary::Commit(_) => "committed",
            StepSummary::LookForSwitch => "looked",
            StepSummary::MarkPrimaryProbe | StepSummary::Persist | StepSummary::RollBack => "session",
            StepSummary::NoteAuthFailure => "noted",
            StepSummary::Repair(_) => "repaired",
            StepSummary::Sleep(_) => "waited",
        });
    }

    fn on_step_done(&mut self, _step: &StepSummary, _machine: &Machine, _now: Timestamp) {}

    fn finish(self: Box<Self>) {
        self.all.0.lock().unwrap().extend(self.names);
    }
}

/// What was stored when the run had been polled so often, before and after it was dropped.
struct Dropped {
    finished: bool,
    model_before: String,
    entry_before: SessionEntry,
    entry_after: SessionEntry,
    usage: Arc<AuthSnapshot>,
    leased_before: bool,
    did: BTreeSet<&'static str>,
}

#[tokio::test(start_paused = true)]
async fn a3_s1_g4_dropping_a_run_in_any_kind_of_step_leaves_nothing_behind() {
    let mut models = Vec::new();
    let (mut marked, mut leased) = (false, false);
    for polls in 0..300 {
        let (stood, dropped) = drop_after(polls).await;
        if models.last() != Some(&dropped.model_before) {
            models.push(dropped.model_before.clone());
        }
        let probes = serde_json::to_value(&dropped.entry_before).unwrap()["failover"]["probes"].clone();
        marked |= probes.get("a/m").is_some();
        leased |= dropped.leased_before;
        assert!(
            dropped.usage.probes.values().all(|probe| probe.lease.is_none()),
            "a lease is left after {polls} polls"
        );
        assert!(
            dropped.usage.usage(&profile("d:key")).windows.is_empty(),
            "the key that answered is marked after {polls} polls"
        );
        if !dropped.finished {
            let (now, then) = (dropped.entry_after.selection(), stood.selection());
            assert_eq!(now, then, "the session is on another model after {polls} polls");
            assert_eq!(dropped.entry_after.fallback_since(), stood.fallback_since());
            continue;
        }
        // The session was on `b`, on `c` while that was asked, on `b` again, and is on `d`.
        assert_eq!(
            models,
            ["b/m", "c/m", "b/m", "d/m"],
            "persisted, rolled back, persisted"
        );
        assert!(marked, "the probe of the primary was marked");
        assert!(leased, "a resting provider was probed");
        let did = [
            "answered",
            "committed",
            "failed",
            "looked",
            "noted",
            "repaired",
            "session",
            "waited",
        ];
        assert_eq!(dropped.did, did.into(), "every kind of step was taken");
        return;
    }
    panic!("the run never ended within the polls tried");
}

fn profile(id: &str) -> ProfileId {
    id.parse().unwrap()
}

/// Every provider has a key; that of `a` has rested for long enough to be probed.
pub(crate) fn credentials(start: Timestamp, policy: &RunPolicy) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    for provider in ["a", "b", "c", "d"] {
        let entry = json!({"type": "api_key", "provider": provider, "key": "sk-test"});
        let id = profile(&format!("{provider}:key"));
        snapshot
            .profiles
            .insert(id, Credential::from_json(&entry).unwrap());
    }
    let rest = UsageChange::Failure {
        profile: profile("a:key"),
        event: FailureEvent {
            provider: "a".parse().unwrap(),
            reason: Reason::Timeout,
            scope: MarkScope::Model,
            model: Some("m".parse().unwrap()),
            hint: None,
            started_at: None,
        },
    };
    for ago in [200, 40] {
        let then = start - SignedDuration::from_secs(ago);
        snapshot.apply(&rest, then, &policy.auth.cooldowns);
    }
    snapshot
}

/// A turn of a session that fell back, which asks its primary again.
pub(crate) fn probing(key: &SessionKey, stood: &SessionEntry, start: Timestamp) -> RunRequest {
    let chain = CHAIN.map(|model| model.parse::<ModelRef>().unwrap());
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: key.clone(),
            id: stood.session_id.clone(),
            kind: TurnKind::Normal,
            read: stood.selection(),
            persist: PersistPolicy::BeforeAttempt,
            probe: probe_due(stood, &chain[0], start),
        }),
        lane: None,
        requested: Requested::from(&chain[0]),
        chain: chain.to_vec(),
        pin: None,
    };
    assert!(request.session.as_ref().unwrap().probe.is_some());
    request
}

/// The entry of a session that fell back from `a` to `b` a while ago.
pub(crate) fn fallen_back(start: Timestamp) -> SessionEntry {
    let then = start - SignedDuration::from_mins(10);
    let new = SessionEntry::new("session-1".parse().unwrap(), then);
    let change = FallbackChoice {
        session_id: new.session_id.clone(),
        candidate: CHAIN[1].parse().unwrap(),
        requested: CHAIN[0].parse().unwrap(),
        origin: None,
        profile: None,
        read: new.selection(),
    };
    persist_fallback(&new, &change, then).0.unwrap()
}

async fn drop_after(polls: usize) -> (SessionEntry, Dropped) {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy {
        settings: RunSettings {
            inline_wait_when: InlineWait::Always,
            ..RunSettings::default()
        },
        ..RunPolicy::default()
    });
    let snapshot = credentials(start, &policy);
    let usage = Arc::new(Slow(MemoryAuthStore::new(
        snapshot,
        policy.auth.cooldowns.clone(),
    )));
    let sessions = Arc::new(Slow(MemorySessionStore::default()));
    let key: SessionKey = "agent:main:main".parse().unwrap();
    let stood = fallen_back(start);
    let stored = sessions.compare_and_set(&key, Revision::NONE, stood.clone());
    stored.await.unwrap();
    let request = probing(&key, &stood, start);
    let did = Arc::new(Done::default());
    let clock = Arc::new(PausedClock::new(start));
    let runner = Runner::new(clock, Arc::clone(&usage), Arc::clone(&sessions), policy)
        .with_recorder(Arc::clone(&did) as Arc<dyn RunRecorder>);
    let attempt = Everything::default();
    let mut run = Box::pin(runner.run(request, &attempt));
    let mut finished = false;
    for _ in 0..polls {
        finished = poll_fn(|context| Poll::Ready(run.as_mut().poll(context).is_ready())).await;
        if finished {
            break;
        }
        tokio::time::advance(Duration::from_millis(100)).await;
    }
    let entry_before = sessions.load(&key).await.unwrap().unwrap().entry;
    let leased_before = usage
        .snapshot()
        .probes
        .values()
        .any(|probe| probe.lease.is_some());
    drop(run);
    let entry_after = sessions.load(&key).await.unwrap().unwrap().entry;
    let did = did.0.lock().unwrap().clone();
    let model_before = entry_before.override_ref(&"a".parse().unwrap()).unwrap().key();
    let dropped = Dropped {
        finished,
        model_before,
        entry_before,
        entry_after,
        usage: usage.snapshot(),
        leased_before,
        did,
    };
    (stood, dropped)
}
