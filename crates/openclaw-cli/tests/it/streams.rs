//! Streams: nothing before the first content, nothing twice, and no end that was none.

use faultwall::scripted::{Script, Upstream};
use serde_json::json;

use crate::world::{World, client, hello};

const ROLE: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const HEL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const LO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const ERROR: &str = "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn answer() -> Script {
    Script::stream(&[ROLE, HEL, LO, STOP, DONE])
}

#[tokio::test]
async fn a_stream_arrives_as_it_was_sent() {
    let world = World::start(vec![vec![answer()]]).await;
    let received = world.ask_stream().await;
    assert_eq!(received.body, [ROLE, HEL, LO, STOP, DONE].concat());
    insta::assert_snapshot!("stream", received.show());
}

#[tokio::test]
async fn what_fails_before_its_first_content_is_never_seen() {
    for (script, reason) in [
        (Script::stream(&[ROLE, ERROR]), "overloaded"),
        (Script::cut(&[ROLE]), "timeout"),
        (Script::unframed(&[ROLE]), "timeout"),
        (Script::cut(&[ROLE]).then_reset(), "timeout"),
        (Script::cut(&[ROLE, ": ping\n\n"]).then_silence(), "timeout"),
        (Script::stream(&[ROLE, STOP, DONE]), "empty_response"),
        (Script::silence(), "timeout"),
    ] {
        let shown = format!("{script:?}");
        let world = World::start(vec![vec![script], vec![answer()]]).await;
        let received = world.ask_stream().await;
        assert_eq!(received.body, [ROLE, HEL, LO, STOP, DONE].concat(), "{shown}");
        assert_eq!(received.header("x-openclaw-served-model"), Some("b/m"));
        assert_eq!(
            received.header("x-openclaw-first-failure-reason"),
            Some(reason),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn bl_88_a_stream_that_breaks_off_ends_with_an_error_and_never_with_done() {
    for (name, script) in [
        ("cut", Script::cut(&[ROLE, HEL])),
        ("closed", Script::unframed(&[ROLE, HEL])),
        ("error_event", Script::stream(&[ROLE, HEL, ERROR])),
    ] {
        let world = World::start(vec![vec![script], vec![answer()]]).await;
        let received = world.ask_stream().await;
        assert!(received.whole, "the error is in the stream, not under it");
        assert!(!received.body.contains("[DONE]"), "{}", received.body);
        assert_eq!(world.calls(), [1, 0], "a visible answer is never started again");
        insta::assert_snapshot!(name, received.body);
        // The failure was recorded late, so the next request passes the model over.
        let next = world.ask_stream().await;
        assert_eq!(next.header("x-openclaw-served-model"), Some("b/m"), "{name}");
    }
}

#[tokio::test]
async fn bl_89_a_complete_answer_without_done_is_given_one() {
    let world = World::start(vec![vec![Script::cut(&[HEL, LO, STOP])]]).await;
    let received = world.ask_stream().await;
    assert_eq!(received.body, [HEL, LO, STOP, DONE].concat());
}

#[tokio::test]
async fn a_failed_stream_request_gets_a_plain_error() {
    let world = World::start(vec![vec![Script::stream(&[ERROR])]]).await;
    let received = world.ask_stream().await;
    assert_eq!(
        (received.status, received.header("content-type")),
        (503, Some("application/json"))
    );
}

#[tokio::test]
async fn a_client_that_leaves_is_nobodys_failure() {
    let world = World::start(vec![
        vec![Script::cut(&[HEL]).then_silence(), answer()],
        vec![answer()],
    ])
    .await;
    let body = json!({"model": "openclaw", "stream": true, "messages": []}).to_string();
    let request = client().post(world.url("/v1/chat/completions")).body(body);
    let request = request.header("content-type", "application/json");
    let mut response = request.send().await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), HEL);
    drop(response);
    let next = world.ask_stream().await;
    assert_eq!(next.header("x-openclaw-served-model"), Some("a/m"));
    assert_eq!(next.header("x-openclaw-first-failure-reason"), None);
}

#[tokio::test]
async fn a_client_that_leaves_before_any_answer_hangs_up_upstream_too() {
    let upstreams = vec![Upstream::start([Script::silence(), answer()]).await];
    let text = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m' }} }},
            models: {{ providers: {{ a: {{ baseUrl: '{}', apiKey: 'k' }} }} }} }}",
        upstreams[0].base_url()
    );
    let world = World::open(upstreams, &text, &[]).await;
    let url = world.url("/v1/chat/completions");
    let request = client().post(url).header("content-type", "application/json");
    let asking = tokio::spawn(request.body(r#"{"model":"openclaw"}"#).send());
    world.upstreams[0].asked().await;
    asking.abort();
    world.upstreams[0].left_alone().await;
    let next = world.ask_stream().await;
    assert_eq!(
        (next.status, next.header("x-openclaw-first-failure-reason")),
        (200, None)
    );
}

#[tokio::test]
async fn a_plain_answer_to_a_stream_is_streamed_all_the_same() {
    let world = World::start(vec![vec![hello()]]).await;
    let received = world.ask_stream().await;
    assert_eq!(received.header("content-type"), Some("text/event-stream"));
    assert!(
        received
            .body
            .contains("\"delta\":{\"role\":\"assistant\",\"content\":\"Hello\"}"),
        "{}",
        received.body
    );
    assert!(received.body.ends_with(DONE));
}

#[tokio::test]
async fn one_request_too_many_is_asked_to_come_back() {
    let scripts = vec![Script::cut(&[HEL]).then_silence(), answer()];
    let world = World::start_under("{ maxConcurrent: 1 }", vec![scripts]).await;
    let body = json!({"model": "openclaw", "stream": true, "messages": []}).to_string();
    let request = client().post(world.url("/v1/chat/completions")).body(body);
    let request = request.header("content-type", "application/json");
    let mut open = request.send().await.unwrap();
    open.chunk().await.unwrap().unwrap();
    let refused = world.ask_stream().await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(refused.json()["error"]["code"], "too_many_in_flight");
    let refused = world.post_to("/v1/messages", "{}", &[]).await;
    assert_eq!(refused.json()["error"]["type"], "overloaded_error");
    assert_eq!(world.get("/healthz", &[]).await.status, 200);
    drop(open);
    world.upstreams[0].left_alone().await;
    assert_eq!(world.ask_stream().await.status, 200, "the place is free again");
}
