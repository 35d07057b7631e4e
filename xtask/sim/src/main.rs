//! Plays days of many sessions over failing providers in virtual time, and checks every step of the engine.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

mod arguments;
mod check;
mod faults;
mod play;
mod random;
mod report;
mod setup;
mod shrink;
mod time;
mod trace;
mod world;

use std::process::ExitCode;

use arguments::Arguments;
use report::Report;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Arguments::parse(&words) {
        Ok(arguments) => run(&arguments),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> ExitCode {
    let mut report = Report::new(arguments);
    for seed in arguments.seeds.clone() {
        let mut setup = setup::Setup::of(seed, arguments.hours);
        if arguments.calm {
            setup.store_outages.clear();
        }
        let played = play::play(setup.clone(), arguments.taped, |hour| report.progress(seed, hour));
        if let Some(found) = &played.found {
            Report::found(seed, found);
            let (smaller, found) = shrink::shrink(setup, found.clone(), arguments.taped);
            report.shrunk(&smaller, &found);
        }
        report.played(seed, &played);
    }
    if report.finish() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    }
}
