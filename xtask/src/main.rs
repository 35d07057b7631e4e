//! The tasks of this workspace: `cargo xtask --help` lists them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

mod api;
mod bench;
mod bless;
mod cli;
mod clients;
mod corpus;
mod diff;
mod docs;
mod faultwall;
mod fuzz;
mod layering;
mod sim;
mod snapshots;
mod test;
mod test_counts;
mod trace;
mod workspace;

use std::process::ExitCode;

/// In the order the help shows them.
const TASKS: &[&cli::Task] = &[
    &test::TASK,
    &layering::TASK,
    &bless::TASK,
    &corpus::TASK,
    &sim::TASK,
    &fuzz::TASK,
    &docs::TASK,
    &api::TASK,
    &clients::TASK,
    &faultwall::TASK,
    &trace::TASK,
    &bench::TASK,
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
