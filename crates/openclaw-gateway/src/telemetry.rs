//! What this process tells of itself: its log, and what is kept of its runs.

mod log;
mod watch;

pub(crate) use log::install;
pub(crate) use watch::{RunWatch, Telemetry};
