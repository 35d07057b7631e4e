//! Which runs are recorded: a recorder that has no room is asked once, and the run is the same without it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_chain::Requested;
use openclaw_history::recording::{Recorder, RecordingSink, RunRecording};
use openclaw_ids::ModelRef;
use openclaw_runner::{RunPolicy, RunReport, RunRequest, Runner};
use openclaw_session::MemorySessionStore;
use serde_json::{Value, json};

use crate::clock::PausedClock;
use crate::scenario::START;
use crate::script::Script;

struct Room {
    left: bool,
    asked: AtomicU32,
    kept: Mutex<Vec<RunRecording>>,
}

impl RecordingSink for Room {
    fn on_recording(&self, recording: RunRecording) {
        self.kept.lock().unwrap().push(recording);
    }

    fn has_room(&self, _now: Timestamp) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.left
    }

    fn wants_uneventful(&self) -> bool {
        false
    }
}

/// How often the recorder was asked, how much it kept, and what became of the run.
async fn run(left: bool, first: &[Value]) -> (u32, usize, RunReport) {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let room = Arc::new(Room {
        left,
        asked: AtomicU32::new(0),
        kept: Mutex::default(),
    });
    let usage = MemoryAuthStore::new(AuthSnapshot::default(), policy.auth.cooldowns.clone());
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::new(usage),
        Arc::new(MemorySessionStore::default()),
        policy,
    )
    .with_recorder(Arc::new(Recorder::new(Arc::clone(&room))));
    let chain: Vec<ModelRef> = ["anthropic/claude", "openai/gpt"]
        .map(|text| text.parse().unwrap())
        .into();
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::from(&chain[0]),
        chain,
        pin: None,
    };
    let outcomes = [("anthropic/claude".to_owned(), first.to_vec())];
    let done = runner.run(request, &*Script::new(outcomes.into())).await.unwrap();
    let kept = room.kept.lock().unwrap().len();
    (room.asked.load(Ordering::Relaxed), kept, done.report)
}

#[tokio::test(start_paused = true)]
async fn bl_81_a_run_without_room_is_not_recorded_and_ends_as_with_it() {
    let troubled = [json!("503 busy")];
    let (with, without) = (run(true, &troubled).await, run(false, &troubled).await);
    assert_eq!((with.0, with.1), (1, 1));
    assert_eq!((without.0, without.1), (1, 0));
    assert_eq!(with.2, without.2);
}

#[tokio::test(start_paused = true)]
async fn bl_81_room_is_not_asked_for_when_a_run_is_not_wanted() {
    let (asked, kept, report) = run(true, &[]).await;
    assert_eq!((asked, kept), (0, 0));
    assert_eq!(report.attempts.len(), 0);
}
