//! Fallbacks that cannot hold the prompt are passed over, in every format (BL-54).

use faultwall::scripted::{Script, Upstream};
use serde_json::{Value, json};

use crate::world::{Received, World, hello, refusal};

/// `a`, which is busy, then `b`, which holds 1,000 tokens, then `c`, of which nothing is known.
async fn world(api: &str, good: Script) -> World {
    let busy = refusal(529, "overloaded_error", "Overloaded");
    let mut upstreams = Vec::new();
    let mut rows = Vec::new();
    for (name, script, more) in [
        ("a", busy, "contextWindow: 10,"),
        ("b", good.clone(), "contextWindow: 1000,"),
        ("c", good, ""),
    ] {
        let upstream = Upstream::start([script]).await;
        let url = upstream.base_url();
        rows.push(format!(
            "{name}: {{ baseUrl: '{url}', apiKey: 'k', api: '{api}', {more} models: [] }}"
        ));
        upstreams.push(upstream);
    }
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m', 'c/m'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows.join(", ")
    );
    World::open(upstreams, &text, &[]).await
}

async fn ask(world: &World, path: &str, body: Value) -> Received {
    world.post_to(path, body.to_string(), &[]).await
}

/// 12,000 characters, 2,000 tokens at the least.
fn long() -> String {
    "abc ef".repeat(2_000)
}

#[tokio::test]
async fn bl_54_a_prompt_goes_past_the_model_that_cannot_hold_it_in_every_format() {
    let response = json!({"id": "r", "object": "response", "status": "completed", "error": null,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]});
    let message = json!({"id": "m", "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Hello"}]});
    for (path, api, good, body) in [
        (
            "/v1/chat/completions",
            "openai-completions",
            hello(),
            json!({"messages": [{"role": "user", "content": long()}]}),
        ),
        (
            "/v1/responses",
            "openai-responses",
            Script::json(200, &response.to_string()),
            json!({"input": long()}),
        ),
        (
            "/v1/messages",
            "anthropic-messages",
            Script::json(200, &message.to_string()),
            json!({"max_tokens": 5, "messages": [{"role": "user", "content": long()}]}),
        ),
    ] {
        let world = world(api, good).await;
        let mut body = body;
        body["model"] = "openclaw".into();
        let received = ask(&world, path, body).await;
        assert_eq!(received.status, 200, "{path}: {}", received.body);
        assert_eq!(received.header("x-openclaw-served-model"), Some("c/m"), "{path}");
        assert_eq!(
            world.calls(),
            [1, 0, 1],
            "{path}: the requested model is asked whatever it holds"
        );
    }
}

#[tokio::test]
async fn bl_54_an_image_is_no_text_and_a_short_prompt_is_no_long_one() {
    let image = format!("data:image/png;base64,{}", long());
    for content in [
        json!("abc ef".repeat(900)),
        json!([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": image}}]),
    ] {
        let world = world("openai-completions", hello()).await;
        let body = json!({"model": "openclaw", "messages": [{"role": "user", "content": content}]});
        let received = ask(&world, "/v1/chat/completions", body).await;
        assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
    }
}

#[tokio::test]
async fn bl_54_who_was_passed_over_and_why_stands_in_the_error() {
    let busy = refusal(529, "overloaded_error", "Overloaded");
    let world = world("openai-completions", busy).await;
    let body = json!({"model": "openclaw", "messages": [{"role": "user", "content": long()}]});
    let received = ask(&world, "/v1/chat/completions", body).await;
    let attempts = received.json()["error"]["attempts"].clone();
    assert_eq!(attempts[1]["model"], "m", "{attempts}");
    assert_eq!(attempts[1]["reason"], "context_overflow", "{attempts}");
    let error = attempts[1]["error"].as_str().unwrap();
    assert!(error.contains("holds 1000 tokens and 2000 are needed"), "{error}");
}
