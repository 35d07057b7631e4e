//! One attempt over a real socket against every way an upstream can behave.

mod streams;

use std::time::Duration;

use faultwall::scripted::{Script, Upstream as Scripted};
use openclaw_classify::{TimerOwner, Transport};
use openclaw_ids::ProviderId;

use http::HeaderMap;
use openclaw_wire::{RequestBody, WireFormat};
use secrecy::SecretString;

use super::*;
use crate::call::Call;
use crate::endpoint::{Endpoint, SecretKind};
use crate::facts::MAX_EXCERPT;
use crate::streaming_answer::AnswerStep;

const ROLE: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const HEL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const ERROR: &str = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
const DONE: &str = "data: [DONE]\n\n";
const PING: &str = ": ping\n\n";
const WHOLE: &str = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;

const SHORT: Deadlines = Deadlines {
    connect: Deadlines::DEFAULT.connect,
    total: Deadlines::DEFAULT.total,
    stream_head: Duration::from_millis(150),
    plain_head: Duration::from_millis(150),
    first_content: Duration::from_millis(150),
    plain_body: Duration::from_millis(150),
    idle: Duration::from_millis(150),
    error_body: Duration::from_millis(150),
};

fn request(stream: bool) -> RequestBody {
    let text = format!(r#"{{"model":"openclaw","stream":{stream},"top_k":1.50}}"#);
    RequestBody::try_new(Bytes::from(text)).unwrap()
}

/// Short waits only where nothing else ends the test.
fn waits(upstream: &Scripted) -> Deadlines {
    if upstream.falls_silent() {
        SHORT
    } else {
        Deadlines::DEFAULT
    }
}

async fn attempt_at(base_url: &str, stream: bool, deadlines: Deadlines) -> Result<Answer, Failure> {
    let provider = ProviderId::try_new("relay").unwrap();
    let endpoint = Endpoint::try_new(provider, base_url).unwrap();
    let call = Call {
        endpoint: &endpoint,
        model: "large",
        secret: Some(&SecretString::from("key-1")),
        kind: SecretKind::Key,
        wire: WireFormat::ChatCompletions,
        headers: &HeaderMap::new(),
        body: &request(stream),
        deadlines,
    };
    Upstream::new(HeaderValue::from_static("test"))
        .attempt(&call)
        .await
}

async fn attempt(script: Script, stream: bool) -> Result<Answer, Failure> {
    let upstream = Scripted::start([script]).await;
    attempt_at(&upstream.base_url(), stream, waits(&upstream)).await
}

async fn failure(script: Script, stream: bool) -> Failure {
    match attempt(script, stream).await {
        Ok(_) => panic!("an answer"),
        Err(failure) => failure,
    }
}

/// Everything a client would see of a stream, then how it ended.
async fn drain(script: Script) -> (String, &'static str, Option<Failure>) {
    let upstream = Scripted::start([script]).await;
    let Ok(Answer::Live(mut answer)) = attempt_at(&upstream.base_url(), true, waits(&upstream)).await else {
        panic!("no stream");
    };
    let mut seen = String::new();
    loop {
        match answer.next().await {
            AnswerStep::Events(events) => seen.push_str(std::str::from_utf8(&events).unwrap()),
            AnswerStep::Finished(_) => return (seen, "finished", None),
            AnswerStep::Hollow(_, failure) => return (seen, "hollow", Some(*failure)),
            AnswerStep::Cut(failure) => return (seen, "cut", Some(failure)),
            AnswerStep::Mismatch => panic!("from what?"),
        }
    }
}

#[tokio::test]
async fn only_the_model_changes_on_the_way_out() {
    let upstream = Scripted::start([Script::json(200, WHOLE)]).await;
    let Ok(Answer::Whole(body)) = attempt_at(&upstream.base_url(), false, waits(&upstream)).await else {
        panic!("no answer");
    };
    assert_eq!(body, WHOLE);
    let seen = &upstream.seen()[0];
    assert!(
        seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{}",
        seen.head
    );
    assert_eq!(seen.body, r#"{"model":"large","stream":false,"top_k":1.50}"#);
    assert_eq!(seen.header("authorization"), Some("Bearer key-1"));
    assert_eq!(seen.header("accept"), Some("application/json"));
}

#[tokio::test]
async fn half_a_character_is_neither_lost_nor_a_failure() {
    let first = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi \\ud83d\"}}]}\n\n";
    let second = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00\"}}]}\n\n";
    let (seen, end, _) = drain(Script::stream(&[ROLE, first, second, STOP, DONE])).await;
    assert_eq!(end, "finished");
    assert!(seen.contains(first) && seen.contains(second), "{seen}");

    let whole = WHOLE.replace("Hello", "Hello \\ud83d");
    let (seen, end, _) = drain(Script::json(200, &whole)).await;
    assert_eq!(end, "finished");
    assert!(seen.contains("Hello \u{fffd}"), "{seen}");
}

#[tokio::test]
async fn an_answer_that_is_no_http_had_begun() {
    let many = "x: a\r\n".repeat(200);
    let large = format!("HTTP/1.1 200 OK\r\n{many}content-length: 2\r\n\r\n{{}}");
    for bytes in ["SSH-2.0-OpenSSH_9.6\r\n\r\n", large.as_str()] {
        let failure = failure(Script::raw(bytes.as_bytes()), false).await;
        assert_eq!(failure.transport, Some(Transport::Reset));
        assert_eq!(
            failure.phase,
            Some(Phase::BeforeFirstContent),
            "{:?}",
            failure.message
        );
        assert!(!crate::is_transient(&failure), "asked once");
    }
}

#[tokio::test]
async fn a_refusal_keeps_its_status_body_and_headers_of_interest() {
    let headers = [
        ("Retry-After", "7"),
        ("x-ratelimit-reset-requests", "6m0s"),
        ("set-cookie", "a=b"),
    ];
    let body = "x".repeat(MAX_EXCERPT + 10);
    for stream in [false, true] {
        let failure = failure(Script::reply(429, &headers, &body), stream).await;
        assert_eq!(failure.status, Some(429));
        assert_eq!(failure.body.unwrap().len(), MAX_EXCERPT);
        assert_eq!(failure.provider.unwrap().as_str(), "relay");
        assert_eq!(failure.host.as_deref(), Some("127.0.0.1"));
        let names: Vec<String> = failure.headers.into_iter().map(|header| header.name).collect();
        assert_eq!(names, ["retry-after", "x-ratelimit-reset-requests"]);
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    for (location, told) in [
        (
            "https://user:password@new.example/v2/chat/completions?key=k",
            "set models.providers.relay.baseUrl to `https://new.example/v2`",
        ),
        ("/v3/chat/completions", "/v3`"),
        ("", "set models.providers.relay.baseUrl to `http://127.0.0.1:"),
    ] {
        let failure = failure(Script::reply(308, &[("location", location)], "moved"), false).await;
        let message = failure.message.unwrap();
        assert_eq!(failure.status, Some(308));
        assert!(
            message.starts_with("redirect refused") && message.contains(told),
            "{message}"
        );
    }
    let nowhere = failure(Script::reply(302, &[], ""), false).await;
    assert!(nowhere.message.unwrap().contains("a redirect to nowhere"));
}

#[tokio::test]
async fn what_is_no_answer_under_a_success_status() {
    let page = Script::reply(200, &[("content-type", "text/html")], "<html>busy</html>");
    let empty = r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#;
    for (script, stream, body) in [
        (
            Script::json(200, r#"{"error":{"code":"x"}}"#),
            false,
            Some(r#"{"error":{"code":"x"}}"#),
        ),
        (
            Script::json(200, r#"{"error":{"code":"x"}}"#),
            true,
            Some(r#"{"error":{"code":"x"}}"#),
        ),
        (
            Script::unframed(&[r#"{"error":{"code":"x"}}"#]),
            true,
            Some(r#"{"error":{"code":"x"}}"#),
        ),
        (
            Script::unframed(&["<html>busy</html>"]),
            true,
            Some("<html>busy</html>"),
        ),
        (
            Script::reply(200, &[("content-type", "text/html")], &[ROLE, ERROR].concat()),
            true,
            Some("{\"error\":{\"message\":\"overloaded\"}}"),
        ),
        (page.clone(), false, Some("<html>busy</html>")),
        (page, true, Some("<html>busy</html>")),
        (Script::json(200, empty), false, None),
        (Script::json(200, empty), true, None),
        (
            Script::stream(&[ROLE, ERROR]),
            true,
            Some("{\"error\":{\"message\":\"overloaded\"}}"),
        ),
        (
            Script::unframed(&[ROLE, ERROR.trim_end()]),
            true,
            Some("{\"error\":{\"message\":\"overloaded\"}}"),
        ),
        (Script::stream(&[ROLE, STOP, DONE]), true, None),
        (Script::stream(&[ROLE, STOP]), true, None),
        (Script::stream(&[PING, DONE]), true, None),
    ] {
        let failure = failure(script, stream).await;
        assert_eq!((failure.status, failure.transport), (Some(200), None));
        assert_eq!(
            failure
                .body
                .map(|body| String::from_utf8(body).unwrap())
                .as_deref(),
            body
        );
        assert_eq!(failure.phase, Some(Phase::BeforeFirstContent));
    }
}

#[tokio::test]
async fn broken_and_silent_connections() {
    use Phase::{BeforeFirstByte, BeforeFirstContent};
    use TimeoutPhase::{FirstByte, FirstContent, Idle};
    let timeout = |phase| Transport::Timeout(phase, TimerOwner::Us);
    for (script, stream, transport, phase) in [
        (Script::reset(), false, Transport::Reset, BeforeFirstByte),
        (Script::reset(), true, Transport::Reset, BeforeFirstByte),
        (Script::raw(b""), false, Transport::Reset, BeforeFirstByte),
        (Script::silence(), false, timeout(FirstByte), BeforeFirstByte),
        (Script::silence(), true, timeout(FirstByte), BeforeFirstByte),
        (
            Script::stream(&[ROLE]),
            true,
            Transport::Reset,
            BeforeFirstContent,
        ),
        (Script::cut(&[ROLE]), true, Transport::Reset, BeforeFirstContent),
        (
            Script::cut(&[ROLE]).then_reset(),
            true,
            Transport::Reset,
            BeforeFirstContent,
        ),
        (
            Script::unframed(&[ROLE]),
            true,
            Transport::Reset,
            BeforeFirstContent,
        ),
        (Script::unframed(&[]), true, Transport::Reset, BeforeFirstContent),
        (
            Script::unframed(&[ROLE, &HEL[..30]]),
            true,
            Transport::Reset,
            BeforeFirstContent,
        ),
        (
            Script::cut(&[ROLE, PING]).then_silence(),
            true,
            timeout(FirstContent),
            BeforeFirstContent,
        ),
        (
            Script::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").then_silence(),
            false,
            timeout(Idle),
            BeforeFirstContent,
        ),
        (
            Script::raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"),
            false,
            Transport::Reset,
            BeforeFirstContent,
        ),
    ] {
        let shown = format!("{script:?}");
        let failure = failure(script, stream).await;
        assert_eq!(
            (failure.transport, failure.phase),
            (Some(transport), Some(phase)),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn the_first_piece_of_a_plain_body_has_a_limit_of_its_own() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n";
    for stream in [false, true] {
        let upstream = Scripted::start([Script::raw(head).then_silence()]).await;
        let deadlines = Deadlines::DEFAULT.with_answer_limit(Duration::from_millis(50));
        let failure = attempt_at(&upstream.base_url(), stream, deadlines)
            .await
            .err()
            .unwrap();
        let waited = Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Us);
        assert_eq!(failure.transport, Some(waited));
    }
}

#[tokio::test]
async fn an_echo_of_the_key_is_gone_before_it_can_be_seen() {
    let echo = r#"{"error":{"code":"key-1-of-many","message":"bad key-1-of-many"}}"#;
    let text = format!("data: {echo}\n\n");
    for (script, stream) in [
        (Script::json(401, echo), false),
        (Script::json(200, echo), false),
        (Script::stream(&[ROLE, &text]), true),
        (Script::stream(&[HEL, &text]), true),
    ] {
        let upstream = Scripted::start([script]).await;
        let endpoint = Endpoint::try_new("relay".parse().unwrap(), &upstream.base_url()).unwrap();
        let call = Call {
            endpoint: &endpoint,
            model: "m",
            secret: Some(&SecretString::from("key-1-of-many")),
            kind: SecretKind::Key,
            wire: WireFormat::ChatCompletions,
            headers: &HeaderMap::new(),
            body: &request(stream),
            deadlines: Deadlines::DEFAULT,
        };
        let failure = match Upstream::new(HeaderValue::from_static("test"))
            .attempt(&call)
            .await
        {
            Err(failure) => failure,
            Ok(Answer::Live(mut live)) => loop {
                match live.next().await {
                    AnswerStep::Events(_) => {}
                    AnswerStep::Cut(failure) => break failure,
                    AnswerStep::Mismatch | AnswerStep::Finished(_) | AnswerStep::Hollow(..) => {
                        panic!("finished")
                    }
                }
            },
            Ok(Answer::Whole(_)) => panic!("an answer"),
        };
        let body = String::from_utf8(failure.body.unwrap()).unwrap();
        assert!(
            body.contains("bad [redacted]") && !body.contains("key-1"),
            "{body}"
        );
    }
}

#[tokio::test]
async fn an_error_body_that_dawdles_is_judged_by_what_arrived() {
    let head = b"HTTP/1.1 402 Payment Required\r\ncontent-length: 99\r\n\r\ninsufficient credits";
    let failure = failure(Script::raw(head).then_silence(), false).await;
    assert_eq!(failure.status, Some(402));
    assert_eq!(failure.body.as_deref(), Some(&b"insufficient credits"[..]));
}

#[tokio::test]
async fn hosts_that_cannot_be_reached() {
    let gone = Scripted::start([Script::silence()]).await;
    let refused = gone.base_url();
    gone.stop().await;
    // A label of 64 characters is refused by the resolver itself, without asking the network.
    let unresolvable = format!("http://{}.invalid/v1", "a".repeat(64));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let not_tls = format!("https://{}/v1", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"SSH-2.0-x\r\n")
            .await
            .unwrap();
        stream
    });
    for (base_url, transport) in [
        (refused, Transport::Refused),
        (unresolvable, Transport::Dns),
        (not_tls, Transport::Tls),
    ] {
        let failure = attempt_at(&base_url, false, Deadlines::DEFAULT)
            .await
            .err()
            .unwrap();
        assert_eq!(
            (failure.transport, failure.phase),
            (Some(transport), Some(Phase::BeforeRequest)),
            "{failure:?}"
        );
        assert!(
            !failure.message.unwrap().contains("/v1"),
            "the URL stays out of messages"
        );
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_a_wrong_key() {
    let endpoint = Endpoint::try_new(ProviderId::try_new("relay").unwrap(), "http://127.0.0.1:1").unwrap();
    let secret = SecretString::from("sk-\u{7f}secret");
    let body = request(false);
    let call = Call {
        endpoint: &endpoint,
        model: "m",
        secret: Some(&secret),
        kind: SecretKind::Key,
        wire: WireFormat::ChatCompletions,
        headers: &HeaderMap::new(),
        body: &body,
        deadlines: Deadlines::DEFAULT,
    };
    let failure = Upstream::new(HeaderValue::from_static("test"))
        .attempt(&call)
        .await
        .err()
        .unwrap();
    assert_eq!(failure.code.as_deref(), Some("invalid_api_key"));
    assert!(!format!("{failure:?}").contains("secret"));
}

#[tokio::test]
async fn dropping_an_attempt_hangs_up() {
    let upstream = Scripted::start([Script::silence()]).await;
    let endpoint = Endpoint::try_new("relay".parse().unwrap(), &upstream.base_url()).unwrap();
    let attempt = tokio::spawn(async move {
        let body = request(false);
        let call = Call {
            endpoint: &endpoint,
            model: "m",
            secret: None,
            kind: SecretKind::Key,
            wire: WireFormat::ChatCompletions,
            headers: &HeaderMap::new(),
            body: &body,
            deadlines: Deadlines::DEFAULT,
        };
        Upstream::new(HeaderValue::from_static("test"))
            .attempt(&call)
            .await
            .is_ok()
    });
    upstream.asked().await;
    attempt.abort();
    upstream.left_alone().await;
}
