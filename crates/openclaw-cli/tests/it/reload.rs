//! Another configuration while the gateway runs (BL-98).

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use faultwall::scripted::{Script, Upstream};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::world::{Received, World, client, hello, refusal, rows};

const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", "agent:main:chat")];

/// A chain of these models over all upstreams.
fn chain(world: &World, models: &[&str]) -> String {
    text(&rows(&world.upstreams), models)
}

fn text(rows: &str, models: &[&str]) -> String {
    let (primary, fallbacks) = models.split_first().unwrap();
    format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: '{primary}', fallbacks: {fallbacks:?} }} }} }},
            models: {{ providers: {{ {rows} }} }} }}"
    )
}

async fn served(world: &World) -> Option<String> {
    let received = world.ask_plain().await;
    received.header("x-openclaw-served-model").map(str::to_owned)
}

#[tokio::test]
async fn bl98_an_edited_chain_is_used_by_the_next_request() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    assert_eq!(served(&world).await.as_deref(), Some("a/m"));
    let text = chain(&world, &["b/m", "a/m"]);
    std::fs::write(world.state.path().join("openclaw.json"), &text).unwrap();
    assert_eq!(
        served(&world).await.as_deref(),
        Some("a/m"),
        "nothing watches the file"
    );
    let reloaded = world.reload_files().await;
    assert_eq!(reloaded.status, 200, "{}", reloaded.body);
    assert_eq!(reloaded.json()["generation"], 2);
    assert_eq!(served(&world).await.as_deref(), Some("b/m"));
    assert_eq!(
        world.get("/v1/models", &[]).await.json()["data"][2]["id"],
        "b/m",
        "every view is of one configuration"
    );
}

#[tokio::test]
async fn bl98_a_stream_ends_on_the_configuration_it_began_with() {
    let chunk = |text: &str| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": {"content": text}}]})
        )
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let slow = format!(
        "slow: {{ baseUrl: 'http://{}/v1', apiKey: 'k', models: [] }}",
        listener.local_addr().unwrap()
    );
    let (go_on, told) = oneshot::channel();
    let (begin, end) = (chunk("Hel"), format!("{}data: [DONE]\n\n", chunk("lo")));
    let upstream = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        stream
            .write_all((head.to_owned() + &begin).as_bytes())
            .await
            .unwrap();
        told.await.unwrap();
        stream.write_all(end.as_bytes()).await.unwrap();
    });
    let upstreams = vec![Upstream::start([hello()]).await];
    let both = format!("{slow}, {}", rows(&upstreams));
    let world = World::open(upstreams, &text(&both, &["slow/m"]), &[]).await;
    let body = json!({"model": "openclaw", "stream": true, "messages": []});
    let mut stream = client()
        .post(world.url("/v1/chat/completions"))
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    let first = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&first).contains("Hel"));

    let reloaded = world.reload(&chain(&world, &["a/m"])).await;
    assert_eq!(reloaded.status, 200, "{}", reloaded.body);
    assert_eq!(served(&world).await.as_deref(), Some("a/m"));
    go_on.send(()).unwrap();
    let mut rest = String::new();
    while let Some(more) = stream.chunk().await.unwrap() {
        write!(rest, "{}", String::from_utf8_lossy(&more)).unwrap();
    }
    upstream.await.unwrap();
    assert!(
        rest.contains("lo") && rest.ends_with("data: [DONE]\n\n"),
        "{rest}"
    );
}

#[tokio::test]
async fn bl98_files_that_cannot_be_used_change_nothing() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    let good = chain(&world, &["b/m"]);
    for (name, broken) in [
        ("syntax", "{\n  agents: {,\n}".to_owned()),
        ("value", good.replace("'b/m'", "7")),
        ("url", good.replace("baseUrl: 'http://", "baseUrl: '//")),
        ("uncallable", good.replace("'b/m'", "'bee/m'")),
    ] {
        let refused = world.reload(&broken).await;
        assert_eq!(refused.status, 422, "{name}: {}", refused.body);
        let error = &refused.json()["error"];
        assert_eq!(error["code"], "not_reloaded");
        let state = world.state.path().to_str().unwrap();
        let told = error["message"].as_str().unwrap().replace(state, "/state");
        let told = told.replace(&world.upstreams[0].base_url()["http:".len()..], "//<a>/v1");
        insta::assert_snapshot!(name, told);
        assert_eq!(served(&world).await.as_deref(), Some("a/m"), "{name}");
        let ready = world.get("/readyz", &[]).await;
        assert_eq!(ready.status, 200);
        let detail = ready.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("the last reload was refused"), "{detail}");
        let status = world.get("/admin/v1/status", &[]).await.json();
        assert_eq!(status["configuration"]["generation"], 1);
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains(status["configuration"]["refused"]["problem"].as_str().unwrap())
        );
    }
    std::fs::remove_file(world.state.path().join("openclaw.json")).unwrap();
    let refused = world.reload_files().await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("is gone"), "{}", refused.body);

    assert_eq!(world.reload(&good).await.status, 200);
    assert_eq!(served(&world).await.as_deref(), Some("b/m"));
    assert!(world.get("/readyz", &[]).await.json()["detail"].is_null());
}

#[tokio::test]
async fn d9_another_key_is_used_at_once_and_starts_clean() {
    let world = World::start(vec![vec![
        refusal(402, "insufficient_quota", "no money"),
        hello(),
    ]])
    .await;
    assert_eq!(world.ask_plain().await.status, 402);
    assert_eq!(world.ask_plain().await.status, 402, "the key rests");
    assert_eq!(world.calls(), [1]);
    let other = chain(&world, &["a/m"]).replace("key-a", "another-key");
    assert_eq!(world.reload(&other).await.status, 200);
    assert_eq!(world.ask_plain().await.status, 200);
    let seen = world.upstreams[0].seen();
    assert_eq!(seen[1].header("authorization"), Some("Bearer another-key"));
}

#[tokio::test]
async fn bl98_windows_sessions_and_settings_of_our_own_outlive_or_follow_a_reload() {
    let limited = Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    );
    let world = World::start(vec![vec![limited], vec![hello()]]).await;
    let first = world.ask("openclaw", json!({}), SESSION).await;
    assert!(first.header("x-openclaw-notice").is_some());
    std::fs::write(
        world.state.path().join("failover.json5"),
        "{ maxConcurrent: 1, bodyModelPolicy: 'strict' }",
    )
    .unwrap();
    assert_eq!(world.reload(&chain(&world, &["a/m", "b/m"])).await.status, 200);
    let second = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(second.header("x-openclaw-served-model"), Some("b/m"));
    assert_eq!(second.header("x-openclaw-notice"), None, "it was told already");
    assert_eq!(world.calls(), [1, 2], "the limit is remembered");
    let strict = world.ask("a/m", json!({}), &[]).await;
    assert_eq!(strict.status, 429, "the new meaning of a model in the body");
}

#[tokio::test]
async fn an_agent_that_joins_and_one_that_moves() {
    let world = World::start(vec![vec![hello()]]).await;
    let agent = |directory: &str| {
        chain(&world, &["a/m"]).replace(
            "agents: {",
            &format!("agents: {{ list: [{{ id: 'main' }}, {{ id: 'writer', agentDir: '{directory}' }}],"),
        )
    };
    assert_eq!(world.ask("openclaw/writer", json!({}), &[]).await.status, 404);
    for directory in ["one", "two"] {
        let directory = world.state.path().join(directory);
        assert_eq!(
            world.reload(&agent(directory.to_str().unwrap())).await.status,
            200
        );
        assert_eq!(world.ask("openclaw/writer", json!({}), &[]).await.status, 200);
        assert!(directory.join("openclaw-agent.sqlite").exists());
    }
}

#[tokio::test]
async fn a_default_agent_is_looked_at_where_the_new_configuration_has_it() {
    let world = World::start(vec![vec![hello()]]).await;
    let directory = world.state.path().join("own");
    let store = directory.join("openclaw-agent.sqlite");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(
        &store,
        "no database at all, and longer than the head of one".repeat(99),
    )
    .unwrap();
    let row = format!(
        "{{ id: 'writer', default: true, agentDir: '{}' }}",
        directory.display()
    );
    let text = chain(&world, &["a/m"]).replace("agents: {", &format!("agents: {{ list: [{row}],"));
    let refused = world.reload(&text).await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(
        refused.body.contains("credentials of agent `writer`"),
        "{}",
        refused.body
    );

    std::fs::remove_file(&store).unwrap();
    assert_eq!(world.reload(&text).await.status, 200);
    assert_eq!(world.ask_plain().await.status, 200);
    assert!(store.exists());
    let elsewhere = world.state.path().join("agents/writer/agent");
    assert!(!elsewhere.exists(), "nothing is made where it is not");
}

#[tokio::test]
async fn the_admin_surface_can_be_switched_off() {
    let world = World::start_under("{ admin: 'off' }", vec![vec![hello()]]).await;
    assert_eq!(world.reload_files().await.status, 404);
}

#[tokio::test]
async fn reloading_asks_for_the_token_and_is_closed_to_pages_of_other_hosts() {
    let world = World::start_with(vec![vec![hello()]], "", &[("OPENCLAW_GATEWAY_TOKEN", "t")]).await;
    assert_eq!(world.reload_files().await.status, 401);
    let path = "/admin/v1/reload";
    let with_token = world.post_to(path, "", &[("authorization", "Bearer t")]).await;
    assert_eq!(with_token.status, 200, "{}", with_token.body);
    let world = World::start(vec![vec![hello()]]).await;
    let page = client()
        .post(world.url(path))
        .header("origin", "https://page.example");
    assert_eq!(Received::of(page).await.status, 403);
    for (origin, body, status) in [
        ("https://page.example", "", 403),
        ("https://page.example", "{}", 403),
        ("http://localhost:3000", "{}", 415),
        ("http://localhost:3000", "", 200),
    ] {
        let headers = [("origin", origin), ("content-type", "text/plain")];
        let form = world.post_to(path, body, &headers).await;
        assert_eq!(form.status, status, "{origin} {body:?}");
    }
}

#[tokio::test]
async fn what_needs_no_body_needs_no_content_type() {
    const FORM: &str = "content-type: application/x-www-form-urlencoded\r\ncontent-length: 0\r\n";
    let world = World::start(vec![vec![hello()]]).await;
    let asked = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let url = reqwest::Url::parse(&world.url("/")).unwrap();
    let address = format!("127.0.0.1:{}", url.port().unwrap());
    for path in ["/admin/v1/reload", "/admin/v1/sessions/agent:main:chat/reset"] {
        for (headers, expected) in [
            (String::new(), "200"),
            ("content-length: 0\r\n".to_owned(), "200"),
            ("origin: http://localhost:3000\r\n".to_owned(), "200"),
            ("origin: https://page.example\r\n".to_owned(), "403"),
            (format!("origin: https://page.example\r\n{FORM}"), "403"),
            (format!("origin: null\r\n{FORM}"), "403"),
            (FORM.to_owned(), "200"),
            ("content-length: 2\r\n".to_owned(), "415"),
        ] {
            let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
            let body = if headers.contains("length: 2") { "{}" } else { "" };
            stream.write_all((head + body).as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            let status = answer.split(' ').nth(1);
            assert_eq!(status, Some(expected), "{path} {headers:?}: {answer}");
        }
    }
}

/// Asks over a connection of its own, as the test has no runtime.
fn bare(address: &str, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    std::io::read_to_string(stream).unwrap()
}

#[cfg(unix)]
#[test]
fn bl98_a_hangup_signal_reloads() {
    let state = tempfile::tempdir().unwrap();
    let file = state.path().join("openclaw.json");
    let model = |model: &str| format!("{{ agents: {{ defaults: {{ model: '{model}' }} }} }}");
    std::fs::write(&file, model("openai/one")).unwrap();
    let mut gateway = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
        .args(["serve", "--bind", "127.0.0.1:0", "--state-dir"])
        .arg(state.path())
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(gateway.stdout.take().unwrap()).lines();
    let mut logged = BufReader::new(gateway.stderr.take().unwrap()).lines();
    let line = told.find_map(|line| {
        line.unwrap()
            .strip_prefix("Listening on http://")
            .map(str::to_owned)
    });
    let address = line.unwrap().trim_end_matches("/v1").to_owned();
    for (text, says, served) in [
        (model("openai/two"), "is used from now on", "openai/two"),
        ("{".to_owned(), "was not reloaded", "openai/two"),
        (model("openai/three"), "is used from now on", "openai/three"),
    ] {
        std::fs::write(&file, text).unwrap();
        let signalled = Command::new("kill")
            .args(["-HUP", &gateway.id().to_string()])
            .status();
        assert!(signalled.unwrap().success());
        assert!(logged.any(|line| line.unwrap().contains(says)), "{says}");
        let models = bare(&address, "GET", "/v1/models");
        assert!(
            models.contains(served) && !models.contains("openai/one"),
            "{models}"
        );
    }
    let reloaded = bare(&address, "POST", "/admin/v1/reload");
    assert!(reloaded.starts_with("HTTP/1.1 200"), "{reloaded}");
    gateway.kill().unwrap();
    gateway.wait().unwrap();
}

#[tokio::test]
async fn settings_that_only_a_start_takes_over_are_named() {
    let world = World::start(vec![vec![hello()]]).await;
    let nothing = world.reload_files().await;
    assert_eq!(nothing.json()["restartNeeded"], json!([]), "{}", nothing.body);
    let own = world.state.path().join("failover.json5");
    std::fs::write(&own, "{ history: { maxAgeDays: 3, enabled: false } }").unwrap();
    let reloaded = world.reload_files().await;
    let expected = json!(["history.enabled", "history.maxAgeDays"]);
    assert_eq!(reloaded.json()["restartNeeded"], expected, "{}", reloaded.body);
    let status = world.get("/admin/v1/status", &[]).await.json();
    assert_eq!(status["configuration"]["restartNeeded"], expected);
    std::fs::write(&own, "{}").unwrap();
    assert_eq!(world.reload_files().await.json()["restartNeeded"], json!([]));
    let status = world.get("/admin/v1/status", &[]).await.json();
    assert_eq!(status["configuration"].get("restartNeeded"), None);
}

#[tokio::test]
async fn a_reload_does_not_open_a_gateway_that_asks_for_a_token() {
    let with_token = |token: &str| {
        format!("{{ agents: {{ defaults: {{ model: 'a/m' }} }}, gateway: {{ auth: {{ {token} }} }} }}")
    };
    let world = World::open(Vec::new(), &with_token("token: 'one'"), &[]).await;
    let reload = async |text: &str, token: &str| {
        std::fs::write(world.state.path().join("openclaw.json"), text).unwrap();
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str())];
        world.post_to("/admin/v1/reload", "", &headers).await
    };
    let refused = reload(&with_token(""), "one").await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert!(refused.body.contains("token"), "{}", refused.body);
    assert_eq!(world.get("/v1/models", &[]).await.status, 401);
    let other = reload(&with_token("token: 'two'"), "one").await;
    assert_eq!(other.status, 200, "{}", other.body);
    let two = [("authorization", "Bearer two")];
    assert_eq!(world.get("/v1/models", &two).await.status, 200);
}

#[cfg(unix)]
#[tokio::test]
async fn files_that_others_may_read_are_warned_of_and_stop_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::start(vec![vec![hello()]]).await;
    let set = |name: &str, mode| {
        let path = world.state.path().join(name);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("", 0o700);
    assert_eq!(world.reload_files().await.json()["warnings"], json!([]));
    assert_eq!(world.gateway.warnings(), [""; 0]);
    set("", 0o755);
    set("openclaw.json", 0o644);
    let reloaded = world.reload_files().await;
    assert_eq!(reloaded.status, 200, "{}", reloaded.body);
    let warnings = reloaded.json()["warnings"].as_array().unwrap().clone();
    for (warning, command) in warnings.iter().zip(["chmod 700", "chmod 600"]) {
        assert!(warning.as_str().unwrap().contains(command), "{warning}");
    }
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert_eq!(world.gateway.warnings().len(), 2);
    let lint = world.get("/admin/v1/lint", &[]).await.json();
    let found = lint["findings"].as_array().unwrap().iter();
    let codes: Vec<_> = found.map(|finding| finding["code"].as_str().unwrap()).collect();
    for code in ["folder-open-to-others", "readable-by-others"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
    assert_eq!(world.ask_plain().await.status, 200);
}
