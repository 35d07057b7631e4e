//! Four simulated providers: each a real HTTP server that misbehaves in its own way.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The key of `limited` that asked too often.
pub(super) const FIRST_KEY: &str = "demo-first-key";
/// The key of `limited` whose bill is unpaid.
pub(super) const SECOND_KEY: &str = "demo-second-key";

/// What `steady` says, in the pieces it streams.
const ANSWER: &[&str] = &[
    "Hello ",
    "from ",
    "steady. ",
    "Whatever ",
    "failed ",
    "before ",
    "me, ",
    "you ",
    "got ",
    "an ",
    "answer.",
];
/// The pause between two streamed pieces, so that streaming can be seen.
const PACE: Duration = Duration::from_millis(60);

/// The running providers; they stop when dropped.
pub(super) struct SimulatedProviders {
    running: Vec<(&'static str, SocketAddr, JoinHandle<()>)>,
}

impl SimulatedProviders {
    /// Starts all four on free loopback ports.
    pub(super) async fn start() -> io::Result<Self> {
        let mut running = Vec::new();
        for (name, handler) in [
            ("limited", post(limited)),
            ("busy", post(busy)),
            ("flaky", post(flaky)),
            ("steady", post(steady)),
        ] {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            let router = Router::new().route("/v1/chat/completions", handler);
            let task = tokio::spawn(async move {
                // Serving ends only with the task.
                let _ = axum::serve(listener, router).await;
            });
            running.push((name, address, task));
        }
        Ok(Self { running })
    }

    /// Name and base URL of each.
    pub(super) fn base_urls(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.running
            .iter()
            .map(|(name, address, _)| (*name, format!("http://{address}/v1")))
    }
}

impl Drop for SimulatedProviders {
    fn drop(&mut self) {
        for (_, _, task) in &self.running {
            task.abort();
        }
    }
}

async fn limited(headers: HeaderMap) -> Response {
    let sent = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if sent.ends_with(FIRST_KEY) {
        let error = error(
            "rate_limit_error",
            "rate_limit_exceeded",
            "Rate limit reached for requests per minute",
        );
        return (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "45")], error).into_response();
    }
    let error = error(
        "billing_error",
        "insufficient_credits",
        "Insufficient credits: your last invoice is unpaid",
    );
    (StatusCode::PAYMENT_REQUIRED, error).into_response()
}

async fn busy() -> Response {
    let overloaded = StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
    (overloaded, error("overloaded_error", "overloaded", "Overloaded")).into_response()
}

async fn flaky(Json(request): Json<Value>) -> Response {
    if !wants_stream(&request) {
        let page =
            "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";
        return (StatusCode::BAD_GATEWAY, [(CONTENT_TYPE, "text/html")], page).into_response();
    }
    let role = event(&json!({"role": "assistant", "content": ""}), None);
    let pieces = stream::iter([Ok(role), Err(io::Error::other("the line was cut"))]);
    events(Body::from_stream(pieces))
}

async fn steady(Json(request): Json<Value>) -> Response {
    if !wants_stream(&request) {
        let message = json!({"role": "assistant", "content": ANSWER.concat()});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        return Json(completion("chat.completion", &choice)).into_response();
    }
    let words = ANSWER.iter().map(|word| event(&json!({"content": word}), None));
    let end = [
        event(&json!({}), Some("stop")),
        Bytes::from_static(b"data: [DONE]\n\n"),
    ];
    let pieces = stream::iter(words.chain(end)).then(|piece| async {
        tokio::time::sleep(PACE).await;
        Ok::<_, Infallible>(piece)
    });
    events(Body::from_stream(pieces))
}

fn wants_stream(request: &Value) -> bool {
    request.get("stream") == Some(&Value::Bool(true))
}

fn events(body: Body) -> Response {
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn error(kind: &str, code: &str, message: &str) -> Json<Value> {
    Json(json!({"error": {"message": message, "type": kind, "code": code}}))
}

fn event(delta: &Value, finish_reason: Option<&str>) -> Bytes {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    Bytes::from(format!(
        "data: {}\n\n",
        completion("chat.completion.chunk", &choice)
    ))
}

fn completion(object: &str, choice: &Value) -> Value {
    json!({"id": "demo", "object": object, "created": 0, "model": "large", "choices": [choice]})
}
