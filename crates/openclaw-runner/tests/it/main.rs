//! Whole runs: machine, driver and stores together, with scripted attempts and paused time.

#![expect(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod cancel;
mod cancel_kinds;
mod chain;
mod clock;
mod delayed;
mod document;
mod hooks;
mod locked;
mod pins;
mod probe_mark;
mod report;
mod rotated;
mod scenario;
#[expect(
    dead_code,
    reason = "the tests of recordings use more of what a scenario comes to"
)]
mod scenarios;
mod script;
mod slow;
mod slow_session;
mod snapshots;
mod strip;
