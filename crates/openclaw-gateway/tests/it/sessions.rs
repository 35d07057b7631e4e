//! Requests of one session: a fallback that answered is remembered, one that failed is not.

use std::path::PathBuf;

use openclaw_ids::SessionKey;
use openclaw_session::{SessionEntry, SessionStore, SqliteSessionStore};
use serde_json::json;

use crate::scripted::{Script, Upstream};
use crate::world::{World, hello, rows};

const KEY: &str = "agent:main:chat";
const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", KEY)];

fn session_file(world: &World) -> PathBuf {
    let state = world.state.path();
    state.join("agents/main/sessions/openclaw-sessions.sqlite")
}

/// The session as another process would read it.
async fn entry(world: &World) -> SessionEntry {
    let store = SqliteSessionStore::open(&session_file(world)).unwrap();
    let key = SessionKey::try_new(KEY).unwrap();
    store.load(&key).await.unwrap().unwrap().entry
}

#[tokio::test]
async fn s_3_the_model_that_answered_is_remembered_with_its_origin() {
    let limited = Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    );
    let world = World::start(vec![vec![limited], vec![hello()]]).await;
    let first = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(first.header("x-openclaw-served-model"), Some("b/m"));
    let entry = entry(&world).await;
    assert!(entry.is_active_fallback());
    assert_eq!(entry.active_fallback().unwrap().key(), "b/m");
    assert_eq!(entry.origin().unwrap().key(), "a/m");

    let second = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(second.header("x-openclaw-served-model"), Some("b/m"));
    assert_eq!(world.calls(), [1, 2]);
}

#[tokio::test]
async fn s_2_1_a_one_off_model_leaves_the_session_alone() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    world.ask("b/m", json!({}), SESSION).await;
    assert!(!entry(&world).await.has_override());
    let next = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(next.header("x-openclaw-served-model"), Some("a/m"));
}

#[tokio::test]
async fn s_4_a_run_without_an_answer_leaves_no_override() {
    let world = World::start(vec![vec![Script::reset()], vec![Script::reset()]]).await;
    let failed = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(failed.status, 503);
    assert!(!entry(&world).await.has_override());
}

#[tokio::test]
async fn the_credential_that_answered_is_pinned() {
    let world = World::start(vec![vec![hello()]]).await;
    world.ask("openclaw", json!({}), SESSION).await;
    let pin = entry(&world).await.profile_pin().unwrap();
    assert_eq!(pin.profile.as_str(), "a:config");
}

/// Damages what is stored of the session, as a broken writer would.
fn damage_entry(world: &World) {
    let file = rusqlite::Connection::open(session_file(world)).unwrap();
    let changed = file.execute("UPDATE sessions SET entry_json = '{'", []).unwrap();
    assert_eq!(changed, 1);
}

#[tokio::test]
async fn a_session_that_cannot_be_used_costs_its_memory_and_not_the_answer() {
    let world = World::start(vec![vec![hello()]]).await;
    let before = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(before.header("x-openclaw-session"), None);
    damage_entry(&world);
    for model in ["openclaw", "a/m"] {
        let received = world.ask(model, json!({}), SESSION).await;
        assert_eq!(received.status, 200);
        assert_eq!(received.header("x-openclaw-session"), Some("unavailable"));
    }
    let other = [("x-openclaw-session-key", "agent:main:other")];
    let other = world.ask("openclaw", json!({}), &other).await;
    assert_eq!((other.status, other.header("x-openclaw-session")), (200, None));
}

#[tokio::test]
async fn an_agent_without_a_usable_session_file_answers_and_uses_the_repaired_one() {
    let upstreams = vec![Upstream::start([hello()]).await];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m' }}, list: [{{ id: 'main' }}, {{ id: 'writer' }}] }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let world = World::open(upstreams, &text, &[]).await;
    let directory = world.state.path().join("agents/writer/sessions");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("openclaw-sessions.sqlite");
    std::fs::write(&file, "no database ".repeat(100)).unwrap();
    let received = world.ask("openclaw/writer", json!({}), SESSION).await;
    assert_eq!(received.status, 200);
    assert_eq!(received.header("x-openclaw-session"), Some("unavailable"));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("no database"));

    std::fs::remove_file(&file).unwrap();
    let received = world.ask("openclaw/writer", json!({}), SESSION).await;
    assert_eq!(received.header("x-openclaw-session"), None);
}
