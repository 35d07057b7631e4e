//! Files of the state that cannot be written at the start, or are removed while a gateway runs.

use std::fs;
use std::path::Path;

use faultwall::scripted::{Script, Upstream};
use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ModelId, ProfileId, ProviderId};
use openclaw_runner::{Clock, SystemClock};
use openclaw_session::SqliteSessionStore;
use serde_json::json;

use crate::world::{World, hello, rows};

const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", "agent:main:chat")];

async fn store_key(folder: &Path) {
    let now = SystemClock.now();
    let store = SqliteAuthStore::open(
        folder,
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        now,
    )
    .unwrap();
    let id = ProfileId::try_new("a:one").unwrap();
    let key = Credential::api_key(ProviderId::try_new("a").unwrap(), Secret::new("key"));
    store.upsert(id, key, now).await.unwrap();
}

#[tokio::test]
async fn a_gateway_that_starts_on_a_disk_that_cannot_be_written_answers() {
    let state = tempfile::tempdir().unwrap();
    let auth = state.path().join("agents/main/agent");
    let sessions = state.path().join("agents/main/sessions/openclaw-sessions.sqlite");
    store_key(&auth).await;
    drop(SqliteSessionStore::open(&sessions).unwrap());
    let logs = [&auth.join("openclaw-agent.sqlite"), &sessions]
        .map(|file| file.with_file_name(format!("{}-wal", file.file_name().unwrap().to_str().unwrap())));
    // A full or read-only disk as SQLite sees it: it cannot make its log.
    for log in &logs {
        fs::create_dir(log).unwrap();
    }
    let limited = Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    );
    let upstreams = vec![
        Upstream::start(vec![limited]).await,
        Upstream::start(vec![hello()]).await,
    ];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let world = World::open_in(state, "{}", upstreams, &text, &[]).await;
    // The first request meets the limit with both keys, the stored one and the configured one.
    for asked in [[2, 1], [2, 2]] {
        let answer = world.ask("openclaw", json!({}), SESSION).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.header("x-openclaw-session"), Some("unavailable"));
        assert_eq!(world.get("/readyz", &[]).await.status, 200);
        assert_eq!(world.calls(), asked, "what rests does so in this process");
    }

    for log in &logs {
        fs::remove_dir(log).unwrap();
    }
    let answer = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(answer.header("x-openclaw-session"), None);
    let resting = SqliteAuthStore::read_snapshot(&auth, Vec::new()).unwrap();
    let usage = resting.usage(&ProfileId::try_new("a:one").unwrap());
    assert!(
        !usage.is_usable(Some(&ModelId::try_new("m").unwrap()), SystemClock.now()),
        "it is in the file by now"
    );
}

#[tokio::test]
async fn sessions_and_decisions_are_kept_when_their_files_were_removed() {
    let world = World::start(vec![vec![hello()]]).await;
    world.ask("openclaw", json!({}), SESSION).await;
    let sessions = world
        .state
        .path()
        .join("agents/main/sessions/openclaw-sessions.sqlite");
    for file in [
        &sessions,
        &world.state.path().join("openclaw-failover-history.sqlite"),
    ] {
        for suffix in ["", "-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{suffix}", file.display())));
        }
    }
    let answer = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(answer.status, 200);
    let kept = SqliteSessionStore::snapshot(&sessions).unwrap().unwrap();
    assert_eq!(kept.len(), 1);
    let id = answer.header("x-openclaw-request-id").unwrap();
    let told = world.get(&format!("/admin/v1/decisions/{id}"), &[]).await;
    assert_eq!(told.status, 200, "{}", told.body);
}
