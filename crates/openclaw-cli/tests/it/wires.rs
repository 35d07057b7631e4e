//! The other wire formats: responses, messages, embeddings, each passed on as it is.

use faultwall::scripted::{Script, Upstream};
use serde_json::{Value, json};

use crate::world::{Received, World, hello, refusal};

/// A gateway in front of `a`, `b`, … whose rows say `api`; the chain is a model `m` of each.
async fn world(apis: &[(&str, Vec<Script>)], variables: &[(&str, &str)]) -> World {
    let mut upstreams = Vec::new();
    let mut rows = Vec::new();
    for ((api, scripts), name) in apis.iter().zip(["a", "b", "c"]) {
        let upstream = Upstream::start(scripts.clone()).await;
        let wait = if upstream.falls_silent() { "0.3" } else { "60" };
        rows.push(format!(
            "{name}: {{ baseUrl: '{}', apiKey: 'key-{name}', api: '{api}', timeoutSeconds: {wait}, models: [] }}",
            upstream.base_url()
        ));
        upstreams.push(upstream);
    }
    let fallbacks: Vec<String> = ["a", "b", "c"][..rows.len()]
        .iter()
        .map(|name| format!("'{name}/m'"))
        .collect();
    let text = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: {}, fallbacks: [{}] }} }} }}, models: {{ providers: {{ {} }} }} }}",
        fallbacks[0],
        fallbacks[1..].join(", "),
        rows.join(", ")
    );
    World::open(upstreams, &text, variables).await
}

const RESPONSES: &str = "openai-responses";
const MESSAGES: &str = "anthropic-messages";

fn event(kind: &str, members: Value) -> String {
    let mut data = json!({ "type": kind });
    if let Value::Object(members) = members {
        data.as_object_mut().unwrap().extend(members);
    }
    format!("event: {kind}\ndata: {data}\n\n")
}

async fn respond(world: &World, stream: bool) -> Received {
    let body = json!({"model": "openclaw", "input": "Hi", "stream": stream});
    world.post_to("/v1/responses", body.to_string(), &[]).await
}

fn whole_response() -> Value {
    json!({"id": "r", "object": "response", "status": "completed", "error": null,
           "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]})
}

fn response_events() -> [String; 5] {
    [
        event("response.created", json!({"response": {"status": "in_progress"}})),
        event(
            "response.output_item.added",
            json!({"item": {"type": "message", "content": []}}),
        ),
        event("response.output_text.delta", json!({"delta": "Hel"})),
        event("response.output_text.delta", json!({"delta": "lo"})),
        event("response.completed", json!({"response": whole_response()})),
    ]
}

fn script(events: &[String]) -> Script {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    Script::stream(&events)
}

#[tokio::test]
async fn responses_travel_untouched_and_fail_over() {
    let good = Script::json(200, &whole_response().to_string());
    let busy = refusal(529, "overloaded_error", "Overloaded");
    let world = world(&[(RESPONSES, vec![busy]), (RESPONSES, vec![good])], &[]).await;
    let received = respond(&world, false).await;
    assert_eq!(received.json(), whole_response());
    assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
    let seen = &world.upstreams[1].seen()[0];
    assert!(seen.head.starts_with("POST /v1/responses "), "{}", seen.head);
    assert_eq!(
        seen.body,
        json!({"model": "m", "input": "Hi", "stream": false}).to_string()
    );
    assert_eq!(seen.header("authorization"), Some("Bearer key-b"));
}

#[tokio::test]
async fn a_stream_of_a_response_begins_with_its_first_content_and_ends_with_the_whole() {
    let events = response_events();
    let failed = event(
        "response.failed",
        json!({"response": {"error": {"code": "rate_limit_exceeded", "message": "Rate limit reached"}}}),
    );
    let thrown = event(
        "error",
        json!({"code": "server_error", "message": "The server had an error"}),
    );
    let empty = event("response.completed", json!({"response": {"output": []}}));
    for (bad, reason) in [
        (Script::stream(&[&events[0], &events[1], &failed]), "rate_limit"),
        (Script::stream(&[&events[0], &thrown]), "server_error"),
        (Script::stream(&[&events[0], &empty]), "empty_response"),
        (Script::cut(&[&events[0], &events[1]]), "timeout"),
        (Script::cut(&[&events[0]]).then_silence(), "timeout"),
    ] {
        let shown = format!("{bad:?}");
        let world = world(&[(RESPONSES, vec![bad]), (RESPONSES, vec![script(&events)])], &[]).await;
        let received = respond(&world, true).await;
        assert_eq!(received.body, events.concat(), "{shown}");
        assert_eq!(
            received.header("x-openclaw-first-failure-reason"),
            Some(reason),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn a_response_that_arrives_only_in_its_last_event_is_an_answer() {
    let events = response_events();
    let only = [events[0].clone(), events[4].clone()];
    let world = world(&[(RESPONSES, vec![script(&only)])], &[]).await;
    assert_eq!(respond(&world, true).await.body, only.concat());
}

#[tokio::test]
async fn bl_88_cut_streams_end_with_an_error_of_their_own_format() {
    let events = response_events();
    let responses = world(&[(RESPONSES, vec![Script::cut(&[&events[0], &events[2]])])], &[]).await;
    insta::assert_snapshot!("cut_response", respond(&responses, true).await.body);

    let events = message_events();
    let messages = world(&[(MESSAGES, vec![Script::cut(&[&events[0], &events[2]])])], &[]).await;
    insta::assert_snapshot!("cut_message", message(&messages, true, &[]).await.body);
}

async fn message(world: &World, stream: bool, headers: &[(&str, &str)]) -> Received {
    let body = json!({"model": "openclaw", "max_tokens": 9, "stream": stream, "messages": []});
    world.post_to("/v1/messages", body.to_string(), headers).await
}

fn message_events() -> [String; 6] {
    [
        event("message_start", json!({"message": {"id": "m", "content": []}})),
        event(
            "content_block_start",
            json!({"index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        event(
            "content_block_delta",
            json!({"index": 0, "delta": {"type": "text_delta", "text": "Hi"}}),
        ),
        event("content_block_stop", json!({"index": 0})),
        event("message_delta", json!({"delta": {"stop_reason": "end_turn"}})),
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned(),
    ]
}

#[tokio::test]
async fn messages_go_only_to_providers_that_read_them() {
    let answer =
        json!({"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"});
    let busy = Script::json(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    );
    let good = Script::json(200, &answer.to_string());
    let world = world(
        &[
            ("openai-completions", vec![hello()]),
            (MESSAGES, vec![busy]),
            (MESSAGES, vec![good]),
        ],
        &[],
    )
    .await;
    let headers = [
        ("anthropic-version", "2099-01-01"),
        ("anthropic-beta", "one"),
        ("x-other", "kept back"),
    ];
    let received = message(&world, false, &headers).await;
    assert_eq!(received.json(), answer);
    for (header, value) in [
        ("x-openclaw-requested-model", "a/m"),
        ("x-openclaw-left-out", "a/m"),
        ("x-openclaw-served-model", "c/m"),
        ("x-openclaw-first-failure-reason", "overloaded"),
    ] {
        assert_eq!(received.header(header), Some(value), "{header}");
    }
    assert_eq!(world.calls(), [0, 1, 1]);
    let seen = &world.upstreams[2].seen()[0];
    assert!(seen.head.starts_with("POST /v1/messages "), "{}", seen.head);
    for (header, value) in [
        ("x-api-key", Some("key-c")),
        ("authorization", None),
        ("anthropic-version", Some("2099-01-01")),
        ("anthropic-beta", Some("one")),
        ("x-other", None),
    ] {
        assert_eq!(seen.header(header), value, "{header}");
    }
}

#[tokio::test]
async fn a_stream_of_a_message_arrives_as_it_was_sent_and_gets_a_missing_end() {
    let events = message_events();
    let early = Script::stream(&[
        &events[0],
        &event(
            "error",
            json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ),
    ]);
    for answer in [script(&events), script(&events[..5])] {
        let world = world(&[(MESSAGES, vec![early.clone()]), (MESSAGES, vec![answer])], &[]).await;
        let received = message(&world, true, &[]).await;
        assert_eq!(received.body, events.concat());
        assert_eq!(
            received.header("x-openclaw-first-failure-reason"),
            Some("overloaded")
        );
        let version = world.upstreams[1].seen()[0]
            .header("anthropic-version")
            .map(str::to_owned);
        assert_eq!(version.as_deref(), Some("2023-06-01"), "the client named none");
    }
}

#[tokio::test]
async fn a_response_that_is_still_to_be_made_is_no_stream() {
    let events = response_events();
    let later = json!({"status": "queued", "output": []}).to_string();
    let world = world(
        &[
            (RESPONSES, vec![Script::json(200, &later)]),
            (RESPONSES, vec![script(&events)]),
        ],
        &[],
    )
    .await;
    let received = respond(&world, true).await;
    assert_eq!(received.header("x-openclaw-fallback-index"), Some("1"));
    assert_eq!(received.body, events.concat());
}

#[tokio::test]
async fn errors_of_messages_have_anthropics_shape() {
    let limited = Script::reply(
        429,
        &[("retry-after", "20"), ("content-type", "application/json")],
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"Rate limited"}}"#,
    );
    let world = world(
        &[("openai-completions", vec![hello()]), (MESSAGES, vec![limited])],
        &[("OPENCLAW_GATEWAY_TOKEN", "t")],
    )
    .await;
    let refused = message(&world, false, &[]).await;
    insta::assert_snapshot!("message_unauthorized", refused.show());
    let page = message(
        &world,
        false,
        &[("content-type", "text/plain"), ("x-api-key", "t")],
    )
    .await;
    assert_eq!((page.status, page.json()["type"].clone()), (415, json!("error")));
    // Anthropic's clients send their key in a header of its own.
    let failed = message(&world, false, &[("x-api-key", "t")]).await;
    insta::assert_snapshot!("message_limited", failed.show());
}

#[tokio::test]
async fn a_chain_that_does_not_speak_the_format_is_refused_before_any_call() {
    let world = world(&[("openai-completions", vec![hello()])], &[]).await;
    for (path, error) in [
        ("/v1/messages", "/error/message"),
        ("/v1/messages/count_tokens", "/error/message"),
        ("/v1/responses", "/error/message"),
    ] {
        let body = json!({"model": "openclaw"}).to_string();
        let received = world.post_to(path, body, &[]).await;
        assert_eq!(received.status, 400, "{path}");
        let message = received.json().pointer(error).unwrap().to_string();
        assert!(
            message.contains("no model that was asked for speaks"),
            "{path}: {message}"
        );
    }
    assert_eq!(world.calls(), [0]);
}

#[tokio::test]
async fn tokens_are_counted_without_touching_the_session() {
    let busy = Script::json(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    );
    let count = Script::json(200, r#"{"input_tokens":7}"#);
    let world = world(&[(MESSAGES, vec![busy]), (MESSAGES, vec![count])], &[]).await;
    let session = [("x-openclaw-session-key", "agent:main:count")];
    let body = json!({"model": "openclaw", "messages": []}).to_string();
    let received = world.post_to("/v1/messages/count_tokens", body, &session).await;
    assert_eq!(
        (received.status, received.json()),
        (200, json!({"input_tokens": 7}))
    );
    assert!(
        world.upstreams[1].seen()[0]
            .head
            .starts_with("POST /v1/messages/count_tokens ")
    );
    assert_eq!(received.header("x-openclaw-notice"), None, "a count is no turn");
}

#[tokio::test]
async fn embeddings_come_from_the_named_model_or_from_nobody() {
    let vector = r#"{"object":"list","data":[{"embedding":[0.1,0.25]}]}"#;
    let busy = refusal(529, "overloaded_error", "Overloaded");
    let world = world(
        &[("", vec![Script::json(200, vector), busy]), ("", vec![hello()])],
        &[],
    )
    .await;
    let ask = async |model: &str, headers: &[(&str, &str)]| {
        let body = json!({"model": model, "input": "Hi"}).to_string();
        world.post_to("/v1/embeddings", body, headers).await
    };
    let received = ask("a/embed", &[]).await;
    assert_eq!((received.status, received.body.as_str()), (200, vector));
    assert!(
        world.upstreams[0].seen()[0]
            .head
            .starts_with("POST /v1/embeddings ")
    );
    // Not even for a model of the chain, or when asked to: vectors of different models cannot be compared.
    let strict = ask("a/m", &[("x-openclaw-policy", "chain")]).await;
    assert_eq!((strict.status, world.calls()), (503, vec![2, 0]));
    let unnamed = ask("openclaw", &[]).await;
    assert_eq!(unnamed.status, 400, "{}", unnamed.body);
}
