//! Requests of one session: a fallback that answered is remembered, one that failed is not.

use openclaw_ids::SessionKey;
use openclaw_session::{SessionEntry, SessionStore, SqliteSessionStore};
use serde_json::json;

use crate::scripted::Script;
use crate::world::{World, hello};

const KEY: &str = "agent:main:chat";
const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", KEY)];

/// The session as another process would read it.
async fn entry(world: &World) -> SessionEntry {
    let path = world
        .state
        .path()
        .join("agents/main/sessions/openclaw-sessions.sqlite");
    let store = SqliteSessionStore::open(&path).unwrap();
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
