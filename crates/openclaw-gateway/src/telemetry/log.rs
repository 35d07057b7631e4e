//! Installs the log: readable lines for people, or JSON lines for machines.

use std::fmt;
use std::io::IsTerminal;

use openclaw_runner::telemetry::{DECISION_TARGET, ROTATION_TARGET};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

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
    /// Another log is already installed in this process.
    #[error("the log is already set up")]
    Installed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Installs the log of this process on its standard error.
///
/// `RUST_LOG` filters it (`default` when unset); `OPENCLAW_LOG_FORMAT=json` makes it one JSON object per line.
///
/// # Errors
/// When a variable has a value that means nothing.
pub(crate) fn install(environment: &Environment, default: &str) -> Result<(), TelemetryError> {
    let filter = environment.get("RUST_LOG").unwrap_or(default);
    let filter = EnvFilter::try_new(filter).map_err(|source| TelemetryError::Filter {
        filter: filter.to_owned(),
        source,
    })?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let installed = match environment.get("OPENCLAW_LOG_FORMAT") {
        Some("json") => builder.json().flatten_event(true).try_init(),
        None | Some("human") => {
            let colours = std::io::stderr().is_terminal() && environment.get("NO_COLOR").is_none();
            builder.with_ansi(colours).event_format(Human).try_init()
        }
        Some(other) => return Err(TelemetryError::Format(other.to_owned())),
    };
    installed.map_err(TelemetryError::Installed)
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
            super::install(&environment, "info").unwrap_err().to_string()
        };
        assert_eq!(
            install("OPENCLAW_LOG_FORMAT", "xml"),
            "OPENCLAW_LOG_FORMAT=`xml` is not a log format; use `human` or `json`"
        );
        assert!(install("RUST_LOG", "a=b=c").contains("is not a log filter"));
    }
}
