//! Installs the log: readable lines for people, or JSON lines for machines.

use std::fmt;
use std::io::IsTerminal;

use openclaw_runner::telemetry::{DECISION_TARGET, ROTATION_TARGET};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use super::otlp::{Collector, OtlpError, resource};
use crate::environment::Environment;

/// The log cannot be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum TelemetryError {
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
pub(crate) fn install(environment: &Environment, default: &str) -> Result<Traces, TelemetryError> {
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
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        Some("json") => lines
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .boxed(),
        None | Some("human") => {
            let colours = std::io::stderr().is_terminal() && environment.get("NO_COLOR").is_none();
            lines.with_ansi(colours).event_format(Human).boxed()
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
            .with_filter(Targets::new().with_targets(DELIVERED.iter().map(|target| (*target, Level::INFO))))
    });
    // No line shows the spans around it, so none is made for the lines, unless a filter asks for what happens in one.
    let shows_spans = asked.contains('[');
    let lines = lines
        .with_filter(filter)
        .with_filter(filter_fn(move |of| shows_spans || of.is_event()));
    let subscriber = tracing_subscriber::registry().with(lines).with(spans);
    subscriber
        .try_init()
        .map_err(|error| TelemetryError::Installed(Box::new(error)))?;
    Ok(traces)
}

/// Whose spans and events are delivered.
const DELIVERED: &[&str] = &[
    DECISION_TARGET,
    ROTATION_TARGET,
    "openclaw_gateway",
    "openclaw_runner",
];

/// The traces that are delivered, if they are.
#[must_use = "what was not delivered yet is lost unless it is shut down"]
pub(crate) struct Traces(Option<SdkTracerProvider>);

impl Traces {
    fn find(environment: &Environment) -> Result<Self, OtlpError> {
        let collector = Collector::find(environment)?;
        let provider = collector.map(|collector| collector.traces(resource(environment)));
        Ok(Self(provider.transpose()?))
    }

    /// Delivers what was not delivered yet. Blocks, and needs the runtime it was installed on.
    pub(crate) fn shut_down(self) {
        if let Some(error) = self.0.and_then(|provider| provider.shutdown().err()) {
            tracing::warn!(%error, "the last traces were not delivered");
        }
    }
}

/// Time, level, message and fields, without the spans around it.
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
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        SystemTime.format_time(&mut writer)?;
        write!(writer, " {:>5} ", event.metadata().level())?;
        if is_record(event.metadata().target()) {
            event.record(&mut MessageOnly(&mut writer));
        } else {
            context.field_format().format_fields(writer.by_ref(), event)?;
        }
        writeln!(writer)
    }
}

fn is_record(target: &str) -> bool {
    matches!(target, DECISION_TARGET | ROTATION_TARGET)
}

struct MessageOnly<'w, 'a>(&'w mut Writer<'a>);

impl Visit for MessageOnly<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            // A log line that cannot be written has nowhere to be reported.
            let _ = write!(self.0, "{value:?}");
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
        assert_eq!(record, " WARN skipped a/b\n");
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
