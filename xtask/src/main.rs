//! The tasks of this workspace: `cargo xtask --help` lists them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

mod api;
mod cli;
mod diff;
mod docs;
mod fuzz;
mod layering;
mod package;
mod programs;
mod snapshots;
mod test;
mod trace;
mod workspace;

use std::process::ExitCode;

/// In the order the help shows them.
const TASKS: &[&cli::Task] = &[
    &test::TASK,
    &layering::TASK,
    &snapshots::bless::TASK,
    &programs::corpus::TASK,
    &programs::sim::TASK,
    &fuzz::TASK,
    &docs::TASK,
    &api::TASK,
    &package::TASK,
    &programs::clients::TASK,
    &programs::faultwall::TASK,
    &trace::TASK,
    &programs::bench::TASK,
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match cli::dispatch(TASKS, &words) {
        Ok(cli::Outcome::Clean) => ExitCode::SUCCESS,
        Ok(cli::Outcome::Findings) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
