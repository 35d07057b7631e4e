//! From one upstream to the next, whatever the first one does.

use faultwall::scripted::{Script, Upstream};

use crate::world::{World, hello, refusal};

#[tokio::test]
async fn whatever_the_first_model_does_the_second_answers() {
    let html = Script::reply(
        502,
        &[("content-type", "text/html")],
        "<html><h1>Bad Gateway</h1></html>",
    );
    let empty = r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#;
    for (script, reason) in [
        (
            refusal(429, "rate_limit_exceeded", "Rate limit reached"),
            "rate_limit",
        ),
        (
            refusal(402, "insufficient_credits", "Insufficient credits"),
            "billing",
        ),
        (
            refusal(401, "invalid_api_key", "Incorrect API key provided"),
            "auth",
        ),
        (
            refusal(404, "model_not_found", "The model does not exist"),
            "model_not_found",
        ),
        (refusal(529, "overloaded_error", "Overloaded"), "overloaded"),
        (html, "timeout"),
        (
            Script::json(
                200,
                r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
            ),
            "overloaded",
        ),
        (Script::json(200, empty), "empty_response"),
        (Script::reset(), "timeout"),
        (Script::silence(), "timeout"),
        (
            Script::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"),
            "timeout",
        ),
    ] {
        let shown = format!("{script:?}");
        let world = World::start(vec![vec![script], vec![hello()]]).await;
        let received = world.ask_plain().await;
        assert_eq!(received.status, 200, "{shown}");
        for (header, value) in [
            ("x-openclaw-attempts", "2"),
            ("x-openclaw-fallback-index", "1"),
            ("x-openclaw-first-failure-reason", reason),
            ("x-openclaw-provider", "b"),
            ("x-openclaw-requested-model", "a/m"),
            ("x-openclaw-served-model", "b/m"),
        ] {
            assert_eq!(received.header(header), Some(value), "{header} {shown}");
        }
        assert_eq!(world.calls(), [1, 1], "{shown}");
    }
}

#[tokio::test]
async fn a_host_that_refuses_connections_is_passed_over() {
    let mut world = World::start(vec![vec![hello()], vec![hello()]]).await;
    let gone = world.upstreams.remove(0);
    gone.stop().await;
    let received = world.ask_plain().await;
    assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
    assert_eq!(
        received.header("x-openclaw-first-failure-reason"),
        Some("timeout")
    );
}

#[tokio::test]
async fn a_resting_model_is_skipped_by_the_next_request() {
    let limited = Script::reply(
        429,
        &[("retry-after", "120")],
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
    );
    let world = World::start(vec![vec![limited], vec![hello()]]).await;
    world.ask_plain().await;
    let second = world.ask_plain().await;
    assert_eq!(world.calls(), [1, 2]);
    assert_eq!(second.header("x-openclaw-attempts"), Some("1"));
    assert_eq!(
        second.header("x-openclaw-first-failure-reason"),
        Some("rate_limit")
    );
}

#[tokio::test]
async fn x_4_keys_of_one_provider_take_turns_before_the_next_model() {
    let refused = refusal(401, "invalid_api_key", "Incorrect API key provided");
    let openai = Upstream::start([refused, hello()]).await;
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'openai/m' }} }},
            models: {{ providers: {{ openai: {{ baseUrl: '{}', apiKey: 'key-1' }} }} }} }}",
        openai.base_url()
    );
    let world = World::open(vec![openai], &text, &[("OPENAI_API_KEY", "key-2")]).await;
    let received = world.ask_plain().await;
    assert_eq!(received.header("x-openclaw-served-model"), Some("openai/m"));
    let seen = world.upstreams[0].seen();
    let keys: Vec<_> = seen
        .iter()
        .filter_map(|seen| seen.header("authorization"))
        .collect();
    assert_eq!(keys, ["Bearer key-1", "Bearer key-2"]);
}

#[tokio::test]
async fn d8_a_bypassed_provider_is_asked_again_at_once() {
    let limited = || refusal(429, "rate_limit_exceeded", "Rate limit reached");
    for (failover, calls) in [
        ("{}", [1, 2]),
        ("{ cooldownBypass: ['b'] }", [1, 2]),
        ("{ cooldownBypass: ['a'] }", [2, 2]),
    ] {
        let world = World::start_under(failover, vec![vec![limited()], vec![hello()]]).await;
        for _ in 0..2 {
            assert_eq!(world.ask_plain().await.status, 200);
        }
        assert_eq!(world.calls(), calls, "{failover}");
    }
}

#[tokio::test]
async fn a8_a_request_makes_no_more_calls_than_allowed() {
    let busy = || vec![refusal(529, "overloaded_error", "Overloaded")];
    let world = World::start_under("{ maxAttempts: 1 }", vec![busy(), vec![hello()]]).await;
    let received = world.ask_plain().await;
    assert_eq!((received.status, world.calls()), (503, vec![1, 0]));
    assert!(received.header("retry-after").is_some());
}

#[tokio::test]
async fn bl_87_the_answer_and_its_usage_are_those_of_the_model_that_answered() {
    let spent = r#"{"model":"upstream-name","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}"#;
    let refused = refusal(429, "rate_limit_exceeded", "Rate limit reached");
    let world = World::start(vec![vec![refused], vec![Script::json(200, spent)]]).await;
    let received = world.ask_plain().await;
    assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
    let body: serde_json::Value = serde_json::from_str(&received.body).expect("an object");
    assert_eq!(body["usage"]["total_tokens"], 4, "{body}");
}

#[tokio::test]
async fn bl_64_no_failure_writes_to_the_configuration() {
    let limited = || refusal(429, "rate_limit_exceeded", "Rate limit reached");
    let world = World::start(vec![vec![limited(); 3], vec![hello(); 3]]).await;
    let files = ["openclaw.json", "failover.json5"].map(|name| world.state.path().join(name));
    let read = || {
        files
            .each_ref()
            .map(|file| std::fs::read(file).expect("it is there"))
    };
    let before = read();
    for _ in 0..3 {
        assert_eq!(world.ask_plain().await.status, 200);
    }
    assert_eq!(read(), before);
}
