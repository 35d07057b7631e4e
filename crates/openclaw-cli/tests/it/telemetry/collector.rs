//! What a collector receives over OTLP.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use faultwall::scripted::Upstream;
use openclaw_gateway::telemetry::metrics::METRICS;
use openclaw_runner::telemetry::{SEMANTIC_CONVENTIONS, field};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;

use super::KEY;
use crate::world::{Received, client, hello, refusal, rows};

/// What a collector received.
#[derive(Debug, Default)]
struct Delivered {
    headers: Vec<HeaderMap>,
    bodies: Vec<(String, Bytes)>,
}

type Collected = Arc<Mutex<Delivered>>;

/// A collector on the loopback interface.
async fn collector() -> (String, Collected) {
    let collected = Collected::default();
    let take = async |State(collected): State<Collected>, uri: Uri, headers: HeaderMap, body: Bytes| {
        let mut collected = collected.lock().unwrap();
        collected.headers.push(headers);
        collected.bodies.push((uri.path().to_owned(), body));
    };
    let router = Router::new().fallback(take).with_state(Arc::clone(&collected));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (format!("http://{address}"), collected)
}

/// The binary, and where it listens.
fn serve(config: &str, state: &std::path::Path, variables: &[(&str, &str)]) -> (Child, String) {
    let path = state.join("openclaw.json");
    std::fs::write(&path, config).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
        .args([
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--state-dir",
            state.to_str().unwrap(),
        ])
        .env_clear()
        .envs(variables.iter().copied())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned));
    (child, url.unwrap())
}

fn text(span: &Span, name: &str) -> Option<String> {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == name)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        AnyValue::StringValue(text) => Some(text.clone()),
        AnyValue::IntValue(number) => Some(number.to_string()),
        other => Some(format!("{other:?}")),
    }
}

/// What a collector receives of one request that goes to its second model, and what the client does.
async fn delivered() -> (Received, Vec<(String, Bytes)>) {
    let secret = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let limited = refusal(429, "rate_limit_exceeded", &format!("slow down, {secret}"));
    let upstreams = vec![Upstream::start([limited]).await, Upstream::start([hello()]).await];
    let config = format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let (endpoint, collected) = collector().await;
    let state = tempfile::tempdir().unwrap();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=one%20two"),
        ("NO_PROXY", "127.0.0.1"),
    ];
    let (child, url) = serve(&config, state.path(), &variables);
    let body = json!({"model": "openclaw", "messages": [{"role": "user", "content": "prompt-text"}]});
    let request = client()
        .post(format!("{url}/chat/completions"))
        .header("content-type", "application/json")
        .header("x-openclaw-session-key", KEY)
        .header(
            "traceparent",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        );
    let answer = Received::of(request.body(body.to_string())).await;
    stop(child).await;
    let delivered = collected.lock().unwrap();
    assert!(
        delivered
            .headers
            .iter()
            .all(|headers| headers["x-tenant"] == "one two")
    );
    (answer, delivered.bodies.clone())
}

/// Asks the binary to stop, and waits for it.
async fn stop(mut child: Child) {
    let stopped = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(stopped.success());
    let ended = tokio::task::spawn_blocking(move || child.wait()).await.unwrap();
    assert!(ended.unwrap().success());
}

fn spans(body: &Bytes) -> Vec<Span> {
    let sent = ExportTraceServiceRequest::decode(body.clone()).unwrap();
    let scopes = sent
        .resource_spans
        .into_iter()
        .flat_map(|resource| resource.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

fn metrics(body: &Bytes) -> Vec<String> {
    let sent = ExportMetricsServiceRequest::decode(body.clone()).unwrap();
    let scopes = sent
        .resource_metrics
        .into_iter()
        .flat_map(|resource| resource.scope_metrics);
    let names = scopes.flat_map(|scope| scope.metrics).map(|metric| metric.name);
    names.filter(|name| name.starts_with("openclaw.")).collect()
}

#[tokio::test]
async fn a_collector_receives_spans_and_metrics_with_the_pinned_names() {
    let (answer, bodies) = delivered().await;
    assert_eq!(answer.header("x-openclaw-served-model"), Some("b/m"));
    let (mut all_spans, mut names) = (Vec::new(), BTreeSet::new());
    for (path, body) in &bodies {
        for absent in [KEY, "AAAAAAAAAAAA", "key-a", "a:config", "prompt-text", "Hello"] {
            let text = String::from_utf8_lossy(body);
            assert!(!text.contains(absent), "{absent} in {path}: {text}");
        }
        match &**path {
            "/v1/traces" => all_spans.extend(spans(body)),
            "/v1/metrics" => names.extend(metrics(body)),
            other => panic!("{other}"),
        }
    }
    for name in &names {
        assert!(METRICS.iter().any(|row| row.name == name), "{name}");
    }
    for name in [
        "openclaw.attempts",
        "openclaw.cooldowns_active",
        "openclaw.overhead",
        "openclaw.runs",
    ] {
        assert!(names.contains(name), "{name} in {names:?}");
    }
    check_spans(&all_spans, answer.header("x-openclaw-request-id").unwrap());
}

/// The tree of the spans, and what they say.
fn check_spans(spans: &[Span], id: &str) {
    let named = |name: &str| -> Vec<&Span> { spans.iter().filter(|span| span.name == name).collect() };
    let (requests, runs, attempts) = (named("request"), named("run"), named("attempt"));
    assert_eq!(
        (requests.len(), runs.len(), attempts.len()),
        (1, 1, 2),
        "{spans:#?}"
    );
    let (request, run, first, second) = (requests[0], runs[0], attempts[0], attempts[1]);
    assert_eq!(
        request.parent_span_id,
        [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31]
    );
    assert_eq!(run.parent_span_id, request.span_id);
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt.parent_span_id == run.span_id)
    );
    for (span, name, value) in [
        (request, field::OPERATION, Some("chat")),
        (request, field::STATUS, Some("200")),
        (request, field::RUN_ID, Some(id)),
        (run, field::RUN_ID, Some(id)),
        (run, field::PROVIDER, Some("a")),
        (run, field::REQUEST_MODEL, Some("m")),
        (run, field::RESPONSE_MODEL, Some("b/m")),
        (run, field::OUTCOME, Some("answered")),
        (first, field::PROVIDER, Some("a")),
        (first, field::STATUS, Some("429")),
        (first, field::ERROR_TYPE, Some("rate_limit")),
        (second, field::PROVIDER, Some("b")),
        (second, field::ERROR_TYPE, None),
    ] {
        assert_eq!(text(span, name).as_deref(), value, "{name} of {span:#?}");
    }
    let is_decision = |name: &str| name == "decision";
    let decisions = run.events.iter().filter(|event| {
        event
            .attributes
            .iter()
            .any(|attribute| is_decision(&attribute.key))
    });
    assert_eq!(decisions.count(), 3, "{:#?}", run.events);
}

#[test]
fn the_names_of_fields_are_pinned() {
    assert_eq!(SEMANTIC_CONVENTIONS, "1.37.0");
    let names = [
        field::ERROR_TYPE,
        field::OPERATION,
        field::PROVIDER,
        field::REQUEST_MODEL,
        field::RESPONSE_MODEL,
        field::STATUS,
    ];
    assert_eq!(
        names,
        [
            "error.type",
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
            "gen_ai.response.model",
            "http.response.status_code"
        ]
    );
}

#[tokio::test]
async fn without_a_collector_that_answers_requests_are_answered_all_the_same() {
    let upstreams = vec![Upstream::start([hello()]).await];
    let config = format!(
        "{{ agents: {{ defaults: {{ model: 'a/m' }} }}, models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    );
    let state = tempfile::tempdir().unwrap();
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("NO_PROXY", "127.0.0.1"),
    ];
    let (child, url) = serve(&config, state.path(), &variables);
    let body = json!({"model": "openclaw", "messages": []});
    let request = client()
        .post(format!("{url}/chat/completions"))
        .header("content-type", "application/json");
    assert_eq!(Received::of(request.body(body.to_string())).await.status, 200);
    stop(child).await;
}
