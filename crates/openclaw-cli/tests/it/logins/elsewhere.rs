//! Logins whose own addresses cannot be reached, beside a key of the same provider.

use faultwall::scripted::Upstream;
use serde_json::json;

use super::{answer, keys, later, login, respond, state_with};
use crate::world::World;

/// An address where no process listens.
async fn nowhere() -> String {
    let upstream = Upstream::start(vec![answer()]).await;
    let address = upstream.base_url();
    upstream.stop().await;
    address
}

/// A login of `openai` that ends in so many seconds, used and refreshed at these addresses, before a key and a fallback.
async fn world(ends_in: i64, login_at: &str, tokens_at: &str) -> World {
    let state = state_with(&[
        ("openai:me", login("openai", later(ends_in))),
        (
            "openai:key",
            json!({"type": "api_key", "provider": "openai", "key": "sk-key"}),
        ),
    ])
    .await;
    let upstreams = vec![
        Upstream::start(vec![answer()]).await,
        Upstream::start(vec![answer()]).await,
    ];
    let [openai, other] = [0, 1].map(|at: usize| upstreams[at].base_url());
    let failover = format!(
        "{{ logins: {{ openai: {{ baseUrl: '{login_at}/codex', tokenUrl: '{tokens_at}/token' }} }} }}"
    );
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'openai/m', fallbacks: ['b/m'] }} }} }},
            models: {{ providers: {{ openai: {{ baseUrl: '{openai}', models: [] }},
                b: {{ baseUrl: '{other}', apiKey: 'key-b', api: 'openai-responses', models: [] }} }} }} }}"
    );
    World::open_in(state, &failover, upstreams, &text, &[]).await
}

#[tokio::test]
async fn d4_a_login_out_of_reach_rests_no_key_of_its_provider() {
    let gone = nowhere().await;
    let world = world(3_600, &gone, &gone).await;
    for attempts in ["2", "1"] {
        let received = respond(&world).await;
        assert_eq!(received.status, 200, "{}", received.body);
        assert_eq!(received.header("x-openclaw-fallback-index"), Some("0"));
        assert_eq!(received.header("x-openclaw-attempts"), Some(attempts));
    }
    assert_eq!(keys(&world.upstreams[0]), ["Bearer sk-key", "Bearer sk-key"]);
    let chains = world.get("/admin/v1/chains", &[]).await.json();
    assert_eq!(
        chains.pointer("/candidates/0/state"),
        Some(&json!("ready")),
        "{chains}"
    );
}

#[tokio::test]
async fn d4_a_login_that_cannot_be_refreshed_rests_no_key_of_its_provider() {
    let gone = nowhere().await;
    let world = world(-1, &gone, &gone).await;
    for _ in 0..2 {
        let received = respond(&world).await;
        assert_eq!(received.status, 200, "{}", received.body);
        assert_eq!(received.header("x-openclaw-fallback-index"), Some("0"));
    }
    assert_eq!(keys(&world.upstreams[0]), ["Bearer sk-key", "Bearer sk-key"]);
}
