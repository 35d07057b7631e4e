//! Recorded runs, explained and played again. The runs are those of the scenarios that the runner's tests play.

#![expect(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

#[path = "../../../openclaw-runner/tests/it/clock.rs"]
mod clock;
#[path = "../../../openclaw-runner/tests/it/delayed.rs"]
mod delayed;
mod explained;
mod recorded;
mod recorder;
mod replayed;
#[path = "../../../openclaw-runner/tests/it/report.rs"]
mod report;
#[expect(
    dead_code,
    reason = "the runner's own tests order the document of scenarios by it"
)]
#[path = "../../../openclaw-runner/tests/it/scenario.rs"]
mod scenario;
#[expect(
    dead_code,
    reason = "the runner's own tests look at more of what a scenario comes to"
)]
#[path = "../../../openclaw-runner/tests/it/scenarios.rs"]
mod scenarios;
#[path = "../../../openclaw-runner/tests/it/script.rs"]
mod script;
mod slow_session;
#[expect(dead_code, reason = "the runner's own tests render the document of scenarios")]
#[path = "../../../openclaw-runner/tests/it/strip.rs"]
mod strip;
