//! `simulate`.

use openclaw_history::history_path;
use serde_json::json;

use super::Desk;
use crate::world::{World, hello, refusal};

fn config(chain: &str, more: &str) -> String {
    let row =
        |name: &str| format!("{name}: {{ baseUrl: 'http://127.0.0.1:9', apiKey: 'key-{name}', models: [] }}");
    format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: [{chain}] }} }} }},
            models: {{ providers: {{ {}, {}, {} }} }} {more} }}",
        row("a"),
        row("b"),
        row("c"),
    )
}

#[tokio::test]
async fn the_same_configuration_gives_no_difference_and_another_one_does() {
    let world = World::start(vec![
        vec![refusal(429, "rate_limit_exceeded", "slow down"), hello()],
        vec![hello(), hello(), hello()],
    ])
    .await;
    for model in ["openclaw", "openclaw", "b/m"] {
        world.ask(model, json!({}), &[]).await;
    }
    world.gateway.flush().await;
    let root = world.state.path().to_owned();
    let told = tokio::task::spawn_blocking(move || {
        let desk = Desk::over(&root);
        desk.write("openclaw.json", &config("'b/m'", ""));
        desk.write("other.json", &config("'c/m', 'b/m'", ""));
        desk.write("strict.json", &config("", ""));
        desk.transcript(&[
            &["simulate"],
            &["simulate", "--with", "openclaw.json"],
            &["simulate", "--with", "other.json"],
            &["simulate", "--with", "strict.json", "--since", "1h"],
            &["simulate", "--agent", "main", "--latest", "1"],
        ])
    });
    insta::assert_snapshot!("simulated", told.await.unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_for_which_nobody_was_asked_is_played_too() {
    let unpaid = refusal(402, "insufficient_quota", "no credit");
    let world = World::start(vec![vec![unpaid]]).await;
    for _ in 0..2 {
        assert_eq!(world.ask_plain().await.status, 402);
    }
    assert_eq!(world.calls(), [1], "the credential rests");
    world.gateway.flush().await;
    let desk = Desk::over(world.state.path());
    desk.write("openclaw.json", &config("", ""));
    let told = tokio::task::block_in_place(|| desk.fine(&["simulate", "--json"]).json());
    assert_eq!(told["requests"], 2, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_of_another_version_is_counted_and_the_others_are_played() {
    let limited = || refusal(429, "rate_limit_exceeded", "slow down");
    let world = World::start(vec![vec![limited()], vec![hello(), hello()]]).await;
    for _ in 0..2 {
        world.ask_plain().await;
    }
    world.gateway.flush().await;
    let history = rusqlite::Connection::open(history_path(world.state.path())).unwrap();
    let other = "UPDATE entries SET record_json = '{\"version\": 9}'
                 WHERE id = (SELECT min(id) FROM entries WHERE kind = 'recording')";
    assert_eq!(history.execute(other, []).unwrap(), 1);
    let desk = Desk::over(world.state.path());
    let told = tokio::task::block_in_place(|| desk.fine(&["simulate", "--json"]).json());
    assert_eq!(
        (&told["requests"], &told["unplayable"]),
        (&json!(1), &json!(1)),
        "{told}"
    );
}
