//! What is kept of requests, as another process reads it.

use faultwall::scripted::{Script, Upstream};
use openclaw_history::{
    CooldownTarget, HistoryReader, RunFilter, RunOutcome, StoredStory, WindowChange, WindowFilter,
    history_path,
};
use serde_json::json;

use crate::world::{Received, World, hello, refusal, rows};

const ID: &str = "x-openclaw-request-id";

impl World {
    async fn history(&self) -> HistoryReader {
        self.gateway.flush().await;
        HistoryReader::open(self.state.path()).unwrap().unwrap()
    }

    async fn story(&self, of: &Received) -> StoredStory {
        let id = of.header(ID).unwrap();
        self.history().await.story(id).unwrap().unwrap()
    }
}

#[tokio::test]
async fn the_story_of_a_request_is_found_by_its_id() {
    let world = World::start(vec![
        vec![refusal(429, "rate_limit_exceeded", "slow down")],
        vec![hello()],
    ])
    .await;
    let answer = world
        .ask(
            "openclaw",
            json!({}),
            &[("x-openclaw-session-key", "agent:main:chat")],
        )
        .await;
    assert_eq!(answer.status, 200);
    let story = world.story(&answer).await;
    let run = story.run.unwrap().note;
    assert_eq!(run.outcome, RunOutcome::Answered);
    assert_eq!(run.served.unwrap().key(), "b/m");
    assert_eq!((run.calls, run.fallback_index), (2, Some(1)));
    assert_eq!(run.session_key.unwrap().as_str(), "agent:main:chat");
    let kinds: Vec<&str> = story.told.iter().map(|told| told.kind.as_str()).collect();
    assert_eq!(kinds, ["window", "rotation", "decision", "decision"]);
    assert_eq!(story.told[2].record["decision"], "candidate_failed");
    assert_eq!(story.told[3].record["decision"], "candidate_succeeded");
}

#[tokio::test]
async fn a_window_is_kept_with_what_it_rests_when_it_opens() {
    let world = World::start(vec![vec![refusal(429, "rate_limit_exceeded", "slow down")]]).await;
    world.ask_plain().await;
    let history = world.history().await;
    let windows = history.windows(&WindowFilter::default()).unwrap();
    let [window] = &*windows else {
        panic!("{windows:?}")
    };
    assert_eq!(window.note.change, WindowChange::Opened);
    let CooldownTarget::Profile { profile, lane } = &window.note.rested else {
        panic!("{window:?}")
    };
    assert_eq!((profile.as_str(), &*lane.to_string()), ("a:config", "model:m"));
}

#[tokio::test]
async fn failed_broken_and_cancelled_requests_are_told_apart() {
    let failed = World::start(vec![vec![refusal(400, "invalid_request_error", "bad shape")]]).await;
    let answer = failed.ask_plain().await;
    let run = failed.story(&answer).await.run.unwrap().note;
    assert_eq!((run.outcome, run.served), (RunOutcome::Failed, None));

    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let broken = World::start(vec![vec![Script::cut(&[chunk])]]).await;
    let answer = broken.ask_stream().await;
    let story = broken.story(&answer).await;
    assert_eq!(story.run.unwrap().note.outcome, RunOutcome::Answered);
    assert_eq!(story.told.last().unwrap().kind, "broken");

    let cancelled = World::start(vec![vec![Script::silence()]]).await;
    let request = cancelled.ask_plain();
    tokio::select! {
        _ = request => panic!("an answer out of silence"),
        () = cancelled.upstreams[0].asked() => {}
    }
    cancelled.upstreams[0].left_alone().await;
    let runs = cancelled.history().await.runs(&RunFilter::default()).unwrap();
    assert_eq!(runs[0].note.outcome, RunOutcome::Cancelled);
}

#[tokio::test]
async fn a_history_that_is_off_or_cannot_be_used_stops_nothing() {
    let off = World::start_under("{ history: { enabled: false } }", vec![vec![hello()]]).await;
    assert_eq!(off.ask_plain().await.status, 200);
    off.gateway.flush().await;
    assert!(!history_path(off.state.path()).exists());

    let state = tempfile::tempdir().unwrap();
    let damage = "no database".repeat(200);
    std::fs::write(history_path(state.path()), &damage).unwrap();
    let upstreams = vec![Upstream::start([hello()]).await];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m' }} }}, models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let damaged = World::open_in(state, "{}", upstreams, &text, &[]).await;
    assert_eq!(damaged.ask_plain().await.status, 200);
    damaged.gateway.flush().await;
    let left = std::fs::read_to_string(history_path(damaged.state.path())).unwrap();
    assert_eq!(left, damage);
}

#[tokio::test]
async fn no_secret_is_kept() {
    let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let echo = refusal(401, "invalid_api_key", &format!("the keys {key} are wrong"));
    let world = World::start(vec![vec![echo.clone()], vec![echo]]).await;
    world.ask_plain().await;
    world.gateway.flush().await;
    let kept: Vec<u8> = std::fs::read_dir(world.state.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_string_lossy().contains("history"))
        .flat_map(|path| std::fs::read(path).unwrap())
        .collect();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains("are wrong"), "the failure is kept");
    assert!(!kept.contains("AAAAAAAAAAAA"), "and no key");
}
