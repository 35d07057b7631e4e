//! Measures beside practical limits of the same machine: `cargo xtask bench --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measuring tool talks to its terminal, reads the clock and starts other programs"
)]

mod arguments;
mod check;
mod engine;
mod error_texts;
mod programs;
mod suites;
mod table;

use std::process::ExitCode;

use arguments::{Arguments, Role};
use programs::{floor, upstream};
use suites::{classify, gateway, growth, large, steady, switches};

/// Why something could not be measured, with the remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Arguments::parse(&words).and_then(|arguments| run(&arguments)) {
        Ok(check::Ending::Within) => ExitCode::SUCCESS,
        Ok(check::Ending::Over) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<check::Ending, Failure> {
    match arguments.role {
        Role::Check => return check::run(arguments),
        Role::Count => check::play(&arguments.words)?,
        Role::Floor => runtime()?.block_on(floor::serve(&arguments.words))?,
        Role::Measure => measure(arguments)?,
        Role::Upstream => runtime()?.block_on(upstream::serve())?,
    }
    Ok(check::Ending::Within)
}

fn measure(arguments: &Arguments) -> Result<(), Failure> {
    let mut results = table::Results::default();
    if arguments.wants("classify") {
        classify::measure(arguments, &mut results)?;
    }
    if arguments.names("growth") {
        growth::measure(arguments, &mut results)?;
    }
    if arguments.wants("gateway") {
        runtime()?.block_on(gateway::measure(arguments, &mut results))?;
    }
    if arguments.names("large") {
        runtime()?.block_on(large::measure(arguments, &mut results))?;
    }
    if arguments.names("switches") {
        runtime()?.block_on(switches::measure(arguments, &mut results))?;
    }
    if arguments.names("steady") {
        runtime()?.block_on(steady::measure(arguments, &mut results))?;
    }
    print!("{results}");
    if let Some(path) = &arguments.json {
        std::fs::write(path, results.json()?).map_err(|error| format!("cannot write {path}: {error}"))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// One thread does as much as two that steal work from one another, with a steadier tail.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
