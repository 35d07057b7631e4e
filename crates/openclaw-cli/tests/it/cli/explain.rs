//! `explain` and `cooldown history`.

use serde_json::json;

use super::Desk;
use crate::world::{Received, World, hello, refusal};

#[test]
fn a_failure_is_judged_and_rehearsed() {
    let desk = Desk::new().with_keys();
    let told = desk.transcript(&[
        &[
            "explain",
            "--status",
            "429",
            "--message",
            "Rate limit reached, try again in 7s",
        ],
        &[
            "explain",
            "--provider",
            "anthropic",
            "--status",
            "402",
            "--body",
            r#"{"error": {"message": "credit balance is too low"}}"#,
        ],
        &[
            "explain",
            "--model",
            "openai/gpt",
            "--status",
            "401",
            "--code",
            "invalid_api_key",
        ],
        &[
            "explain",
            "--model",
            "openai/other",
            "--status",
            "503",
            "--header",
            "retry-after: 3600",
        ],
        &["explain", "--transport", "refused"],
        &[
            "explain",
            "--status",
            "400",
            "--message",
            "This model's maximum context length is 8192 tokens",
        ],
        &["explain", "--status", "418"],
        &[
            "explain",
            "--message",
            "key sk-proj-abcdefghijklmnopqrstuvwxyz012345 is wrong",
            "--status",
            "401",
        ],
    ]);
    assert!(!told.contains("ghijklmnopqrstuvwxyz012345 is wrong\n"), "{told}");
    insta::assert_snapshot!("failures", told);
    let windows = desk.fine(&["cooldown", "list"]).output;
    assert_eq!(windows, "Nothing of agent main rests.\n", "a rehearsal is no run");
}

#[test]
fn failures_and_logs_come_by_standard_input() {
    let desk = Desk::new().with_keys();
    let lines = r#"{"provider": "openai", "status": 429, "type": "rate_limit_error", "headers": {"retry-after": 30}}

{"status": 529, "body": {"error": {"type": "overloaded_error"}}, "model": "anthropic/claude"}
"#;
    let told = desk
        .run_with(&["explain", "--stdin"], lines)
        .shown(&["explain", "--stdin"]);
    insta::assert_snapshot!("lines", told);
    let log = r#"{"timestamp": "2026-01-01T00:00:00Z", "fields": {"event": "model_fallback_decision", "decision": "skip_candidate",
        "runId": "r", "requestedProvider": "a", "requestedModel": "m", "candidateProvider": "a", "candidateModel": "m",
        "attempt": 1, "total": 1, "reason": "rate_limit"}}"#;
    let told = desk.run_with(&["explain", "--stdin"], &log.replace('\n', " "));
    insta::assert_snapshot!("log", told.output);
    let broken = desk.run_with_bytes(
        &["explain", "--stdin"],
        b"{\"status\": 429, \"message\": \"\xff\"}",
    );
    assert_eq!(broken.status, 0, "{broken:?}");
    for (input, status) in [("", 1), ("no json", 2), (r#"{"transport": "smoke"}"#, 2)] {
        assert_eq!(
            desk.run_with(&["explain", "--stdin"], input).status,
            status,
            "{input}"
        );
    }
    let json = desk.run_with(&["explain", "--stdin", "--json"], lines);
    let rows: Vec<serde_json::Value> = json.raw_lines();
    assert_eq!(
        (rows.len(), &rows[0]["verdict"]["reason"]),
        (2, &json!("rate_limit"))
    );
}

#[test]
fn a_history_without_a_request_is_told_as_that() {
    let desk = Desk::new().with_keys();
    // The history knows of the window then, and of no request.
    desk.fine(&["cooldown", "set", "openai:work", "--for", "2h"]);
    let done = desk.run(&["explain"]);
    assert_eq!(done.status, 1, "{done:?}");
    assert!(
        done.output.contains("no gateway has answered one here yet"),
        "{done:?}"
    );
}

#[test]
fn the_json_of_a_failure() {
    let desk = Desk::new().with_keys();
    let done = desk.fine(&[
        "explain",
        "--status",
        "429",
        "--code",
        "rate_limit_exceeded",
        "--json",
    ]);
    let pretty = serde_json::to_string_pretty(&done.json()).unwrap();
    insta::assert_snapshot!("failure_json", super::desk::redacted(&pretty, &desk.path("")));
}

#[tokio::test]
async fn the_story_of_a_request_is_told_from_the_history() {
    let world = World::start(vec![
        vec![refusal(429, "rate_limit_exceeded", "slow down"), hello()],
        vec![hello(), hello()],
    ])
    .await;
    let session = [("x-openclaw-session-key", "agent:main:chat")];
    let first = world.ask("openclaw", json!({}), &session).await;
    let id = first.header("x-openclaw-request-id").unwrap().to_owned();
    world.ask("openclaw", json!({}), &[]).await;
    world.gateway.flush().await;
    world.use_is_written("b:config").await;
    let root = world.state.path().to_owned();
    let config = "{ agents: { defaults: { model: { primary: 'a/m', fallbacks: ['b/m'] } } },
        models: { providers: { a: { baseUrl: 'http://127.0.0.1:9', apiKey: 'key-a', models: [] },
                               b: { baseUrl: 'http://127.0.0.1:9', apiKey: 'key-b', models: [] } } } }";
    let told = tokio::task::spawn_blocking(move || {
        let desk = Desk::over(&root);
        desk.write("openclaw.json", config);
        desk.transcript(&[
            &["explain", &id],
            &["explain"],
            &["cooldown", "history"],
            &["cooldown", "history", "b:config", "--since", "1h"],
            &["cooldown", "clear", "a"],
            &["status"],
        ])
    });
    insta::assert_snapshot!("story", told.await.unwrap());
    assert_eq!(world.calls(), [1, 2]);
}

#[tokio::test]
async fn a_request_that_found_a_window_names_the_request_that_opened_it() {
    let refused = || refusal(401, "invalid_api_key", "Incorrect API key provided");
    let limited = || refusal(429, "rate_limit_exceeded", "slow down");
    let world = World::start(vec![vec![refused()], vec![limited()], vec![hello(), hello()]]).await;
    let opener = world.ask_plain().await;
    let id = opener.header("x-openclaw-request-id").unwrap().to_owned();
    world.ask_plain().await;
    world.gateway.flush().await;
    world.use_is_written("c:config").await;
    let root = world.state.path().to_owned();
    tokio::task::spawn_blocking(move || {
        let desk = Desk::over(&root);
        desk.fine(&["cooldown", "set", "c:config", "--for", "2h"]);
        let told = desk.fine(&["explain", "--json"]).json();
        let first = &told["held"][0];
        assert_eq!(first["model"], "a/m", "{told}");
        assert_eq!(first["windows"][0]["runId"], json!(id));
        assert_eq!(
            first["windows"][0]["evidence"]["detail"],
            "Incorrect API key provided"
        );
        assert_eq!(told["held"][1]["windows"][0]["evidence"]["status"], 429);
        insta::assert_snapshot!(
            "held",
            desk.transcript(&[&["explain"], &["status"], &["cooldown", "list"]])
        );
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_laid_to_rest_is_told_as_that() {
    let world = World::start(vec![vec![], vec![hello()]]).await;
    let desk = Desk::over(world.state.path());
    let set = ["cooldown", "set", "a:config", "--for", "2h"];
    tokio::task::block_in_place(|| desk.fine(&set));
    world.ask_plain().await;
    world.gateway.flush().await;
    let told = tokio::task::block_in_place(|| desk.fine(&["explain"]).output);
    assert!(told.contains("a person laid it to rest"), "{told}");
    tokio::task::block_in_place(|| desk.fine(&["cooldown", "clear", "--all"]));
    let told = tokio::task::block_in_place(|| desk.fine(&["explain"]).output);
    assert!(
        told.contains("rested (rate_limit) since <time>, set free <time>"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_went_to_a_fallback_is_told_before_what_another_key_answered_later() {
    let limited = || refusal(429, "rate_limit_exceeded", "slow down");
    let world = World::start(vec![
        vec![limited(), limited(), limited(), hello()],
        vec![hello()],
    ])
    .await;
    let desk = Desk::over(world.state.path());
    tokio::task::block_in_place(|| desk.run_with(&["auth", "add", "a:one"], "key-one"));
    let fell = world.ask_plain().await;
    tokio::task::block_in_place(|| desk.fine(&["cooldown", "clear", "--all"]));
    let rotated = world.ask_plain().await;
    let served = |answer: &Received| answer.header("x-openclaw-served-model").map(str::to_owned);
    assert_eq!(
        (served(&fell), served(&rotated)),
        (Some("b/m".to_owned()), Some("a/m".to_owned()))
    );
    world.gateway.flush().await;
    let told = tokio::task::block_in_place(|| desk.fine(&["explain", "--json"]).json());
    assert_eq!(
        told["run"]["runId"].as_str(),
        fell.header("x-openclaw-request-id")
    );
}
