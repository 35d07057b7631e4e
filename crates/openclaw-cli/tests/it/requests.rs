//! What is asked, and what of it reaches the upstream.

use faultwall::scripted::{Script, Upstream};
use serde_json::json;

use crate::world::{HELLO, Received, World, client, hello, rows};

#[tokio::test]
async fn the_body_travels_untouched_but_for_its_model_and_comes_back_as_it_was() {
    let world = World::start(vec![vec![hello()]]).await;
    let body = r#"{ "top_k" : 1.50, "model":"openclaw", "messages": [], "unknown": {"model": "kept"} }"#;
    let received = world.post(body, &[]).await;
    insta::assert_snapshot!("plain_answer", received.show());
    assert_eq!(received.body, HELLO);
    let seen = &world.upstreams[0].seen()[0];
    assert_eq!(seen.body, body.replace("openclaw", "m"));
    assert_eq!(seen.header("authorization"), Some("Bearer key-a"));
}

#[tokio::test]
async fn a9_models_of_the_chain_start_it_and_others_are_strict() {
    let world = World::start(vec![vec![Script::reset()], vec![Script::reset()], vec![hello()]]).await;
    let chain = world.ask("b/m", json!({}), &[]).await;
    assert_eq!(chain.header("x-openclaw-served-model"), Some("c/m"));
    assert_eq!(chain.header("x-openclaw-requested-model"), Some("b/m"));
    assert_eq!(world.calls(), [0, 1, 1], "the chain starts at `b/m`");

    let strict = world.ask("b/other", json!({}), &[]).await;
    assert_eq!(
        (strict.status, strict.header("x-openclaw-attempts")),
        (503, Some("1"))
    );

    let header = world
        .ask("openclaw", json!({}), &[("x-openclaw-model", "c/special")])
        .await;
    assert_eq!(header.header("x-openclaw-served-model"), Some("c/special"));
    assert!(world.upstreams[2].seen()[1].body.contains(r#""model":"special""#));
}

#[tokio::test]
async fn the_policy_header_decides_what_a_model_in_the_body_means() {
    let world = World::start(vec![vec![Script::reset()], vec![hello()]]).await;
    let strict = world
        .ask("a/m", json!({}), &[("x-openclaw-policy", "strict")])
        .await;
    assert_eq!(strict.status, 503);
    let chain = world
        .ask("a/other", json!({}), &[("x-openclaw-policy", "chain")])
        .await;
    assert_eq!(chain.header("x-openclaw-served-model"), Some("b/m"));
}

#[tokio::test]
async fn agents_have_chains_of_their_own() {
    let upstreams = vec![Upstream::start([hello()]).await, Upstream::start([hello()]).await];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m' }}, list: [{{ id: 'main' }}, {{ id: 'writer', model: 'b/long' }}] }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let world = World::open(upstreams, &text, &[]).await;
    let main = world.ask("openclaw", json!({}), &[]).await;
    assert_eq!(main.header("x-openclaw-served-model"), Some("a/m"));
    for (model, headers) in [
        ("openclaw/writer", &[] as &[_]),
        ("openclaw", &[("x-openclaw-agent-id", "writer")]),
    ] {
        let received = world.ask(model, json!({}), headers).await;
        assert_eq!(received.header("x-openclaw-served-model"), Some("b/long"));
    }
    insta::assert_snapshot!("models", world.get("/v1/models", &[]).await.show());
}

#[tokio::test]
async fn requests_that_cannot_be_read_or_name_nothing() {
    let world = World::start(vec![vec![hello()]]).await;
    for (name, body) in [
        ("not_json", "{"),
        ("list_body", r#"["openclaw", true]"#),
        ("wrong_member", r#"{"model":["openclaw"]}"#),
        ("no_model", "{}"),
        ("unknown_model", r#"{"model":"gpt-4o"}"#),
        ("unknown_agent", r#"{"model":"openclaw/nobody"}"#),
    ] {
        insta::assert_snapshot!(name, world.post(body, &[]).await.show());
    }
    insta::assert_snapshot!("unknown_path", world.get("/v2/none", &[]).await.show());
    let posted = client().post(world.url("/healthz"));
    let posted = Received::of(posted.header("content-type", "application/json")).await;
    assert_eq!(
        (posted.status, posted.json()["error"]["code"].as_str()),
        (405, Some("method_not_allowed"))
    );
    insta::assert_snapshot!(
        "wrong_method",
        world.get("/v1/chat/completions", &[]).await.show()
    );
    assert_eq!(world.calls(), [0]);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_clearly() {
    let world = World::start(vec![vec![hello()]]).await;
    let padding = "x".repeat(32 * 1024 * 1024);
    let received = world.ask("openclaw", json!({"padding": padding}), &[]).await;
    insta::assert_snapshot!("too_large", received.show());
}

#[tokio::test]
async fn with_a_token_everything_but_health_asks_for_it() {
    let token = [("OPENCLAW_GATEWAY_TOKEN", "s3cret")];
    let world = World::start_with(vec![vec![hello()]], "", &token).await;
    insta::assert_snapshot!("unauthorized", world.ask_plain().await.show());
    let wrong = world
        .ask("openclaw", json!({}), &[("authorization", "Bearer wrong")])
        .await;
    assert_eq!(wrong.status, 401);
    assert_eq!(world.get("/v1/models", &[]).await.status, 401);
    assert_eq!(world.calls(), [0]);
    let right = world
        .ask("openclaw", json!({}), &[("authorization", "Bearer s3cret")])
        .await;
    assert_eq!(right.status, 200);
    let seen = &world.upstreams[0].seen()[0];
    assert_eq!(
        seen.header("authorization"),
        Some("Bearer key-a"),
        "our token stays here"
    );
    insta::assert_snapshot!("health", world.get("/healthz", &[]).await.show());
}

#[tokio::test]
async fn a_configured_token_is_asked_for_too() {
    let configured = "gateway: { auth: { token: '${CLIENTS}' } },";
    let world = World::start_with(vec![vec![hello()]], configured, &[("CLIENTS", "s3cret")]).await;
    assert_eq!(world.get("/v1/models", &[]).await.status, 401);
    let right = [("authorization", "Bearer s3cret")];
    assert_eq!(world.get("/v1/models", &right).await.status, 200);
}

#[tokio::test]
async fn without_a_token_web_pages_are_kept_out() {
    let world = World::start(vec![vec![hello()]]).await;
    let page = [("origin", "https://page.example")];
    insta::assert_snapshot!("foreign", world.ask("openclaw", json!({}), &page).await.show());
    let rebound = [("host", "rebound.example:18789")];
    assert_eq!(world.ask("openclaw", json!({}), &rebound).await.status, 403);
    assert_eq!(world.get("/v1/models", &rebound).await.status, 403);
    let form = [("content-type", "text/plain")];
    insta::assert_snapshot!(
        "not_declared_json",
        world.ask("openclaw", json!({}), &form).await.show()
    );
    assert_eq!(world.calls(), [0]);
    let own = [("origin", "http://localhost:3000")];
    assert_eq!(world.ask("openclaw", json!({}), &own).await.status, 200);
}

#[tokio::test]
async fn with_a_token_any_host_may_ask() {
    let token = [("OPENCLAW_GATEWAY_TOKEN", "s3cret")];
    let world = World::start_with(vec![vec![hello()]], "", &token).await;
    let headers = [
        ("authorization", "Bearer s3cret"),
        ("host", "gateway.example"),
        ("origin", "https://page.example"),
    ];
    assert_eq!(world.ask("openclaw", json!({}), &headers).await.status, 200);
}

#[tokio::test]
async fn readiness_needs_state_and_a_model_to_ask_but_no_token() {
    let token = [("OPENCLAW_GATEWAY_TOKEN", "t")];
    let world = World::start_with(vec![vec![hello()]], "", &token).await;
    let ready = world.get("/readyz", &[]).await;
    assert_eq!((ready.status, ready.json()), (200, json!({"status": "ok"})));
    let usage = world.state.path().join("agents/main/agent/openclaw-agent.sqlite");
    let text = "{ agents: { defaults: { model: 'nowhere/m' } } }";
    let nowhere = World::open(Vec::new(), text, &[]).await;
    let unready = nowhere.get("/readyz", &[]).await;
    assert_eq!(unready.status, 503);
    assert_eq!(
        unready.json()["problem"],
        "no model of the default chain can be called"
    );

    for suffix in ["", "-wal", "-shm"] {
        let file = usage.with_file_name(format!("openclaw-agent.sqlite{suffix}"));
        std::fs::write(file, vec![7; 8192]).unwrap();
    }
    let unready = world.get("/readyz", &[]).await;
    assert_eq!(
        (unready.status, unready.json()["problem"].clone()),
        (503, json!("the gateway cannot use its state"))
    );
    assert_eq!(world.get("/healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn a_model_is_found_by_its_id() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    for id in ["openclaw", "openclaw/main", "a/m", "b/m", "b%2Fm"] {
        let model = world.get(&format!("/v1/models/{id}"), &[]).await;
        assert_eq!(model.status, 200, "{id}");
        assert_eq!(model.json()["id"], id.replace("%2F", "/"));
        assert_eq!(model.json()["object"], "model");
    }
    let unknown = world.get("/v1/models/gpt-7", &[]).await;
    assert_eq!(
        (unknown.status, unknown.json()["error"]["code"].clone()),
        (404, json!("model_not_found"))
    );
}

#[tokio::test]
async fn r_10_5_image_runs_walk_the_image_chain_and_remember_nothing() {
    const IMAGE: (&str, &str) = ("x-openclaw-run", "image");
    let upstreams = vec![
        Upstream::start([hello()]).await,
        Upstream::start([Script::reset()]).await,
        Upstream::start([hello()]).await,
    ];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m', imageModel: {{ primary: 'b/see', fallbacks: ['c/see'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let world = World::open(upstreams, &text, &[]).await;
    let session = ("x-openclaw-session-key", "agent:main:images");
    for (model, headers, served, requested) in [
        ("openclaw", &[IMAGE, session] as &[_], "c/see", "b/see"),
        ("a/other", &[IMAGE], "a/other", "a/other"),
        ("b/other", &[IMAGE], "c/see", "b/other"),
        ("openclaw", &[("x-openclaw-run", "text")], "a/m", "a/m"),
    ] {
        let received = world.ask(model, json!({}), headers).await;
        assert_eq!(
            received.header("x-openclaw-served-model"),
            Some(served),
            "{model}"
        );
        assert_eq!(
            received.header("x-openclaw-requested-model"),
            Some(requested),
            "{model}"
        );
        assert_eq!(received.header("x-openclaw-notice"), None);
    }
    let strict = world
        .ask("openclaw", json!({}), &[IMAGE, ("x-openclaw-model", "b/other")])
        .await;
    assert_eq!(strict.status, 503);
    let wrong = world
        .ask("openclaw", json!({}), &[("x-openclaw-run", "video")])
        .await;
    assert_eq!(wrong.status, 400);

    let world = World::start(vec![vec![hello()]]).await;
    let none = world.ask("openclaw", json!({}), &[IMAGE]).await;
    assert_eq!(none.status, 400);
    assert!(
        none.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("imageModel")
    );
}

#[tokio::test]
async fn whoever_guesses_the_token_has_to_wait() {
    let world = World::start_with(vec![vec![hello()]], "", &[("OPENCLAW_GATEWAY_TOKEN", "right")]).await;
    let ask = async |token: &str| {
        let bearer = format!("Bearer {token}");
        world.get("/v1/models", &[("authorization", &bearer)]).await
    };
    for _ in 0..20 {
        assert_eq!(
            ask("outdated").await.status,
            401,
            "one wrong setting locks nobody out"
        );
        assert_eq!(world.get("/v1/models", &[]).await.status, 401);
    }
    for number in 1..10 {
        assert_eq!(ask("right").await.status, 200);
        assert_eq!(ask(&format!("guess-{number}")).await.status, 401);
    }
    let held = ask("right").await;
    assert_eq!(
        (held.status, held.json()["error"]["code"].clone()),
        (429, json!("too_many_wrong_tokens"))
    );
    let wait: u64 = held.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(world.get("/healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn a_model_may_be_named_by_the_header_alone_and_a_mark_may_come_first() {
    let world = World::start(vec![vec![hello()], vec![hello()]]).await;
    let named = world
        .post("\u{feff}{\"messages\": []}", &[("x-openclaw-model", "b/m")])
        .await;
    assert_eq!(
        named.header("x-openclaw-served-model"),
        Some("b/m"),
        "{}",
        named.body
    );
    assert_eq!(world.post("{\"messages\": []}", &[]).await.status, 400);
}
