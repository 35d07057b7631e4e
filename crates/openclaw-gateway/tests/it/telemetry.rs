//! What a gateway tells of itself: a scrape, and what a collector receives.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use openclaw_gateway::metrics::{METRICS, MetricKind};
use openclaw_runner::telemetry::{SEMANTIC_CONVENTIONS, field};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AnyValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;
use tokio::net::TcpListener;

use crate::scripted::{Script, Upstream};
use crate::world::{Received, World, client, hello, refusal, rows};

/// One sample of a scrape.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

/// Reads the text format, and panics at what is not of it.
fn parse(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'), "the last line has no end");
    let mut types = BTreeMap::new();
    let mut samples: Vec<Sample> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a help text");
            assert!(!help.is_empty() && is_name(name), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(
                types.insert(name.to_owned(), kind.to_owned()).is_none(),
                "{name} twice"
            );
        } else {
            samples.push(sample(line));
        }
    }
    for sample in &samples {
        let base = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| sample.name.strip_suffix(suffix))
            .filter(|base| types.contains_key(*base));
        let kind = types
            .get(base.unwrap_or(&sample.name))
            .expect("a type before its samples");
        assert_eq!(kind == "histogram", base.is_some(), "{}", sample.name);
    }
    let distinct: BTreeSet<String> = samples
        .iter()
        .map(|s| format!("{}{:?}", s.name, s.labels))
        .collect();
    assert_eq!(distinct.len(), samples.len(), "a series twice");
    samples
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect("a name");
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").expect("a label");
            assert!(is_name(label), "{line}");
            let mut value = String::new();
            let mut characters = after.char_indices();
            let end = loop {
                match characters.next().expect("the end of a value") {
                    (at, '"') => break at,
                    (_, '\\') => match characters.next().expect("an escaped character").1 {
                        'n' => value.push('\n'),
                        c @ ('\\' | '"') => value.push(c),
                        c => panic!("\\{c} in {line}"),
                    },
                    (_, c) => value.push(c),
                }
            };
            assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
            rest = &after[end + 1..];
            if let Some(end) = rest.strip_prefix('}') {
                rest = end;
                break;
            }
            rest = rest.strip_prefix(',').expect("another label");
        }
    }
    let value = rest
        .strip_prefix(' ')
        .expect("a blank")
        .parse()
        .expect("a number");
    Sample {
        name: name.to_owned(),
        labels,
        value,
    }
}

#[test]
fn the_parser_refuses_what_prometheus_would() {
    parse("# HELP a b\n# TYPE a counter\na{x=\"\\\"\"} 1\n");
    for text in [
        "# TYPE a counter\na{} 1\n",
        "# TYPE a counter\na 1",
        "a 1\n",
        "# TYPE a counter\na 1\na 2\n",
    ] {
        assert!(std::panic::catch_unwind(|| parse(text)).is_err(), "{text}");
    }
}

const KEY: &str = "agent:main:secret-chat";

/// A world in which the first model fails and the second one answers, after a few requests.
async fn busy_world() -> World {
    let limited = refusal(429, "rate_limit_exceeded", "slow down, key-a");
    let world = World::start(vec![vec![limited], vec![hello()]]).await;
    for _ in 0..3 {
        world
            .ask("openclaw", json!({}), &[("x-openclaw-session-key", KEY)])
            .await;
    }
    world.post("{", &[]).await;
    world
}

fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let matches = |sample: &&Sample| {
        let has =
            |(label, value): &(&str, &str)| sample.labels.get(*label).map(String::as_str) == Some(*value);
        sample.name == name && labels.iter().all(has)
    };
    samples.iter().filter(matches).map(|sample| sample.value).sum()
}

#[tokio::test]
async fn a_scrape_says_what_happened_and_names_nobody() {
    let world = busy_world().await;
    let scrape = world.get("/metrics", &[]).await;
    assert_eq!(scrape.status, 200);
    assert_eq!(
        scrape.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let samples = parse(&scrape.body);
    for (name, labels, expected) in [
        ("openclaw_requests_total", &[("status", "200")] as &[_], 3.0),
        (
            "openclaw_requests_total",
            &[("status", "400"), ("wire", "chat_completions")],
            1.0,
        ),
        ("openclaw_runs_total", &[("outcome", "answered_by_fallback")], 3.0),
        (
            "openclaw_attempts_total",
            &[("provider", "a"), ("reason", "rate_limit")],
            1.0,
        ),
        (
            "openclaw_attempts_total",
            &[("provider", "b"), ("outcome", "answered")],
            3.0,
        ),
        (
            "openclaw_transitions_total",
            &[("from", "a"), ("to", "b"), ("reason", "rate_limit")],
            3.0,
        ),
        ("openclaw_rotations_total", &[("decision", "fallback_model")], 1.0),
        (
            "openclaw_cooldowns_opened_total",
            &[("provider", "a"), ("lane", "model")],
            1.0,
        ),
        (
            "openclaw_cooldowns_active",
            &[("provider", "a"), ("lane", "model")],
            1.0,
        ),
        (
            "openclaw_overhead_seconds_count",
            &[("wire", "chat_completions")],
            3.0,
        ),
        (
            "openclaw_upstream_duration_seconds_count",
            &[("provider", "b")],
            3.0,
        ),
        ("openclaw_store_errors_total", &[], 0.0),
        ("openclaw_history_dropped_total", &[], 0.0),
    ] {
        assert!(
            (value(&samples, name, labels) - expected).abs() < 1e-9,
            "{name} {labels:?}:\n{}",
            scrape.body
        );
    }
    for sample in &samples {
        let row = METRICS.iter().find(|row| match row.kind {
            MetricKind::Histogram => sample.name.starts_with(&row.prometheus_name()),
            MetricKind::Counter | MetricKind::Gauge => sample.name == row.prometheus_name(),
        });
        let row = row.unwrap_or_else(|| panic!("{} is in no table", sample.name));
        for (label, value) in &sample.labels {
            assert!(
                label == "le" || row.labels.contains(&&**label),
                "{}: {label}",
                sample.name
            );
            for secret in [KEY, "key-a", "a:config", "slow down"] {
                assert!(!value.contains(secret), "{sample:?}");
            }
        }
    }
}

#[tokio::test]
async fn first_content_broken_streams_and_skips_are_counted() {
    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n";
    let broken = World::start(vec![vec![Script::cut(&[chunk])]]).await;
    broken.ask_stream().await;
    let samples = parse(&broken.get("/metrics", &[]).await.body);
    for name in [
        "openclaw_time_to_first_content_seconds_count",
        "openclaw_broken_answers_total",
    ] {
        assert!((value(&samples, name, &[]) - 1.0).abs() < 1e-9, "{name}");
    }
    let unpaid = refusal(402, "insufficient_quota", "no credit");
    let skipping = World::start(vec![vec![unpaid], vec![hello()]]).await;
    skipping.ask_plain().await;
    skipping.ask_plain().await;
    let samples = parse(&skipping.get("/metrics", &[]).await.body);
    let labels = [("provider", "a"), ("reason", "billing")];
    assert!((value(&samples, "openclaw_skips_total", &labels) - 1.0).abs() < 1e-9);
}

#[tokio::test]
async fn a_scrape_needs_the_token_where_there_is_one() {
    let world = World::start_with(vec![vec![hello()]], "", &[("OPENCLAW_GATEWAY_TOKEN", "t0ken")]).await;
    assert_eq!(world.get("/metrics", &[]).await.status, 401);
    let told = world.get("/metrics", &[("authorization", "Bearer t0ken")]).await;
    assert_eq!(told.status, 200);
    let world = World::start(vec![vec![hello()]]).await;
    assert_eq!(
        world
            .get("/metrics", &[("host", "elsewhere.example")])
            .await
            .status,
        403
    );
}

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
