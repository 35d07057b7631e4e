//! `/admin/v1`: what an operator sees and changes while the gateway runs.

use faultwall::scripted::{Script, Upstream};
use serde_json::{Value, json};

use crate::world::{Received, World, client, hello, rows};

const KEY: &str = "agent:main:chat";
const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", KEY)];

fn limited() -> Script {
    Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#,
    )
}

/// A gateway whose conversation is on its fallback.
async fn on_fallback() -> World {
    let world = World::start(vec![vec![limited(), hello()], vec![hello()]]).await;
    let first = world.ask("openclaw", json!({}), SESSION).await;
    assert_eq!(first.header("x-openclaw-served-model"), Some("b/m"));
    world
}

async fn get(world: &World, path: &str) -> Value {
    let received = world.get(&format!("/admin/v1{path}"), &[]).await;
    assert_eq!(received.status, 200, "{path}: {}", received.body);
    received.json()
}

async fn post(world: &World, path: &str, body: Value) -> Received {
    let path = format!("/admin/v1{path}");
    world.post_to(&path, body.to_string(), &[]).await
}

async fn patch(world: &World, path: &str, body: Value) -> Received {
    let request = client().patch(world.url(&format!("/admin/v1{path}")));
    let request = request.header("content-type", "application/json");
    Received::of(request.body(body.to_string())).await
}

#[tokio::test]
async fn what_rests_is_shown_and_set_free() {
    let world = on_fallback().await;
    let status = get(&world, "/status").await;
    let agent = &status["agents"][0];
    assert_eq!(agent["id"], "main");
    assert_eq!(agent["onFallback"]["sessions"][0]["key"], KEY);
    assert_eq!(agent["chain"]["candidates"][0]["reason"], "rate_limit");
    let profiles = get(&world, "/profiles").await;
    let own = profiles["profiles"].as_array().unwrap();
    let a = own.iter().find(|profile| profile["id"] == "a:config").unwrap();
    assert_eq!(a["windows"].as_array().unwrap().len(), 1, "{a}");
    let cooldowns = get(&world, "/cooldowns?agent=main").await;
    assert_eq!(cooldowns["profiles"][0]["profile"], "a:config");

    let cleared = post(&world, "/cooldowns/clear", json!({"profile": "a:config"})).await;
    assert_eq!(cleared.json()["profiles"], json!(["a:config"]));
    assert_eq!(get(&world, "/cooldowns").await["profiles"], json!([]));
    let next = world.ask_plain().await;
    assert_eq!(next.header("x-openclaw-served-model"), Some("a/m"));
}

#[tokio::test]
async fn a_credential_is_laid_to_rest_by_hand() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    let rest = json!({"profile": "a:config", "forMs": 3_600_000});
    let rested = post(&world, "/cooldowns/set", rest).await;
    assert_eq!(rested.status, 200, "{}", rested.body);
    assert_eq!(rested.json()["profiles"][0]["profile"], "a:config");
    let answered = world.ask_plain().await;
    assert_eq!(answered.header("x-openclaw-served-model"), Some("b/m"));
    let until = |told: &Value| told["profiles"][0]["windows"][0]["until"].as_i64().unwrap();
    let shorter = json!({"profile": "a:config", "forMs": 60_000});
    let shorter = post(&world, "/cooldowns/set", shorter).await.json();
    assert!(
        until(&shorter) < until(&rested.json()),
        "a shorter rest takes the place: {shorter}"
    );
    let profiles = get(&world, "/profiles").await;
    let rows = profiles["profiles"].as_array().unwrap();
    let row = rows.iter().find(|row| row["id"] == "a:config").unwrap();
    assert_eq!(row["lastFailureAt"], Value::Null, "it is no failure: {row}");
    let cleared = post(&world, "/cooldowns/clear", json!({"provider": "a"})).await;
    assert_eq!(cleared.json()["profiles"], json!(["a:config"]));
    assert_eq!(
        world.ask_plain().await.header("x-openclaw-served-model"),
        Some("a/m")
    );
}

#[tokio::test]
async fn s_8_a_session_is_read_changed_and_started_over() {
    let world = on_fallback().await;
    let listed = get(&world, "/sessions").await;
    assert_eq!(listed["sessions"][0]["fallback"]["model"], "b/m");
    let one = get(&world, &format!("/sessions/{KEY}")).await;
    assert_eq!(
        (&one["selected"], &one["chosenBy"]),
        (&json!("a/m"), &json!("configuration"))
    );
    let before = one["sessionId"].clone();

    let path = format!("/sessions/{}", KEY.replace(':', "%3A"));
    let chosen = patch(&world, &path, json!({"model": "b/m@config"})).await.json();
    assert_eq!(
        (&chosen["selected"], &chosen["chosenBy"]),
        (&json!("b/m"), &json!("user"))
    );
    assert_eq!(chosen["pin"], json!({"profile": "b:config", "source": "user"}));
    let renewed = post(&world, &format!("{path}/reset"), json!({})).await.json();
    assert_ne!(renewed["sessionId"], before);
    assert_eq!(renewed["selected"], "b/m", "what a person chose stays");
    assert_eq!(
        renewed["pin"],
        Value::Null,
        "F-10: as `/new` and `session reset` do"
    );
    let cleared = patch(&world, &path, json!({"model": null})).await.json();
    assert_eq!(
        (&cleared["selected"], &cleared["pin"]),
        (&json!("a/m"), &Value::Null)
    );
}

#[tokio::test]
async fn f_11_a_session_that_was_not_seen_yet_begins_with_a_persons_choice() {
    let world = on_fallback().await;
    let chosen = patch(&world, "/sessions/agent:main:new", json!({"model": "b/m"})).await;
    assert_eq!(chosen.status, 200, "{}", chosen.body);
    let chosen = chosen.json();
    assert_eq!(
        (&chosen["selected"], &chosen["chosenBy"]),
        (&json!("b/m"), &json!("user"))
    );
    let again = get(&world, "/sessions/agent:main:new").await;
    assert_eq!(again["sessionId"], chosen["sessionId"]);
    let session = [("x-openclaw-session-key", "agent:main:new")];
    let answered = world.ask("openclaw", json!({}), &session).await;
    assert_eq!(answered.header("x-openclaw-sticky"), Some("chosen"));
    // Also one that takes back what was never chosen; a model that is unknown makes none.
    let configured = patch(&world, "/sessions/agent:main:other", json!({"model": null})).await;
    assert_eq!(configured.json()["selected"], "a/m");
    let unknown = patch(&world, "/sessions/agent:main:third", json!({"model": "x/y"})).await;
    assert_eq!(unknown.status, 404, "{}", unknown.body);
    let listed = get(&world, "/sessions").await;
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 3);
    // What can only be done to a session that is there still says so.
    let reset = post(&world, "/sessions/agent:main:third/reset", json!({})).await;
    assert_eq!(reset.status, 404);
}

#[tokio::test]
async fn bl_98_a_chain_says_why_it_is_that_one() {
    let world = on_fallback().await;
    let models = |report: &Value| -> Vec<String> {
        let candidates = report["candidates"].as_array().unwrap();
        candidates
            .iter()
            .map(|row| row["model"].as_str().unwrap().to_owned())
            .collect()
    };
    let plain = get(&world, "/chains").await;
    assert_eq!(models(&plain), ["a/m", "b/m"]);
    assert!(!plain["trace"].as_array().unwrap().is_empty());
    let session = get(&world, &format!("/chains?session={KEY}")).await;
    assert_eq!(session["session"], KEY);
    assert_eq!(session["triesPrimaryAgain"], true, "its fallback is new");
    let named = get(&world, "/chains?model=b/m").await;
    assert_eq!(named["run"], "one_off");
}

#[tokio::test]
async fn a_status_tells_what_can_be_read_and_names_what_cannot() {
    let state = tempfile::tempdir().unwrap();
    let root = state.path().join("agents");
    for (agent, file) in [
        ("notes", "sessions/openclaw-sessions.sqlite"),
        ("ops", "agent/openclaw-agent.sqlite"),
    ] {
        let file = root.join(agent).join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(
            file,
            "no database at all, and longer than the head of one".repeat(99),
        )
        .unwrap();
    }
    let text = "{ agents: { defaults: { model: 'openai/gpt' }, list: [{ id: 'main' }, { id: 'notes' }, { id: 'ops' }] } }";
    let world = World::open_in(state, "{}", Vec::new(), text, &[]).await;
    let status = get(&world, "/status").await;
    let ids: Vec<&Value> = status["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| &agent["id"])
        .collect();
    assert_eq!(ids, ["main", "notes"]);
    let unread = |trouble: &&Value| trouble["kind"] == "unreadSessions";
    let troubles = status["agents"][1]["troubles"].as_array().unwrap();
    let problem = troubles.iter().find(unread).unwrap()["problem"].as_str().unwrap();
    assert!(problem.contains("openclaw-sessions.sqlite"), "{problem}");
    assert_eq!(status["unread"][0]["id"], "ops");
    let problem = status["unread"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("openclaw-agent.sqlite"), "{problem}");
    let page = world.get("/", &[]).await;
    assert_eq!(page.status, 200);
    for told in ["cannot be shown: ", "The sessions cannot be shown: "] {
        assert!(page.body.contains(told), "{told}: {}", page.body);
    }
}

#[tokio::test]
async fn a_run_is_told_by_its_id() {
    let world = on_fallback().await;
    let failed = world
        .ask("a/m", json!({}), &[("x-openclaw-policy", "strict")])
        .await;
    let id = failed.header("x-openclaw-request-id").unwrap();
    let told = get(&world, &format!("/decisions/{id}")).await;
    assert_eq!(told["run"]["outcome"], "failed");
    assert!(told["text"].as_str().unwrap().contains("a/m"), "{told}");
    let runs = get(&world, "/decisions?limit=5").await;
    let outcomes: Vec<&Value> = runs["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["outcome"])
        .collect();
    assert_eq!(outcomes, ["failed", "answered"], "the latest first");
    let of_session = get(&world, &format!("/decisions?session={KEY}")).await;
    assert_eq!(of_session["runs"].as_array().unwrap().len(), 1);
    let windows = get(&world, "/windows").await;
    assert_eq!(windows["windows"][0]["change"], "opened");
}

#[tokio::test]
async fn what_made_a_model_rest_is_told_with_the_request_that_opened_its_window() {
    let world = World::start(vec![vec![limited()], vec![hello()]]).await;
    let first = world.ask_plain().await;
    let opener = first.header("x-openclaw-request-id").unwrap();
    let passed_over = world.ask_plain().await;
    let id = passed_over.header("x-openclaw-request-id").unwrap();
    let told = get(&world, &format!("/decisions/{id}")).await;
    assert_eq!(told["held"][0]["model"], "a/m", "{told}");
    let window = &told["held"][0]["windows"][0];
    assert_eq!(
        (&window["runId"], &window["evidence"]["status"]),
        (&json!(opener), &json!(429)),
        "{told}"
    );
    let text = told["text"].as_str().unwrap();
    let line = format!("request {opener} opened that window");
    assert!(
        text.contains("What made it rest") && text.contains(&line),
        "{text}"
    );
    let page = world.get("/", &[]).await;
    assert!(page.body.contains(&line), "{}", page.body);
    let own = get(&world, &format!("/decisions/{opener}")).await;
    assert!(own["held"].is_null(), "nothing rested yet: {own}");
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let world = World::start(vec![vec![hello()]]).await;
    for (path, status, told) in [
        ("/status/x", 404, "there is nothing here"),
        (
            "/profiles?agent=nobody",
            404,
            "there is no agent `nobody`; the agents are main",
        ),
        ("/sessions/nothing", 404, "there is no session `nothing`"),
        ("/decisions/nothing", 404, "nothing is known of such a run"),
        ("/decisions?since=soon", 400, "since"),
        ("/chains?run=cron", 400, "`run` must be turn, subagent or image"),
        ("/chains?model=nobody/m", 404, "there is no model `nobody/m`"),
        ("/lint?of=x", 400, "`of` must be used or files"),
    ] {
        let received = world.get(&format!("/admin/v1{path}"), &[]).await;
        assert_eq!(received.status, status, "{path}");
        assert!(received.body.contains(told), "{path}: {}", received.body);
    }
    for (path, body, status) in [
        ("/cooldowns/clear", json!({"profile": "x:y"}), 404),
        ("/cooldowns/clear", json!({"profiles": "x:y"}), 400),
        ("/cooldowns/clear", json!({"all": false}), 400),
        ("/cooldowns/set", json!({"profile": "a:config", "forMs": 0}), 400),
        (
            "/cooldowns/set",
            json!({"profile": "a:config", "forMs": i64::MAX}),
            400,
        ),
        ("/cooldowns/set", json!({"profile": "x:y", "forMs": 1}), 404),
    ] {
        let received = post(&world, path, body).await;
        assert_eq!(received.status, status, "{path}: {}", received.body);
    }
    world.ask("openclaw", json!({}), SESSION).await;
    for (body, status) in [
        (json!({}), 400),
        (json!({"model": "nobody/m"}), 404),
        (json!({"model": "a/m@other"}), 404),
        (json!({"modell": null}), 400),
    ] {
        let received = patch(&world, &format!("/sessions/{KEY}"), body).await;
        assert_eq!(received.status, status, "{}", received.body);
    }
}

#[tokio::test]
async fn the_configuration_is_looked_over_before_it_is_used() {
    let world = World::start(vec![vec![hello()]]).await;
    let used = get(&world, "/lint").await;
    assert!(used["findings"].is_array(), "{used}");
    let file = world.state.path().join("openclaw.json");
    std::fs::write(file, "{ agents: { defaults: { model: 'nobody/m' } } }").unwrap();
    assert_eq!(get(&world, "/lint").await, used, "the one that is used");
    let files = get(&world, "/lint?of=files").await;
    let found = files["findings"].to_string();
    assert!(found.contains("nobody"), "{found}");
}

/// Reads events until one of this kind.
async fn event(stream: &mut reqwest::Response, kind: &str) -> Value {
    let mut text = String::new();
    loop {
        let chunk = stream.chunk().await.unwrap().expect("more events");
        text.push_str(&String::from_utf8_lossy(&chunk));
        let found = text
            .split("\n\n")
            .find(|event| event.starts_with(&format!("event: {kind}\n")));
        if let Some((_, data)) = found
            .filter(|_| text.ends_with("\n\n"))
            .and_then(|event| event.split_once("data: "))
        {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn what_happens_is_told_as_it_happens() {
    let world = World::start(vec![vec![limited()], vec![hello()]]).await;
    let mut stream = client().get(world.url("/admin/v1/events")).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    stream.chunk().await.unwrap().unwrap();
    let answered = world.ask("openclaw", json!({}), SESSION).await;
    let notice = event(&mut stream, "notice").await;
    assert_eq!(notice["record"]["active"], "b/m");
    assert!(answered.header("x-openclaw-notice").is_some());
    assert_eq!(world.reload_files().await.status, 200);
    assert_eq!(event(&mut stream, "reload").await["record"]["generation"], 2);
}

/// Also of what a provider said, which repeated the key.
#[tokio::test]
async fn no_answer_tells_a_secret() {
    const KEYS: [&str; 2] = ["long-key-a", "long-key-b"];
    let said = r#"{"error":{"code":"rate_limit_exceeded","message":"slow down, long-key-a"}}"#;
    let limited = Script::reply(429, &[("retry-after", "600")], said);
    let upstreams = vec![Upstream::start([limited]).await, Upstream::start([hello()]).await];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams).replace("key-", "long-key-")
    );
    let world = World::open(upstreams, &text, &[]).await;
    let mut stories = Vec::new();
    for _ in 0..2 {
        let answer = world.ask("openclaw", json!({}), SESSION).await;
        let id = answer.header("x-openclaw-request-id").unwrap();
        stories.push(format!("decisions/{id}"));
    }
    let met = get(&world, &format!("/{}", stories[0])).await;
    assert!(
        met["text"].as_str().unwrap().contains("slow down, [redacted]"),
        "{met}"
    );
    let paths = [
        "status",
        "profiles",
        "cooldowns",
        "sessions",
        "chains",
        "decisions",
        "windows",
        "lint",
        "page",
    ];
    for path in paths.into_iter().chain(stories.iter().map(String::as_str)) {
        let received = world.get(&format!("/admin/v1/{path}"), &[]).await;
        assert_eq!(received.status, 200, "{path}");
        for key in KEYS {
            assert!(!received.body.contains(key), "{path}: {}", received.body);
        }
    }
}

#[tokio::test]
async fn every_route_asks_for_the_token() {
    let world = World::start_with(vec![vec![hello()]], "", &[("OPENCLAW_GATEWAY_TOKEN", "t")]).await;
    for path in ["status", "profiles", "sessions", "decisions", "events", "nothing"] {
        let path = format!("/admin/v1/{path}");
        assert_eq!(world.get(&path, &[]).await.status, 401, "{path}");
    }
    let told = world
        .get("/admin/v1/status", &[("authorization", "Bearer t")])
        .await;
    assert_eq!(told.status, 200, "{}", told.body);
}
