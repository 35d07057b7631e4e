//! Refusals of a request: which ones go on to the next model, and that none of them rests anything.

use faultwall::scripted::{Script, Upstream};
use serde_json::json;

use crate::world::{World, hello};

/// An error body in OpenAI's shape.
fn refused(status: u16, message: &str) -> Script {
    let body =
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}});
    Script::json(status, &body.to_string())
}

#[tokio::test]
async fn f_60_a_client_that_asks_for_absent_things_costs_the_next_client_nothing() {
    let absent = [
        (404, "Item with id 'msg_zzz' not found."),
        (400, "Previous response with id 'resp_1' not found."),
        (404, "Vector store with id 'vs_1' not found."),
        (404, "No such File object: file-1"),
        (404, "Container with id 'cntr_1' not found."),
        (404, "No batch found with id 'batch_1'."),
    ];
    let mut scripts: Vec<Script> = absent
        .iter()
        .map(|(status, message)| refused(*status, message))
        .collect();
    scripts.push(hello());
    let world = World::start(vec![scripts, vec![hello()]]).await;
    for (_, message) in absent {
        let received = world.ask_plain().await;
        assert!((400..500).contains(&received.status), "{}", received.show());
        assert!(received.body.contains(&message[..10]), "{}", received.show());
    }
    assert_eq!(
        world.calls(),
        [absent.len(), 0],
        "the other model was never asked"
    );
    let next = world.ask_plain().await;
    assert_eq!(
        next.header("x-openclaw-served-model"),
        Some("a/m"),
        "{}",
        next.show()
    );
    assert_eq!(next.header("x-openclaw-attempts"), Some("1"));
}

#[tokio::test]
async fn f_22_f_24_f_62_what_one_model_does_not_take_the_next_one_is_asked_and_nothing_rests() {
    let refusals = [
        (400, "messages[0].content must be a string"),
        (422, "messages[1]: unknown variant `image_url`, expected `text`"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (404, "No endpoints found that support image input"),
        (404, "No endpoints found matching your data policy"),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model.",
        ),
        (422, "Extra inputs are not permitted"),
        (
            400,
            "Function call is missing a thought_signature in functionCall parts.",
        ),
        (400, "tool schema not supported by this provider"),
    ];
    let scripts = |times: usize| -> Vec<Script> {
        let all = refusals.iter().map(|(status, message)| refused(*status, message));
        all.chain((0..times).map(|_| hello())).collect()
    };
    let world = World::start(vec![scripts(1), vec![hello()]]).await;
    for (number, (_, message)) in refusals.iter().enumerate() {
        let received = world.ask_plain().await;
        assert_eq!(received.status, 200, "{message}: {}", received.show());
        assert_eq!(
            received.header("x-openclaw-served-model"),
            Some("b/m"),
            "{message}"
        );
        assert_eq!(
            world.calls(),
            [number + 1, number + 1],
            "{message}: the first model was skipped"
        );
    }
    let next = world.ask_plain().await;
    assert_eq!(
        next.header("x-openclaw-served-model"),
        Some("a/m"),
        "{}",
        next.show()
    );
}

#[tokio::test]
async fn f_23_a_bill_for_one_model_leaves_the_other_models_of_the_key_alone() {
    let free_tier = Script::json(
        403,
        r#"{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted."}"#,
    );
    let subscription = || refused(403, "This model requires a subscription");
    for refusal in [free_tier, subscription()] {
        let upstream = Upstream::start([refusal, hello(), hello()]).await;
        let text = format!(
            "{{ agents: {{ defaults: {{ model: {{ primary: 'a/one', fallbacks: ['a/two'] }} }} }},
                models: {{ providers: {{ a: {{ baseUrl: '{}', apiKey: 'key-1', models: [] }} }} }} }}",
            upstream.base_url()
        );
        let world = World::open(vec![upstream], &text, &[]).await;
        for (turn, calls) in [(1, 2), (2, 3)] {
            let received = world.ask_plain().await;
            assert_eq!(
                received.header("x-openclaw-served-model"),
                Some("a/two"),
                "{turn}: {}",
                received.show()
            );
            assert_eq!(
                received.header("x-openclaw-first-failure-reason"),
                Some("billing"),
                "{turn}"
            );
            assert_eq!(
                world.calls(),
                [calls],
                "{turn}: the refused model rests, the other one answers"
            );
        }
    }
}

#[tokio::test]
async fn f_20_the_end_of_a_window_with_room_rests_nothing_for_hours() {
    let reset = (unix_seconds() + 7_999).to_string();
    let headers = [
        ("anthropic-ratelimit-unified-5h-status", "allowed"),
        ("anthropic-ratelimit-unified-5h-reset", reset.as_str()),
    ];
    for (status, kind) in [(529, "overloaded_error"), (429, "rate_limit_error")] {
        let body = json!({"type": "error", "error": {"type": kind, "message": "Try less."}}).to_string();
        let world = World::start(vec![vec![Script::reply(status, &headers, &body)]]).await;
        let received = world.ask_plain().await;
        let wait: u64 = received
            .header("retry-after")
            .map_or(0, |wait| wait.parse().unwrap());
        assert!(wait <= 60, "{status}: {}", received.show());
    }
}

/// The seconds since 1970.
fn unix_seconds() -> i64 {
    use openclaw_runner::{Clock, SystemClock};
    SystemClock.now().as_second()
}
