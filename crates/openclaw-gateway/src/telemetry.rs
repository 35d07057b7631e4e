//! What this process tells of itself: its log, and what is kept of its runs.

mod log;
mod otlp;
mod outcome;
mod spans;
mod watch;

pub use log::install;
pub use otlp::OtlpError;
pub(crate) use otlp::{Collector, resource};
pub(crate) use outcome::{answered, unanswered};
pub(crate) use spans::{request_span, responded};
pub(crate) use watch::{RunWatch, Spent, Stopwatch, Telemetry};
