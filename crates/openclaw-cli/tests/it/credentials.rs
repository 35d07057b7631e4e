//! Keys that are kept elsewhere, and files that another process keeps locked.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use faultwall::scripted::{Script, Upstream};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::world::{World, hello, refusal};

fn write(folder: &Path, name: &str, text: &str, mode: u32) {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn keys(upstream: &Upstream) -> Vec<String> {
    let seen = upstream.seen();
    seen.iter()
        .filter_map(|seen| seen.header("authorization").map(str::to_owned))
        .collect()
}

/// As in the other program: what the process has set wins over what the configuration says.
#[tokio::test]
async fn variables_of_the_configuration_are_those_that_the_process_lacks() {
    let upstreams = vec![Upstream::start([hello()]).await, Upstream::start([hello()]).await];
    let text = format!(
        "{{ env: {{ A_KEY: 'configured-a', vars: {{ B_KEY: 'configured-b' }} }},
            agents: {{ defaults: {{ model: {{ primary: 'a/m' }} }} }},
            models: {{ providers: {{ a: {{ baseUrl: '{}', apiKey: '${{A_KEY}}' }}, b: {{ baseUrl: '{}', apiKey: '${{B_KEY}}' }} }} }} }}",
        upstreams[0].base_url(),
        upstreams[1].base_url(),
    );
    let world = World::open(upstreams, &text, &[("A_KEY", "set-a"), ("B_KEY", "")]).await;
    for model in ["a/m", "b/m"] {
        assert_eq!(world.ask(model, json!({}), &[]).await.status, 200, "{model}");
    }
    assert_eq!(keys(&world.upstreams[0]), ["Bearer set-a"]);
    assert_eq!(keys(&world.upstreams[1]), ["Bearer configured-b"]);
}

#[tokio::test]
async fn keys_in_files_and_of_commands_are_sent_and_looked_up_again() {
    let upstreams = vec![
        Upstream::start([hello()]).await,
        Upstream::start([refusal(401, "invalid_api_key", "Incorrect API key"), hello()]).await,
    ];
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().to_owned();
    write(&folder, "vault.json", r#"{"a": "file-1", "team": "t-1"}"#, 0o600);
    write(
        &folder,
        "printer",
        "#!/bin/sh\ncat \"$(dirname \"$0\")/printed\"\n",
        0o700,
    );
    write(&folder, "printed", "command-1\n", 0o600);
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
            secrets: {{ providers: {{ vault: {{ source: 'file', path: '{0}/vault.json' }},
                printer: {{ source: 'exec', command: '{0}/printer', jsonOnly: false }} }} }},
            models: {{ providers: {{
                a: {{ baseUrl: '{1}', apiKey: {{ source: 'file', provider: 'vault', id: '/a' }},
                      headers: {{ 'x-team': {{ source: 'file', provider: 'vault', id: '/team' }} }} }},
                b: {{ baseUrl: '{2}', apiKey: {{ source: 'exec', provider: 'printer', id: 'b' }} }} }} }} }}",
        folder.display(),
        upstreams[0].base_url(),
        upstreams[1].base_url(),
    );
    let world = World::open_in(state, "{}", upstreams, &text, &[]).await;
    assert_eq!(world.ask_plain().await.status, 200);
    write(&folder, "vault.json", r#"{"a": "file-2", "team": "t-2"}"#, 0o600);
    assert_eq!(world.ask_plain().await.status, 200);
    assert_eq!(keys(&world.upstreams[0]), ["Bearer file-1", "Bearer file-2"]);
    assert_eq!(
        world.upstreams[0].seen()[1].header("x-team"),
        Some("t-1"),
        "headers are read at the start"
    );

    // The command's key is refused; it is asked again, and what it prints now is another key, which is free.
    let refused = world.ask("b/m", json!({}), &[]).await;
    assert_eq!(refused.header("x-openclaw-first-failure-reason"), Some("auth"));
    write(&folder, "printed", "command-2\n", 0o600);
    assert_eq!(world.reload_files().await.status, 200);
    let received = world.ask("b/m", json!({}), &[]).await;
    assert_eq!(received.status, 200, "{}", received.body);
    assert_eq!(
        keys(&world.upstreams[1]),
        ["Bearer command-1", "Bearer command-2"]
    );

    // A file that others may read says so, and its text is shown nowhere.
    write(&folder, "vault.json", r#"{"a": "file-3"}"#, 0o644);
    let strict = [("x-openclaw-policy", "strict")];
    let told = world.ask("a/m", json!({}), &strict).await;
    assert!(told.body.contains("chmod 600"), "{}", told.body);
    assert!(!told.body.contains("file-3"), "{}", told.body);
}

#[tokio::test]
async fn a_key_that_is_a_token_is_sent_as_one() {
    let message = r#"{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;
    for (auth, header) in [("api-key", "x-api-key"), ("token", "authorization")] {
        let upstream = Upstream::start([Script::json(200, message)]).await;
        let text = format!(
            "{{ agents: {{ defaults: {{ model: 'relay/m' }} }}, models: {{ providers: {{
                relay: {{ baseUrl: '{}', apiKey: 'key-1', api: 'anthropic-messages', auth: '{auth}' }} }} }} }}",
            upstream.base_url()
        );
        let world = World::open(vec![upstream], &text, &[]).await;
        let body = json!({"model": "openclaw", "max_tokens": 5, "messages": []});
        assert_eq!(
            world.post_to("/v1/messages", body.to_string(), &[]).await.status,
            200
        );
        let seen = &world.upstreams[0].seen()[0];
        let value = seen.header(header).unwrap_or_default();
        assert!(value.ends_with("key-1"), "{auth} {}", seen.head);
    }
}

/// A request with an id that `pattern` refuses.
fn with_tool_call(id: &str) -> Value {
    json!({"messages": [
        {"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": id, "content": "ok"}]})
}

#[tokio::test]
async fn r4_refused_tool_call_ids_are_rewritten_and_sent_once_more() {
    let refused = || {
        refusal(
            400,
            "invalid_request_error",
            "Tool call id was call:1 but must be a-z, A-Z, 0-9, with a length of 9.",
        )
    };
    let world = World::start(vec![vec![refused(), hello()], vec![hello()]]).await;
    let received = world.ask("openclaw", with_tool_call("call:1"), &[]).await;
    assert_eq!(
        received.header("x-openclaw-served-model"),
        Some("a/m"),
        "{}",
        received.body
    );
    let seen = world.upstreams[0].seen();
    let sent: Value = serde_json::from_str(&seen[1].body).unwrap();
    let id = sent["messages"][0]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!((id.len(), &sent["messages"][1]["tool_call_id"]), (9, &json!(id)));

    // Once, and only while it is allowed.
    for (failover, calls) in [("{}", 2), ("{ allowFormatRetry: false }", 1)] {
        let world = World::start_under(failover, vec![vec![refused()]]).await;
        let received = world.ask("openclaw", with_tool_call("call:1"), &[]).await;
        assert_eq!((received.status, world.calls()), (400, vec![calls]), "{failover}");
    }
}

#[tokio::test]
async fn a_locked_file_is_waited_for_once_and_marks_hold_in_memory() {
    let limited = Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    );
    let world = World::start(vec![vec![limited], vec![hello()]]).await;
    let path = world.state.path().join("agents/main/agent/openclaw-agent.sqlite");
    let locker = rusqlite::Connection::open(path).unwrap();
    locker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ask = async |times: u32| {
        let start = Instant::now();
        for _ in 0..times {
            let received = world.ask_plain().await;
            assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
        }
        start.elapsed()
    };
    let (first, others) = (ask(1).await, ask(5).await);
    assert!(others < first, "nobody waits again: {others:?} after {first:?}");
    assert_eq!(
        world.calls(),
        [1, 6],
        "the refused model rests, though no file says so"
    );
    locker.execute_batch("ROLLBACK").unwrap();
}

#[tokio::test]
async fn a_locked_session_file_is_waited_for_once() {
    let world = World::start(vec![vec![hello()]]).await;
    let session = [("x-openclaw-session-key", "agent:main:chat")];
    world.ask("openclaw", json!({}), &session).await;
    let path = world
        .state
        .path()
        .join("agents/main/sessions/openclaw-sessions.sqlite");
    let locker = rusqlite::Connection::open(path).unwrap();
    locker.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let other = [("x-openclaw-session-key", "agent:main:other")];
    let ask = async |times: u32| {
        let start = Instant::now();
        for _ in 0..times {
            let received = world.ask("openclaw", json!({}), &other).await;
            assert_eq!(
                (received.status, received.header("x-openclaw-session")),
                (200, Some("unavailable"))
            );
        }
        start.elapsed()
    };
    let (first, others) = (ask(1).await, ask(5).await);
    assert!(others < first, "nobody waits again: {others:?} after {first:?}");
}
