//! What a scrape shows, and the names it shows it under.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, ProfileStore, Secret, UsageChange};
use openclaw_config::Environment;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::ProfileId;

use super::*;

fn idle() -> Metrics {
    let push = None::<(opentelemetry_otlp::MetricExporter, Duration)>;
    Metrics::new(push, Resource::builder_empty().build())
}

#[test]
fn a_scrape_shows_what_was_counted() {
    let metrics = idle();
    metrics.request("chat_completions", 200);
    metrics.request("chat_completions", 200);
    metrics.request("messages", 503);
    metrics.run("messages", RunEnd::Failed, Duration::from_micros(30));
    metrics.lost(StoreKind::Sessions);
    metrics.broke_off("responses", None);
    metrics.repeated("openai", "reset");
    metrics.skipped_events("openai", "messages", 3);
    metrics.lenient_end("openai", "messages", "stop_reason");
    insta::assert_snapshot!("scrape", metrics.scrape());
}

#[tokio::test]
async fn a_store_that_nobody_uses_any_more_is_not_kept_for_the_scrape() {
    let metrics = idle();
    let profile: ProfileId = "openai:work".parse().unwrap();
    let key = Credential::api_key("openai".parse().unwrap(), Secret::new("k"));
    let store = Arc::new(MemoryAuthStore::new(
        AuthSnapshot::default(),
        CooldownConfig::default(),
    ));
    let now = SystemClock.now();
    store.upsert(profile.clone(), key, now).await.unwrap();
    let until = now + Duration::from_hours(1);
    store
        .commit(UsageChange::CoolDown { profile, until }, now)
        .await
        .unwrap();
    metrics.watch_store(&store);
    let rests = "openclaw_cooldowns_active{lane=\"blocked\",provider=\"openai\"} 1";
    assert!(metrics.scrape().contains(rests), "{}", metrics.scrape());
    let weak = Arc::downgrade(&store);
    drop(store);
    assert!(weak.upgrade().is_none(), "nobody keeps it");
    assert!(!metrics.scrape().contains(rests), "{}", metrics.scrape());
}

#[test]
fn names_and_labels_are_those_that_prometheus_takes() {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    for row in METRICS {
        assert!(is_name(&row.prometheus_name()), "{}", row.name);
        for label in row.labels {
            assert!(is_name(label), "{}: {label}", row.name);
            for word in ["session", "key", "profile", "model"] {
                assert!(!label.contains(word), "{}: {label}", row.name);
            }
        }
        assert!(
            !row.help.ends_with('.') && !row.remedy.ends_with('.'),
            "{}",
            row.name
        );
    }
    assert!(METRICS.is_sorted_by_key(|row| row.name));
}

#[test]
fn one_metric_has_only_so_many_series_and_says_what_it_left_out() {
    let metrics = idle();
    for status in 0..1_000 {
        metrics.request("chat_completions", status);
    }
    let text = metrics.scrape();
    let series = text
        .lines()
        .filter(|line| line.starts_with("openclaw_requests_total{"));
    assert_eq!(series.count(), family::MAX_SERIES + 1);
    let dropped = "openclaw_dropped_series_total{metric=\"openclaw.requests\"} 800";
    assert!(text.contains(dropped), "{text}");
}

fn docs(file: &str) -> PathBuf {
    PathBuf::from(env!("OPENCLAW_WORKSPACE_ROOT"))
        .join("docs")
        .join(file)
}

/// Says that the document is to be written instead of compared.
const WRITE: &str = "OPENCLAW_WRITE_DOCS";
/// Before and after the part of the document that is made from the table.
const MARKS: (&str, &str) = ("<!-- instruments -->\n", "<!-- end of instruments -->\n");

#[test]
fn the_document_is_current() {
    let mut table = String::from("| Metric | Labels | Means | What to do |\n|---|---|---|---|\n");
    for row in METRICS {
        let labels: Vec<String> = row.labels.iter().map(|label| format!("`{label}`")).collect();
        let (name, labels) = (row.prometheus_name(), labels.join(", "));
        writeln!(table, "| `{name}` | {labels} | {} | {} |", row.help, row.remedy).unwrap();
    }
    let path = docs("metrics.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(MARKS.0).unwrap();
    let (_, after) = rest.split_once(MARKS.1).unwrap();
    let expected = format!("{before}{}{table}{}{after}", MARKS.0, MARKS.1);
    if Environment::of_this_process().get(WRITE).is_some() {
        std::fs::write(&path, &expected).unwrap();
        return;
    }
    assert!(
        text == expected,
        "docs/metrics.md is not what the table says; `cargo xtask docs` writes it"
    );
}

/// The metrics that a text names.
fn named_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|word| word.starts_with("openclaw_")).collect()
}

#[test]
fn the_dashboard_and_the_alerts_name_only_metrics_that_exist_and_all_of_them() {
    let known: BTreeSet<String> = METRICS
        .iter()
        .flat_map(|row| {
            let name = row.prometheus_name();
            match row.kind {
                MetricKind::Counter | MetricKind::Gauge => vec![name],
                MetricKind::Histogram => ["bucket", "sum", "count"]
                    .map(|part| format!("{name}_{part}"))
                    .to_vec(),
            }
        })
        .collect();
    let read = |file| std::fs::read_to_string(docs(file)).unwrap();
    let (dashboard, alerts) = (read("grafana-dashboard.json"), read("prometheus-alerts.yml"));
    serde_json::from_str::<serde_json::Value>(&dashboard).unwrap();
    for (file, text) in [("dashboard", &dashboard), ("alerts", &alerts)] {
        let named = named_in(text);
        assert!(!named.is_empty(), "{file}");
        for name in named {
            assert!(known.contains(name), "{file} names {name}");
        }
    }
    let shown = named_in(&dashboard);
    for row in METRICS {
        let name = row.prometheus_name();
        assert!(
            shown.iter().any(|shown| shown.starts_with(&name)),
            "no panel shows {name}"
        );
    }
}

#[test]
fn every_alert_is_explained_where_people_look() {
    let alerts = std::fs::read_to_string(docs("prometheus-alerts.yml")).unwrap();
    let explained = std::fs::read_to_string(docs("metrics.md")).unwrap();
    let names: Vec<&str> = alerts
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- alert: "))
        .collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        assert!(explained.contains(&format!("| `{name}` |")), "{name}");
    }
}
