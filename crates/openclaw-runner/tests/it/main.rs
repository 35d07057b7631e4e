//! Whole runs: machine, driver and stores together, with scripted attempts and paused time.

#![expect(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod cancel;
mod cancel_kinds;
mod chain;
mod clock;
mod document;
mod explained;
mod hooks;
mod locked;
mod pins;
mod probe_mark;
mod recorder;
mod replayed;
mod report;
mod rotated;
mod scenario;
mod scenarios;
mod script;
mod slow;
mod slow_session;
