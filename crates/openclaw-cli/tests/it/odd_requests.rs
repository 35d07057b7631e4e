//! Requests that no client library sends, but people, shells and browsers do.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{Received, World, client, hello};

#[tokio::test]
async fn no_body_at_all_may_be_declared_as_anything() {
    let world = World::start(vec![vec![hello()]]).await;
    let session = [("x-openclaw-session-key", "s")];
    assert_eq!(world.ask("openclaw", json!({}), &session).await.status, 200);
    for path in ["/admin/v1/reload", "/admin/v1/sessions/s/reset"] {
        for content_type in ["application/x-www-form-urlencoded", "text/plain", ""] {
            let received = world.post_to(path, "", &[("content-type", content_type)]).await;
            assert_eq!(received.status, 200, "{path} {content_type}: {}", received.body);
        }
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let received = world.post_to(path, "a=b", &form).await;
        assert_eq!(received.status, 415, "{path}");
    }
    let nothing = world.post_to("/admin/v1/cooldowns/clear", "", &[]).await;
    assert_eq!(nothing.status, 400);
    assert_eq!(
        nothing.json()["error"]["message"],
        "the request needs a body: a JSON object"
    );
    let marked = world
        .post_to("/admin/v1/cooldowns/clear", "\u{feff}{\"all\": true}", &[])
        .await;
    assert_eq!(marked.status, 200, "{}", marked.body);
}

#[tokio::test]
async fn every_refusal_under_v1_and_admin_is_json_of_the_paths_own_shape() {
    let world = World::start(vec![vec![hello()]]).await;
    let long = "x".repeat(70 * 1024);
    for (method, path, body, status) in [
        (Method::GET, "/admin/v1/sessions/%ff", "", 400),
        (Method::GET, "/admin/v1/decisions/%ff", "", 400),
        (Method::POST, "/admin/v1/sessions/%ff/reset", "", 400),
        (Method::GET, "/admin/v1/sessions/nobody", "", 404),
        (Method::GET, "/admin/v1/sessions?agent=nobody", "", 404),
        (Method::GET, "/admin/v1/decisions?limit=many", "", 400),
        (Method::GET, "/admin/v1/nothing", "", 404),
        (Method::DELETE, "/admin/v1/reload", "", 405),
        (Method::POST, "/admin/v1/cooldowns/set", "[1]", 400),
        (Method::POST, "/admin/v1/cooldowns/set", long.as_str(), 413),
        (Method::GET, "/v1/models/%ff", "", 400),
        (Method::GET, "/v1/responses", "", 405),
        (Method::POST, "/v1/messages", "{", 400),
        (Method::DELETE, "/v1/messages", "", 405),
        (Method::POST, "/v1/messages/nothing", "{}", 404),
    ] {
        let mut request = client()
            .request(method.clone(), world.url(path))
            .body(body.to_owned());
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let received = Received::of(request).await;
        assert_eq!(received.status, status, "{method} {path}: {}", received.body);
        let answer = received.json();
        assert!(
            answer["error"]["message"].is_string(),
            "{method} {path}: {answer}"
        );
        let anthropic = path.starts_with("/v1/messages");
        assert_eq!(answer["type"] == "error", anthropic, "{method} {path}: {answer}");
    }
}

#[tokio::test]
async fn a_session_key_of_any_script_is_one_session_everywhere() {
    let world = World::start(vec![vec![hello()]]).await;
    let key = "agent:main:Zoë 会話";
    let asked = world
        .ask("openclaw", json!({}), &[("x-openclaw-session-key", key)])
        .await;
    assert_eq!(asked.status, 200, "{}", asked.body);
    let path = "/admin/v1/sessions/agent:main:Zo%C3%AB%20%E4%BC%9A%E8%A9%B1";
    assert_eq!(world.get(path, &[]).await.json()["key"], key);

    let latin = reqwest::header::HeaderValue::from_bytes(b"Zo\xeb").unwrap();
    let request = client().post(world.url("/v1/chat/completions"));
    let request = request
        .header("x-openclaw-session-key", latin)
        .header("content-type", "application/json");
    let body = json!({"model": "openclaw", "messages": []});
    let refused = Received::of(request.body(body.to_string())).await;
    assert_eq!(refused.status, 400);
    let told = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(told.contains("UTF-8"), "{told}");
}

#[tokio::test]
async fn a_browser_that_asks_for_a_page_of_another_origin_is_told_no_and_what_to_do() {
    let token = [("OPENCLAW_GATEWAY_TOKEN", "s3cret")];
    for variables in [&[] as &[_], &token] {
        let world = World::start_with(vec![vec![hello()]], "", variables).await;
        for origin in ["https://page.example", "http://localhost:3000", "null"] {
            for path in [
                "/v1/chat/completions",
                "/v1/models",
                "/admin/v1/status",
                "/healthz",
            ] {
                let asked = client()
                    .request(Method::OPTIONS, world.url(path))
                    .header("origin", origin)
                    .header("access-control-request-method", "POST")
                    .header("access-control-request-headers", "authorization");
                let refused = Received::of(asked).await;
                assert_eq!(refused.status, 403, "{origin} {path}");
                assert_eq!(refused.json()["error"]["code"], "cross_origin");
                assert!(
                    refused
                        .headers
                        .keys()
                        .all(|name| !name.as_str().starts_with("access-control-")),
                    "{:?}",
                    refused.headers
                );
            }
        }
    }
    let world = World::start(vec![vec![hello()]]).await;
    let preflight = client()
        .request(Method::OPTIONS, world.url("/v1/chat/completions"))
        .header("origin", "http://localhost:3000")
        .header("access-control-request-method", "POST");
    insta::assert_snapshot!("preflight", Received::of(preflight).await.show());
    let options = client().request(Method::OPTIONS, world.url("/v1/chat/completions"));
    assert_eq!(Received::of(options).await.status, 405, "no browser's question");
}

#[tokio::test]
async fn a_body_that_is_announced_to_be_too_large_is_refused_before_it_comes() {
    let world = World::start(vec![vec![hello()]]).await;
    let address = world.url("").replace("http://", "");
    for path in ["/v1/chat/completions", "/v1/messages", "/admin/v1/cooldowns/set"] {
        let mut connection = TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: 1099511627776\r\nconnection: close\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        // Not a byte of the body is sent.
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 413"), "{path}: {answer}");
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body["error"]["code"], "request_too_large", "{path}");
    }
    assert_eq!(world.calls(), [0]);
}
