//! Commands typed as the last message of a session, answered without a model (S-8, S-9, S-11).

use faultwall::scripted::Script;
use serde_json::{Value, json};

use crate::world::{Received, World, hello};

const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", "agent:main:chat")];

fn limited() -> Script {
    Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    )
}

async fn world(scripts: Vec<Vec<Script>>) -> World {
    World::start_under("{ commands: 'on' }", scripts).await
}

/// A turn of the session whose last message is `text`.
async fn say(world: &World, text: &str) -> Received {
    let messages = json!([{"role": "system", "content": "x"}, {"role": "user", "content": text}]);
    world
        .ask("openclaw", json!({"messages": messages}), SESSION)
        .await
}

fn text(received: &Received) -> String {
    assert_eq!(received.status, 200, "{}", received.body);
    let body = received.json();
    body["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn served(received: &Received) -> Option<&str> {
    received.header("x-openclaw-served-model")
}

#[tokio::test]
async fn s_8_a_chosen_model_answers_until_it_is_taken_back() {
    let world = world(vec![vec![hello()], vec![hello()]]).await;
    let told = say(&world, " /model b/m\n").await;
    assert_eq!(told.header("x-openclaw-command"), Some("/model"));
    assert_eq!(served(&told), None);
    assert_eq!(world.calls(), [0, 0], "no model was asked");
    insta::assert_snapshot!("command_model_set", text(&told));
    assert_eq!(served(&say(&world, "Hi").await), Some("b/m"));
    insta::assert_snapshot!("command_model", text(&say(&world, "/model").await));
    insta::assert_snapshot!("command_model_list", text(&say(&world, "/model list").await));

    insta::assert_snapshot!(
        "command_model_default",
        text(&say(&world, "/model default").await)
    );
    assert_eq!(served(&say(&world, "Hi").await), Some("a/m"));
}

#[tokio::test]
async fn s_5_5a_a_chosen_profile_is_pinned() {
    let world = world(vec![vec![hello()], vec![hello()]]).await;
    for (typed, named) in [("b/m@config", "b:config"), ("b/m@b:config", "b:config")] {
        let told = text(&say(&world, &format!("/model {typed}")).await);
        assert!(told.contains(&format!("`b/m` with `{named}`")), "{told}");
    }
    assert!(text(&say(&world, "/status").await).contains("b:config"));
}

#[tokio::test]
async fn what_cannot_be_chosen_changes_nothing() {
    let world = world(vec![vec![hello()], vec![hello()]]).await;
    for (name, typed) in [
        ("command_unknown_model", "/model nobody/m"),
        ("command_unknown_profile", "/model b/m@other"),
        ("command_too_much", "/model b/m please"),
        ("command_new_unknown", "/new nobody/m"),
    ] {
        insta::assert_snapshot!(name, text(&say(&world, typed).await));
    }
    assert_eq!(served(&say(&world, "Hi").await), Some("a/m"));
}

#[tokio::test]
async fn s_11_status_says_what_answers_and_what_rests() {
    let world = world(vec![vec![limited()], vec![hello()]]).await;
    insta::assert_snapshot!("command_status_new", text(&say(&world, "/status").await));
    say(&world, "Hi").await;
    insta::assert_snapshot!("command_status_fallback", text(&say(&world, "/status").await));
}

#[tokio::test]
async fn s_9_a_new_session_forgets_a_fallback_and_keeps_a_choice() {
    let world = world(vec![vec![limited(), hello()], vec![hello()]]).await;
    say(&world, "Hi").await;
    for reset in ["/new", "/reset"] {
        insta::assert_snapshot!("command_reset", text(&say(&world, reset).await));
        assert!(!text(&say(&world, "/status").await).contains("Fallback:"));
    }
    say(&world, "/model b/m").await;
    say(&world, "/new").await;
    assert_eq!(served(&say(&world, "Hi").await), Some("b/m"));
    insta::assert_snapshot!("command_new_with_model", text(&say(&world, "/new a/m").await));
    assert!(text(&say(&world, "/status").await).starts_with("🧠 Model: a/m"));
}

#[tokio::test]
async fn every_format_is_answered_in_its_own_shape_whole_and_streamed() {
    let world = world(vec![vec![hello()]]).await;
    let message = json!([{"role": "user", "content": "/status"}]);
    for (path, body) in [
        ("/v1/chat/completions", json!({"messages": message})),
        ("/v1/messages", json!({"messages": message, "max_tokens": 9})),
        ("/v1/responses", json!({"input": "/status"})),
    ] {
        for stream in [false, true] {
            let mut body = body.clone();
            body["model"] = "openclaw".into();
            body["stream"] = stream.into();
            let told = world.post_to(path, body.to_string(), SESSION).await;
            assert_eq!(told.status, 200, "{path} {}", told.body);
            assert!(told.body.contains("🧠 Model: a/m"), "{}", told.body);
            let kind = if stream {
                "text/event-stream"
            } else {
                "application/json"
            };
            assert_eq!(told.header("content-type"), Some(kind));
        }
    }
    assert_eq!(world.calls(), [0]);
}

#[tokio::test]
async fn a_message_is_no_command_without_the_setting_or_a_session_or_with_more_in_it() {
    let off = World::start(vec![vec![hello()]]).await;
    assert_eq!(served(&say(&off, "/status").await), Some("a/m"));
    let world = world(vec![vec![hello()]]).await;
    let stateless = json!({"messages": [{"role": "user", "content": "/status"}]});
    assert_eq!(served(&world.ask("openclaw", stateless, &[]).await), Some("a/m"));
    for text in ["/statusline", "say /status", "/help", "status"] {
        assert_eq!(served(&say(&world, text).await), Some("a/m"), "{text}");
    }
    let sent: Value = serde_json::from_str(&world.upstreams[0].seen()[1].body).unwrap();
    assert_eq!(
        sent["messages"][1]["content"], "/statusline",
        "it travels untouched"
    );
}
