//! Streams that do not keep to their format: which are answers all the same, where that is counted, and which are cut
//! (BL-88, BL-89).

use faultwall::scripted::{Script, Upstream};
use serde_json::json;

use crate::world::{Received, World, hello};

const HEL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const LO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const CALL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\
    \"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

const TEXT: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}\n\n";
const REASON: &str =
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n";
const MESSAGE_STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// The lines of a metric in a scrape.
async fn counted(world: &World, metric: &str) -> Vec<String> {
    let scrape = world.get("/metrics", &[]).await.body;
    let lines = scrape.lines().filter(|line| line.starts_with(metric));
    lines.map(str::to_owned).collect()
}

async fn ask(world: &World, path: &str) -> Received {
    let body = json!({"model": "openclaw", "stream": true, "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}]});
    world.post_to(path, body.to_string(), &[]).await
}

#[tokio::test]
async fn bl_89_ends_that_leave_something_out_are_answers_and_are_counted() {
    let (chat, messages) = ("/v1/chat/completions", "/v1/messages");
    for (path, chunks, received, missing) in [
        (
            chat,
            &[HEL, STOP, DONE] as &[&str],
            &[HEL, STOP, DONE] as &[&str],
            None,
        ),
        (chat, &[HEL, DONE], &[HEL, DONE], Some("stop_reason")),
        (chat, &[HEL, STOP], &[HEL, STOP, DONE], Some("end_event")),
        (chat, &[CALL], &[CALL, DONE], Some("both")),
        (
            messages,
            &[TEXT, REASON, MESSAGE_STOP],
            &[TEXT, REASON, MESSAGE_STOP],
            None,
        ),
        (
            messages,
            &[TEXT, MESSAGE_STOP],
            &[TEXT, MESSAGE_STOP],
            Some("stop_reason"),
        ),
        (
            messages,
            &[TEXT, REASON],
            &[TEXT, REASON, MESSAGE_STOP],
            Some("end_event"),
        ),
    ] {
        let (api, wire) = if path == chat {
            ("openai-completions", "chat_completions")
        } else {
            ("anthropic-messages", "messages")
        };
        for rescue in ["off", "buffered"] {
            let upstream = Upstream::start([Script::stream(chunks)]).await;
            let text = format!(
                "{{ agents: {{ defaults: {{ model: 'a/m' }} }},
                    models: {{ providers: {{ a: {{ baseUrl: '{}', apiKey: 'k', api: '{api}' }} }} }} }}",
                upstream.base_url()
            );
            let settings = format!("{{ stream: {{ rescue: '{rescue}' }} }}");
            let world = World::open_under(&settings, vec![upstream], &text, &[]).await;
            assert_eq!(ask(&world, path).await.body, received.concat(), "{missing:?}");
            let expected: Vec<String> = missing
                .iter()
                .map(|missing| {
                    format!(
                        "openclaw_lenient_ends_total{{missing=\"{missing}\",provider=\"a\",wire=\"{wire}\"}} 1"
                    )
                })
                .collect();
            let found = counted(&world, "openclaw_lenient_ends_total{").await;
            assert_eq!(found, expected, "{path} {rescue} {chunks:?}");
        }
    }
}

#[tokio::test]
async fn bl_88_a_message_that_stops_within_the_input_of_a_tool_is_cut() {
    const BEGIN: &str = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
        \"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\n";
    const HALF: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
        \"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"path\\\":\"}}\n\n";
    for (chunks, ends) in [
        (&[BEGIN, HALF, MESSAGE_STOP] as &[&str], false),
        // No input at all is that of a tool without parameters.
        (&[BEGIN, MESSAGE_STOP], true),
        // The model wrote half an object, and its provider says that this is all.
        (&[BEGIN, HALF, REASON, MESSAGE_STOP], true),
    ] {
        let upstream = Upstream::start([Script::stream(chunks)]).await;
        let text = format!(
            "{{ agents: {{ defaults: {{ model: 'a/m' }} }}, models: {{ providers: {{
                a: {{ baseUrl: '{}', apiKey: 'k', api: 'anthropic-messages' }} }} }} }}",
            upstream.base_url()
        );
        let world = World::open(vec![upstream], &text, &[]).await;
        let body = ask(&world, "/v1/messages").await.body;
        assert_eq!(body.contains("message_stop"), ends, "{body}");
        assert_eq!(body.contains("the answer broke off"), !ends, "{body}");
    }
}

#[tokio::test]
async fn events_that_nobody_can_read_are_left_out_and_counted() {
    let torn = "data: {\"choices\":[{\n\n";
    let script = Script::stream(&[torn, HEL, torn, torn, LO, STOP, DONE]);
    let world = World::start(vec![vec![script]]).await;
    let received = ask(&world, "/v1/chat/completions").await;
    assert_eq!(received.body, [HEL, LO, STOP, DONE].concat());
    assert_eq!(
        counted(&world, "openclaw_skipped_events_total{").await,
        ["openclaw_skipped_events_total{provider=\"a\",wire=\"chat_completions\"} 3"]
    );
}

#[tokio::test]
async fn a_call_made_once_more_at_once_is_counted_by_what_it_met() {
    let world = World::start(vec![vec![
        Script::reset(),
        hello(),
        Script::reply(502, &[], ""),
        hello(),
    ]])
    .await;
    for _ in 0..2 {
        assert_eq!(world.ask_plain().await.status, 200);
    }
    assert_eq!(
        counted(&world, "openclaw_immediate_retries_total{").await,
        [
            "openclaw_immediate_retries_total{met=\"502\",provider=\"a\"} 1",
            "openclaw_immediate_retries_total{met=\"reset\",provider=\"a\"} 1"
        ]
    );
}
