//! What a gateway tells of itself: a scrape, and what a collector receives.

mod collector;
mod exposition;

use faultwall::scripted::Script;
use openclaw_gateway::telemetry::metrics::{METRICS, MetricKind};
use serde_json::json;

use crate::world::{World, hello, refusal};
use exposition::{parse, value};

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
