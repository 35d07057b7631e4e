//! The formats that a login is good for, and what is done about the others.

use super::*;

#[tokio::test]
async fn a_login_is_used_for_the_formats_of_its_endpoint_alone() {
    let key = json!({"type": "api_key", "provider": "openai", "key": "sk-key"});
    let world = world("openai", 3_600, [hello(), renewed(), hello()]).await;
    // Chat completions are not answered to a login.
    let received = world.ask_plain().await;
    assert_eq!((received.status, world.calls()), (400, vec![0, 0, 0]));
    assert!(
        received.body.contains("`openai` has only logins"),
        "{}",
        received.body
    );

    let api = Upstream::start([hello()]).await;
    let codex = Upstream::start([answer()]).await;
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'openai/m' }} }}, models: {{ providers: {{ openai: {{ baseUrl: '{}' }} }} }} }}",
        api.base_url()
    );
    let failover = format!(
        "{{ logins: {{ openai: {{ baseUrl: '{}' }} }} }}",
        codex.base_url()
    );
    let state = state_with(&[("openai:me", login("openai", later(3_600))), ("openai:key", key)]).await;
    let world = World::open_in(state, &failover, vec![api, codex], &text, &[]).await;
    let received = world.ask_plain().await;
    assert_eq!(
        (received.status, world.calls()),
        (200, vec![1, 0]),
        "{}",
        received.body
    );
    assert_eq!(respond(&world).await.status, 200);
    assert_eq!(
        (world.calls(), sent(&world, 0), sent(&world, 1)),
        (
            vec![1, 1],
            vec!["Bearer sk-key".to_owned()],
            vec!["Bearer access-old".to_owned()],
        )
    );
    let usage = store(world.state.path()).snapshot();
    assert!(
        usage.usage(&profile("openai:me")).windows.is_empty(),
        "nothing is marked"
    );
}

#[tokio::test]
async fn what_leaves_the_order_for_its_format_is_recorded() {
    let limited = refusal(429, "rate_limit_exceeded", "Rate limit reached");
    let api = Upstream::start([limited]).await;
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'openai/m', fallbacks: ['anthropic/m'] }} }} }},
            models: {{ providers: {{ openai: {{ baseUrl: '{}' }} }} }} }}",
        api.base_url()
    );
    let entries = [
        ("openai:me", login("openai", later(3_600))),
        (
            "openai:key",
            json!({"type": "api_key", "provider": "openai", "key": "sk-key"}),
        ),
        ("anthropic:me", login("anthropic", later(3_600))),
    ];
    let world = World::open_in(state_with(&entries).await, "{}", vec![api], &text, &[]).await;
    let received = world.ask_plain().await;
    assert_eq!(received.header("x-openclaw-left-out"), Some("anthropic/m"));
    let attempts = received.json()["error"]["attempts"].clone();
    let coded: Vec<(String, String)> = attempts
        .as_array()
        .unwrap()
        .iter()
        .filter(|attempt| attempt["code"] == "wire_unsupported")
        .map(|attempt| (attempt["provider"].to_string(), attempt["error"].to_string()))
        .collect();
    assert_eq!(coded.len(), 2, "{attempts}");
    assert!(
        !attempts.to_string().contains("openai:me"),
        "profiles are named by their hash"
    );
}

#[tokio::test]
async fn anthropics_logins_answer_messages() {
    let world = world("anthropic", 10, [Script::json(200, MESSAGE), renewed(), hello()]).await;
    let body = json!({"model": "openclaw", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]});
    let received = world
        .post_to("/v1/messages", body.to_string(), &[("anthropic-beta", "one")])
        .await;
    assert_eq!(received.status, 200, "{}", received.body);
    let token = &world.upstreams[1].seen()[0];
    assert_eq!(token.header("content-type"), Some("application/json"));
    let fields: Value = serde_json::from_str(&token.body).unwrap();
    assert_eq!(fields["refresh_token"], "refresh-old");
    let call = &world.upstreams[0].seen()[0];
    assert_eq!(call.header("authorization"), Some("Bearer access-new"));
    assert!(call.head.contains("oauth-2025-04-20") && call.header("x-api-key").is_none());
    assert!(call.header("chatgpt-account-id").is_none());
}
