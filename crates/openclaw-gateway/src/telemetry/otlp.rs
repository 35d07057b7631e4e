//! Delivers traces and metrics to a collector, over HTTP, when one is named.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::http::Uri;
use openclaw_config::Environment;
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use url::Url;

/// Names the collector, such as `http://127.0.0.1:4318`.
pub(crate) const ENDPOINT_VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// Headers for the collector, such as `authorization=Bearer%20…`.
const HEADERS_VARIABLE: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// How often metrics are pushed, in milliseconds.
const INTERVAL_VARIABLE: &str = "OTEL_METRIC_EXPORT_INTERVAL";
/// What this process is called.
const SERVICE_VARIABLE: &str = "OTEL_SERVICE_NAME";

/// How often metrics are pushed unless something else is said.
const INTERVAL: Duration = Duration::from_mins(1);
/// How long a delivery may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Traces and metrics cannot be delivered as the variables say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The variable holds no address. It may hold a password, so it is not repeated.
    #[error("{ENDPOINT_VARIABLE} is no address; write it like `http://127.0.0.1:4318`, or unset it")]
    Endpoint,
    /// The exporter refuses the settings.
    #[error(
        "cannot deliver traces and metrics as {ENDPOINT_VARIABLE} says; write it like `http://127.0.0.1:4318`, or unset it"
    )]
    Exporter(#[from] ExporterBuildError),
    /// The HTTP client cannot be made.
    #[error("cannot make the client that delivers traces and metrics")]
    Client(#[from] reqwest::Error),
}

/// A collector, and how to reach it.
pub(crate) struct Collector {
    endpoint: String,
    headers: HashMap<String, String>,
    interval: Duration,
    poster: Poster,
}

impl Collector {
    /// The collector that the environment names, if it names one. What is sent is sent on the runtime of the caller.
    pub(crate) fn find(environment: &Environment) -> Result<Option<Self>, OtlpError> {
        let Some(endpoint) = environment.get(ENDPOINT_VARIABLE) else {
            return Ok(None);
        };
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        // Who builds requests and who sends them read addresses in ways of their own.
        let address = Url::parse(&endpoint).map(|url| matches!(url.scheme(), "http" | "https"));
        if !address.is_ok_and(|is_http| is_http && endpoint.parse::<Uri>().is_ok()) {
            return Err(OtlpError::Endpoint);
        }
        let interval = environment.get(INTERVAL_VARIABLE).and_then(|ms| ms.parse().ok());
        let client = reqwest::Client::builder().timeout(PATIENCE).build()?;
        Ok(Some(Self {
            endpoint,
            headers: environment.get(HEADERS_VARIABLE).map(headers).unwrap_or_default(),
            interval: interval.map_or(INTERVAL, Duration::from_millis),
            poster: Poster {
                client,
                runtime: Handle::current(),
            },
        }))
    }

    /// Pushes metrics, and how often.
    pub(crate) fn metrics(&self) -> Result<(MetricExporter, Duration), OtlpError> {
        let exporter = MetricExporter::builder()
            .with_http()
            .with_http_client(self.poster.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/metrics", self.endpoint))
            .with_headers(self.headers.clone())
            .with_timeout(PATIENCE)
            .build()?;
        Ok((exporter, self.interval))
    }

    /// Delivers spans as they end.
    pub(crate) fn traces(&self, resource: Resource) -> Result<SdkTracerProvider, OtlpError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(self.poster.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", self.endpoint))
            .with_headers(self.headers.clone())
            .with_timeout(PATIENCE)
            .build()?;
        Ok(SdkTracerProvider::builder()
            .with_resource(resource)
            .with_batch_exporter(exporter)
            .build())
    }
}

/// What this process is.
pub(crate) fn resource(environment: &Environment) -> Resource {
    let name = environment.get(SERVICE_VARIABLE).unwrap_or("openclaw-gateway");
    Resource::builder()
        .with_service_name(name.to_owned())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

/// `a=b,c=d` with percent-encoded values; what is not of that form is left out.
fn headers(text: &str) -> HashMap<String, String> {
    let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), percent_decoded(value.trim())))
        .collect()
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes
            .get(at + 1..at + 3)
            .and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded_byte) if byte == b'%' => {
                decoded.push(decoded_byte);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Sends on a runtime, whichever thread asks: exporters have threads of their own.
#[derive(Debug, Clone)]
struct Poster {
    client: reqwest::Client,
    runtime: Handle,
}

impl HttpClient for Poster {
    fn send_bytes<'client, 'answer>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'answer>>
    where
        'client: 'answer,
        Self: 'answer,
    {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let request = reqwest::Request::try_from(request)?;
            let answer = client.execute(request).await?;
            let status = answer.status();
            let mut response = Response::new(answer.bytes().await?);
            *response.status_mut() = status;
            Ok::<_, reqwest::Error>(response)
        });
        Box::pin(async move { Ok(sent.await??) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_is_none_is_refused_and_not_repeated() {
        for (address, is_one) in [
            ("http://127.0.0.1:4318", true),
            ("https://user:password@collector.example/", true),
            ("user:password@collector.example", false),
            ("ftp://user:password@collector.example", false),
            ("http://user:pass/word@collector.example", false),
            ("collector.example:4318", false),
        ] {
            let environment = Environment::of([(ENDPOINT_VARIABLE, address)], std::path::Path::new("/"));
            let found = Collector::find(&environment).and_then(|found| {
                let found = found.expect("the variable is set");
                found.traces(resource(&environment)).map(|_| ())
            });
            assert_eq!(found.is_ok(), is_one, "{address}");
            let told = found
                .err()
                .map(|error| format!("{error:?} {error}"))
                .unwrap_or_default();
            assert!(!told.contains("word"), "{told}");
        }
    }

    #[test]
    fn headers_are_pairs_with_encoded_values() {
        let found = headers("authorization=Bearer%20abc, x-b = 1=2,nothing,c=%zz");
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort();
        let expected = [("authorization", "Bearer abc"), ("c", "%zz"), ("x-b", "1=2")];
        assert_eq!(
            found,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
