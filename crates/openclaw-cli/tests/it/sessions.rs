//! Requests of one session: a fallback that answered is remembered, one that failed is not.

use std::path::PathBuf;

use faultwall::scripted::{Script, Upstream};
use openclaw_ids::SessionKey;
use openclaw_session::{CasOutcome, Revision, SessionEntry, SessionStore, SqliteSessionStore};
use serde_json::{Value, json};

use crate::world::{Received, World, client, hello, refusal, rows};

const KEY: &str = "agent:main:chat";
const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", KEY)];

fn session_file(world: &World) -> PathBuf {
    let state = world.state.path();
    state.join("agents/main/sessions/openclaw-sessions.sqlite")
}

/// The sessions as another process would open them.
fn store(world: &World) -> (SqliteSessionStore, SessionKey) {
    let store = SqliteSessionStore::open(&session_file(world)).unwrap();
    (store, SessionKey::try_new(KEY).unwrap())
}

async fn entry(world: &World) -> SessionEntry {
    let (store, key) = store(world);
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
async fn answers_and_errors_say_where_the_session_stood_and_where_the_time_went() {
    let busy = || refusal(529, "overloaded_error", "Overloaded");
    let world = World::start(vec![vec![busy(), hello()], vec![hello(), busy(), hello()]]).await;
    let admin = async |path: &str, method: reqwest::Method, body: Value| {
        let path = format!("/admin/v1/{path}");
        let request = client().request(method, world.url(&path));
        let request = request.header("content-type", "application/json");
        let received = Received::of(request.body(body.to_string())).await;
        assert_eq!(received.status, 200, "{path}: {}", received.body);
    };
    let sticky = async |model: &str, status: u16| {
        let received = world.ask(model, json!({}), SESSION).await;
        assert_eq!(received.status, status, "{}", received.body);
        for name in ["x-openclaw-own-ms", "x-openclaw-upstream-ms"] {
            let time: f64 = received.header(name).unwrap().parse().unwrap();
            assert!(time >= 0.0, "{name}: {time}");
        }
        received.header("x-openclaw-sticky").map(str::to_owned)
    };
    assert_eq!(sticky("openclaw", 200).await.as_deref(), Some("configured"));
    assert_eq!(sticky("b/m", 503).await.as_deref(), Some("one_off"), "busy");
    admin("cooldowns/clear", reqwest::Method::POST, json!({"provider": "b"})).await;
    assert_eq!(sticky("openclaw", 200).await.as_deref(), Some("fallback"));
    admin("cooldowns/clear", reqwest::Method::POST, json!({"all": true})).await;
    assert_eq!(sticky("openclaw", 200).await.as_deref(), Some("fallback"));
    assert_eq!(
        sticky("openclaw", 200).await.as_deref(),
        Some("configured"),
        "its own model was back"
    );
    let path = format!("sessions/{KEY}");
    admin(&path, reqwest::Method::PATCH, json!({"model": "b/m"})).await;
    assert_eq!(sticky("openclaw", 200).await.as_deref(), Some("chosen"));
    let alone = world.ask("openclaw", json!({}), &[]).await;
    assert_eq!(alone.header("x-openclaw-sticky"), None);
    assert!(alone.header("x-openclaw-own-ms").is_some());
}

/// Ends every window, as `cooldown clear --all` does.
async fn clear_all(world: &World) {
    let request = client().post(world.url("/admin/v1/cooldowns/clear"));
    let request = request.header("content-type", "application/json");
    let received = Received::of(request.body(r#"{"all": true}"#)).await;
    assert_eq!(received.status, 200, "{}", received.body);
}

#[tokio::test]
async fn f_1_a_fallback_that_refused_its_login_is_passed_over_for_as_long_as_the_variable_says() {
    for (value, asked_again) in [("600000", false), ("0", true), ("", true)] {
        let limited = || refusal(429, "rate_limit_exceeded", "Rate limit reached");
        let refused = || refusal(401, "invalid_api_key", "Incorrect API key provided");
        let world = World::start_with(
            vec![
                vec![limited(), limited(), limited()],
                vec![refused(), refused(), refused()],
                vec![hello()],
            ],
            "",
            &[("OPENCLAW_FALLBACK_SKIP_TTL_MS", value)],
        )
        .await;
        for _ in 0..2 {
            let answered = world.ask("openclaw", json!({}), SESSION).await;
            assert_eq!(answered.header("x-openclaw-served-model"), Some("c/m"));
            clear_all(&world).await;
        }
        assert_eq!(world.calls()[1], 1 + usize::from(asked_again), "{value:?}");
        // Another session has seen nothing of it.
        let other = [("x-openclaw-session-key", "agent:main:other")];
        world.ask("openclaw", json!({}), &other).await;
        assert_eq!(world.calls()[1], 2 + usize::from(asked_again), "{value:?}");
    }
}

#[tokio::test]
async fn f_4_the_primary_answers_when_the_fallback_of_the_session_fails() {
    let busy = || refusal(529, "overloaded_error", "Overloaded");
    let broken = || refusal(500, "server_error", "Internal error");
    let world = World::start(vec![
        vec![busy(), busy(), hello()],
        vec![hello(), hello(), broken()],
    ])
    .await;
    // The second turn asks the primary in vain, so that it is not due again for five minutes.
    for _ in 0..2 {
        let answered = world.ask("openclaw", json!({}), SESSION).await;
        assert_eq!(answered.header("x-openclaw-served-model"), Some("b/m"));
        clear_all(&world).await;
    }
    let answered = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(answered.status, 200, "{}", answered.body);
    assert_eq!(answered.header("x-openclaw-served-model"), Some("a/m"));
    assert!(!entry(&world).await.is_active_fallback());
    let next = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(next.header("x-openclaw-served-model"), Some("a/m"));
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

fn limited() -> Script {
    Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    )
}

/// Stores a session that was told of its fallback from `a/m` to `b/m`.
async fn on_fallback(world: &World) {
    let stored = json!({
        "sessionId": "s1", "updatedAt": 0,
        "providerOverride": "b", "modelOverride": "m", "modelOverrideSource": "auto",
        "modelOverrideFallbackOriginProvider": "a", "modelOverrideFallbackOriginModel": "m",
        "fallbackNoticeSelectedModel": "a/m", "fallbackNoticeActiveModel": "b/m", "fallbackNoticeReason": "timeout",
    });
    let entry: SessionEntry = serde_json::from_value(stored).unwrap();
    let (store, key) = store(world);
    let outcome = store.compare_and_set(&key, Revision::NONE, entry).await.unwrap();
    assert!(matches!(outcome, CasOutcome::Stored(_)));
}

#[tokio::test]
async fn s_11_4_the_model_that_answered_is_remembered_also_of_a_one_off() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    for (model, answered) in [("openclaw", "a/m"), ("b/m", "b/m")] {
        world.ask(model, json!({}), SESSION).await;
        assert_eq!(
            entry(&world).await.last_answer.model_ref().unwrap().key(),
            answered
        );
    }
    world.ask("openclaw", json!({"stream": true}), SESSION).await;
    assert_eq!(entry(&world).await.last_answer.model_ref().unwrap().key(), "a/m");
}

/// The notice of an answer as a comment of its stream.
fn comment(told: &Received) -> String {
    format!(
        ": openclaw-notice {}\n\n",
        told.header("x-openclaw-notice").unwrap()
    )
}

#[tokio::test]
async fn s_10_a_fallback_is_told_once_and_only_to_its_session() {
    for stream in [false, true] {
        let world = World::start(vec![vec![limited()], vec![hello()]]).await;
        let body = json!({"stream": stream});
        let stateless = world.ask("openclaw", body.clone(), &[]).await;
        assert_eq!(stateless.header("x-openclaw-notice"), None);
        let first = world.ask("openclaw", body.clone(), SESSION).await;
        let notice: Value = serde_json::from_str(first.header("x-openclaw-notice").unwrap()).unwrap();
        assert_eq!(notice["kind"], "fallback");
        assert_eq!(
            (&notice["selected"], &notice["active"]),
            (&json!("a/m"), &json!("b/m"))
        );
        assert_eq!(notice["reason"], "rate limit");
        assert!(notice["id"].as_str().unwrap().ends_with(":1"));
        assert_eq!(first.body.starts_with(&comment(&first)), stream);
        assert!(
            !first.body.contains("Model Fallback"),
            "clients send answers back"
        );
        let second = world.ask("openclaw", body, SESSION).await;
        assert_eq!(second.header("x-openclaw-notice"), None, "sticky");
        assert_eq!(entry(&world).await.pending_notice(), None);
    }
}

#[tokio::test]
async fn s_10_1_the_line_before_the_answer_where_that_is_wished() {
    let line = "↪️ Model Fallback: b/m (selected a/m; rate limit)\n\n";
    let world = World::start_under("{ notices: 'inline' }", vec![vec![limited()], vec![hello()]]).await;
    let told = world.ask("openclaw", json!({}), SESSION).await;
    assert!(told.header("x-openclaw-notice").is_some());
    assert_eq!(
        told.json()["choices"][0]["message"]["content"],
        format!("{line}Hello")
    );
    let next = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(next.json()["choices"][0]["message"]["content"], "Hello");

    let chunk = |delta: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "1", "choices": [{"index": 0, "delta": delta}]})
        )
    };
    let (role, text) = (
        chunk(json!({"role": "assistant"})),
        chunk(json!({"content": "Hello"})),
    );
    let stop = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let stream = Script::stream(&[&role, &text, stop, "data: [DONE]\n\n"]);
    let world = World::start_under("{ notices: 'inline' }", vec![vec![limited()], vec![stream]]).await;
    let told = world.ask("openclaw", json!({"stream": true}), SESSION).await;
    let own = json!({"id": "1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": line}, "finish_reason": null}]});
    assert_eq!(
        told.body,
        format!(
            "{}{role}data: {own}\n\n{text}{stop}data: [DONE]\n\n",
            comment(&told)
        )
    );
}

#[tokio::test]
async fn s_10_3c_a_primary_that_is_back_is_told() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    on_fallback(&world).await;
    let received = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(received.header("x-openclaw-served-model"), Some("a/m"));
    let notice: Value = serde_json::from_str(received.header("x-openclaw-notice").unwrap()).unwrap();
    assert_eq!(notice["kind"], "fallback_cleared");
    assert_eq!(
        (&notice["active"], &notice["reason"]),
        (&json!("a/m"), &json!("was b/m"))
    );
    assert!(!entry(&world).await.has_override());
}

#[tokio::test]
async fn s9_a_stream_of_the_primary_is_told_with_the_next_answer() {
    let stream = Script::stream(&[
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n",
        "data: [DONE]\n\n",
    ]);
    let world = World::start(vec![vec![stream, hello()], vec![hello()]]).await;
    on_fallback(&world).await;
    let streamed = world.ask("openclaw", json!({"stream": true}), SESSION).await;
    assert_eq!(streamed.header("x-openclaw-served-model"), Some("a/m"));
    assert_eq!(streamed.header("x-openclaw-notice"), None, "it is not over yet");
    let next = world.ask("openclaw", json!({}), SESSION).await;
    let notice: Value = serde_json::from_str(next.header("x-openclaw-notice").unwrap()).unwrap();
    assert_eq!(notice["kind"], "fallback_cleared");
    let last = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(last.header("x-openclaw-notice"), None);
}

#[tokio::test]
async fn a_user_or_a_coding_agents_session_is_a_conversation_too() {
    for (body, headers) in [
        (json!({"user": "ann"}), &[] as &[_]),
        (json!({"metadata": {"user_id": "ann"}}), &[]),
        (json!({"user": 3}), &[("session_id", "s-1")]),
    ] {
        let world = World::start(vec![vec![limited()], vec![hello()]]).await;
        let first = world.ask("openclaw", body.clone(), headers).await;
        assert!(first.header("x-openclaw-notice").is_some(), "{body}");
        let second = world.ask("openclaw", body.clone(), headers).await;
        assert_eq!(second.header("x-openclaw-notice"), None, "it was told already");
        let sent: Value = serde_json::from_str(&world.upstreams[1].seen()[0].body).unwrap();
        assert_eq!(sent["user"], body["user"], "the body travels untouched");
    }
}
