//! What this process reports about itself: log, traces, metrics, live events and the records of its runs.

pub(crate) mod events;
mod log;
pub mod metrics;
mod otlp;
mod outcome;
mod spans;
pub mod terminal_escape;
mod watch;

pub use log::install;
pub use otlp::OtlpError;
pub(crate) use otlp::{Collector, resource};
pub(crate) use outcome::{answered, unanswered};
pub(crate) use spans::{request_span, responded};
pub(crate) use watch::{RunTimes, RunWatch, Stopwatch, Telemetry};
