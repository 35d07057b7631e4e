//! The text that Prometheus scrapes.

use std::fmt::Write as _;

use opentelemetry::KeyValue;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, Metric, MetricData, ResourceMetrics, ScopeMetrics,
};

use super::table::{Kind, Row, row};

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Everything that was collected, in the text format; instruments and series in a stable order.
pub(super) fn render(collected: &ResourceMetrics) -> String {
    let scopes = collected.scope_metrics();
    let mut found: Vec<(&Row, &Metric)> = scopes
        .flat_map(ScopeMetrics::metrics)
        .filter_map(|metric| Some((row(metric.name())?, metric)))
        .collect();
    found.sort_by_key(|(row, _)| row.name);
    let mut text = String::with_capacity(16 * 1024);
    for (row, metric) in found {
        let name = row.prometheus_name();
        let kind = match row.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        // A string takes any text.
        let _ = writeln!(text, "# HELP {name} {}.\n# TYPE {name} {kind}", row.help);
        let mut series = series(&name, metric.data());
        series.sort();
        text.extend(series);
    }
    text
}

/// The lines of each series.
fn series(name: &str, data: &AggregatedMetrics) -> Vec<String> {
    match data {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => sum
            .data_points()
            .map(|point| line(name, &labels(point.attributes()), &point.value().to_string()))
            .collect(),
        AggregatedMetrics::U64(MetricData::Gauge(gauge)) => gauge
            .data_points()
            .map(|point| line(name, &labels(point.attributes()), &point.value().to_string()))
            .collect(),
        AggregatedMetrics::F64(MetricData::Histogram(histogram)) => histogram
            .data_points()
            .map(|point| {
                let labels = labels(point.attributes());
                let mut lines = String::new();
                let mut below = 0_u64;
                let bounds = point.bounds().map(|bound| bound.to_string());
                let bounds = bounds.chain(std::iter::once("+Inf".to_owned()));
                for (bound, count) in bounds.zip(point.bucket_counts()) {
                    below = below.saturating_add(count);
                    let mut labels = labels.clone();
                    labels.push(("le".to_owned(), bound));
                    lines += &line(&format!("{name}_bucket"), &labels, &below.to_string());
                }
                lines += &line(&format!("{name}_sum"), &labels, &point.sum().to_string());
                lines + &line(&format!("{name}_count"), &labels, &point.count().to_string())
            })
            .collect(),
        // No instrument of the table is of another kind.
        AggregatedMetrics::F64(_) | AggregatedMetrics::I64(_) | AggregatedMetrics::U64(_) => Vec::new(),
    }
}

fn labels<'a>(attributes: impl Iterator<Item = &'a KeyValue>) -> Vec<(String, String)> {
    let mut labels: Vec<(String, String)> = attributes
        .map(|label| (label.key.to_string(), label.value.to_string()))
        .collect();
    labels.sort();
    labels
}

fn line(name: &str, labels: &[(String, String)], value: &str) -> String {
    let labels: Vec<String> = labels
        .iter()
        .map(|(label, value)| {
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            format!("{label}=\"{value}\"")
        })
        .collect();
    if labels.is_empty() {
        return format!("{name} {value}\n");
    }
    format!("{name}{{{}}} {value}\n", labels.join(","))
}
