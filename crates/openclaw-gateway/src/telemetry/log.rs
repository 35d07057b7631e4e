//! Installs the log: readable lines for people, or JSON lines for machines.

use std::fmt;

use openclaw_config::Environment;
use openclaw_runner::telemetry::{DECISION_TARGET, ROTATION_TARGET};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{FilterExt, Targets, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use super::otlp::{Collector, OtlpError, resource};
use crate::telemetry::terminal_escape::{JsonLines, visible};

/// The log cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// `RUST_LOG` holds no filter.
    #[error("RUST_LOG=`{filter}` is not a log filter; write it like `info` or `warn,model_fallback=info`")]
    Filter {
        /// The value.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// `OPENCLAW_LOG_FORMAT` names no format.
    #[error("OPENCLAW_LOG_FORMAT=`{0}` is not a log format; use `human` or `json`")]
    Format(String),
    /// Traces cannot be delivered.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
    /// Another log is already installed in this process.
    #[error("the log is already set up")]
    Installed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Installs the log of this process on its standard error.
///
/// `RUST_LOG` filters it (`default` when unset); `OPENCLAW_LOG_FORMAT=json` makes it one JSON object per line.
///
/// With `OTEL_EXPORTER_OTLP_ENDPOINT` the spans of runs are delivered there, on the runtime of the caller.
///
/// # Errors
/// When a variable has a value that means nothing.
pub fn install(environment: &Environment, default: &str) -> Result<Traces, TelemetryError> {
    let asked = environment.get("RUST_LOG").unwrap_or(default);
    // What it says at `info` is about its own insides.
    let quiet = if asked.contains("opentelemetry") {
        ""
    } else {
        ",opentelemetry=warn"
    };
    let filter = EnvFilter::try_new(format!("{asked}{quiet}")).map_err(|source| TelemetryError::Filter {
        filter: asked.to_owned(),
        source,
    })?;
    let format = environment.get("OPENCLAW_LOG_FORMAT");
    let lines = tracing_subscriber::fmt::layer();
    let lines = match format {
        Some("json") => lines
            .with_writer(|| JsonLines(std::io::stderr()))
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
        None | Some("human") => {
            let lines = lines.with_writer(std::io::stderr).with_ansi(false);
            lines.event_format(Human).boxed()
        }
        Some(other) => return Err(TelemetryError::Format(other.to_owned())),
    };
    let traces = Traces::find(environment)?;
    let spans = traces.0.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("openclaw-gateway"))
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            // What the exporter's own client does must not be delivered by it.
            .with_filter(Targets::new().with_targets(DELIVERED.iter().copied()))
    });
    // No line shows the spans around it, so none is made for the lines, unless a filter asks for what happens in one.
    let shows_spans = asked.contains('[');
    let needs_spans = shows_spans || spans.is_some();
    let lines = lines.with_filter(filter.and(filter_fn(move |of| shows_spans || is_event(of))));
    let subscriber = tracing_subscriber::registry()
        .with(lines)
        .with(spans)
        .with((!needs_spans).then(|| filter_fn(is_event)));
    subscriber
        .try_init()
        .map_err(|error| TelemetryError::Installed(Box::new(error)))?;
    Ok(traces)
}

fn is_event(of: &Metadata<'_>) -> bool {
    of.is_event()
}

/// Whose spans and events are delivered.
const DELIVERED: &[(&str, Level)] = &[
    // A trace tells the whole story of its run.
    (DECISION_TARGET, Level::DEBUG),
    (ROTATION_TARGET, Level::DEBUG),
    ("openclaw_gateway", Level::INFO),
    ("openclaw_runner", Level::INFO),
];

/// The traces that are delivered, if they are.
#[must_use = "what was not delivered yet is lost unless it is shut down"]
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    fn find(environment: &Environment) -> Result<Self, OtlpError> {
        let collector = Collector::find(environment)?;
        let provider = collector.map(|collector| collector.traces(resource(environment)));
        Ok(Self(provider.transpose()?))
    }

    /// Delivers what was not delivered yet. Blocks, and needs the runtime it was installed on.
    pub fn shut_down(self) {
        if let Some(error) = self.0.and_then(|provider| provider.shutdown().err()) {
            tracing::warn!(%error, "the last traces were not delivered");
        }
    }
}

/// Time, level, request, message and fields, without the spans around it.
///
/// The failover records carry dozens of flat fields for machines and say everything in their message, so a person
/// sees the message alone.
struct Human;

impl<S, N> FormatEvent<S, N> for Human
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        SystemTime.format_time(&mut writer)?;
        write!(writer, " {:>5} ", event.metadata().level())?;
        let is_record = matches!(event.metadata().target(), DECISION_TARGET | ROTATION_TARGET);
        let mut line = Line::default();
        event.record(&mut line);
        let text = if is_record { line.record() } else { line.text() };
        writeln!(writer, "{}", visible(&text))
    }
}

/// The fields of one event, as they are shown.
#[derive(Default)]
struct Line {
    message: String,
    /// The request it is about.
    request: Option<String>,
    fields: Vec<(&'static str, String)>,
}

impl Line {
    /// Request, message, and all other fields.
    fn text(&self) -> String {
        let mut text = self.about(&self.message);
        for (name, value) in &self.fields {
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(name);
            text.push('=');
            text.push_str(value);
        }
        text
    }

    /// Request and message of a failover record; an answer that is not the first model's says whose it is and why.
    fn record(&self) -> String {
        let field = |wanted: &str| {
            let found = self.fields.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| value.trim_matches('"'))
        };
        if field("decision") != Some("candidate_succeeded") {
            return self.about(&self.message);
        }
        let model = [field("candidateProvider"), field("candidateModel")].map(Option::unwrap_or_default);
        let model = model.join("/");
        let text = match (
            field("fallbackStepFromModel"),
            field("fallbackStepFromFailureReason"),
        ) {
            (Some(other), Some(reason)) if other != model => {
                format!("answered by {model} instead of {other} ({reason})")
            }
            (Some(other), None) if other != model => format!("answered by {model} instead of {other}"),
            _ => format!("answered by {model}, which rested"),
        };
        self.about(&text)
    }

    fn about(&self, text: &str) -> String {
        match &self.request {
            Some(request) => format!("[{request}] {text}"),
            None => text.to_owned(),
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "requestId" | "runId" => self.request = Some(format!("{value:?}")),
            name => self.fields.push((name, format!("{value:?}"))),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "requestId" | "runId" => self.request = Some(value.to_owned()),
            name => self.fields.push((name, format!("{value:?}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(emit: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .event_format(Human)
            .finish();
        tracing::subscriber::with_default(subscriber, emit);
        let bytes = lines.0.lock().unwrap().clone();
        let line = String::from_utf8(bytes).unwrap();
        let (_time, rest) = line.split_once(' ').unwrap();
        rest.to_owned()
    }

    #[test]
    fn people_see_the_message_of_a_record_and_all_fields_of_other_events() {
        let record = logged(|| tracing::warn!(target: DECISION_TARGET, runId = "r", "skipped a/b"));
        assert_eq!(record, " WARN [r] skipped a/b\n");
        let answer = logged(|| {
            tracing::info!(
                target: DECISION_TARGET,
                decision = "candidate_succeeded",
                runId = "r",
                candidateProvider = "b",
                candidateModel = "m",
                fallbackStepFromModel = tracing::field::display("a/m"),
                fallbackStepFromFailureReason = "rate_limit",
                "model fallback decision"
            );
        });
        assert_eq!(answer, " INFO [r] answered by b/m instead of a/m (rate_limit)\n");
        let about = logged(|| tracing::info!(requestId = "r", calls = 1, "answered"));
        assert_eq!(about, " INFO [r] answered calls=1\n");
        let turned = logged(|| tracing::info!(model = %"a\u{202e}b\u{1b}[31m", "left\u{2066}\nout"));
        assert_eq!(
            turned,
            " INFO left\\u{2066}\\u{a}out model=a\\u{202e}b\\u{1b}[31m\n"
        );
        let other = logged(|| tracing::info!(address = "127.0.0.1:1", "listening"));
        assert_eq!(other, " INFO listening address=\"127.0.0.1:1\"\n");
    }

    #[test]
    fn values_that_mean_nothing_are_refused_with_a_remedy() {
        let install = |name, value| {
            let environment = Environment::of([(name, value)], std::path::Path::new("/"));
            super::install(&environment, "info").err().unwrap().to_string()
        };
        assert_eq!(
            install("OPENCLAW_LOG_FORMAT", "xml"),
            "OPENCLAW_LOG_FORMAT=`xml` is not a log format; use `human` or `json`"
        );
        assert!(install("RUST_LOG", "a=b=c").contains("is not a log filter"));
    }
}
