//! What a session takes to be written is part of a recording: every decision is replayed at its own time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_chain::Requested;
use openclaw_history::recording::{Recorder, RecordingSink, RunRecording, SessionWrite, StepResult};
use openclaw_history::replay::{ReplayOverrides, replay};
use openclaw_ids::ModelRef;
use openclaw_runner::{PersistPolicy, RunPolicy, RunRequest, RunSession, Runner};
use openclaw_session::{
    MemorySessionStore, Revision, SelectionSnapshot, SessionEntry, SessionStore, TurnKind,
};
use serde_json::json;

use crate::clock::PausedClock;
use crate::delayed::Delayed;
use crate::scenario::START;
use crate::script::Script;

#[derive(Default)]
struct Kept(Mutex<Option<RunRecording>>);

impl RecordingSink for Kept {
    fn on_recording(&self, recording: RunRecording) {
        *self.0.lock().unwrap() = Some(recording);
    }
}

fn request() -> RunRequest {
    let chain: Vec<ModelRef> = ["anthropic/claude", "openai/gpt", "groq/llama"]
        .map(|text| text.parse().unwrap())
        .into();
    RunRequest {
        run_id: "run-1".to_owned(),
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: "agent:main:main".parse().unwrap(),
            id: "session-1".parse().unwrap(),
            kind: TurnKind::Normal,
            read: SelectionSnapshot::default(),
            persist: PersistPolicy::BeforeAttempt,
            probe: None,
        }),
        lane: None,
        requested: Requested::from(&chain[0]),
        chain,
        pin: None,
    }
}

#[tokio::test(start_paused = true)]
async fn bl_81_a_run_whose_session_is_written_slowly_replays_byte_for_byte() {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let sessions = MemorySessionStore::default();
    let entry = SessionEntry::new("session-1".parse().unwrap(), start);
    let key = "agent:main:main".parse().unwrap();
    sessions
        .compare_and_set(&key, Revision::NONE, entry)
        .await
        .unwrap();
    let kept = Arc::new(Kept::default());
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::new(MemoryAuthStore::new(
            AuthSnapshot::default(),
            policy.auth.cooldowns.clone(),
        )),
        Arc::new(Delayed(sessions, Duration::from_millis(118))),
        policy,
    )
    .with_recorder(Arc::new(Recorder::new(Arc::clone(&kept))));
    let outcomes = [
        ("anthropic/claude".to_owned(), vec![json!("503 busy")]),
        ("openai/gpt".to_owned(), vec![json!("401 invalid api key")]),
    ];
    let done = runner
        .run(request(), &*Script::new(outcomes.into()))
        .await
        .unwrap();

    let recording = kept.0.lock().unwrap().take().unwrap();
    let wrote: Vec<SessionWrite> = recording
        .steps
        .iter()
        .filter_map(|step| match step.result {
            StepResult::Session { wrote } => wrote,
            _ => None,
        })
        .collect();
    assert_eq!(
        wrote,
        [SessionWrite::Choice, SessionWrite::WayBack, SessionWrite::Choice]
    );
    let again = replay(&recording, &ReplayOverrides::default()).unwrap();
    assert_eq!(again.report, done.report);
    assert_eq!(again.steps_as_recorded, recording.steps.len());
}
