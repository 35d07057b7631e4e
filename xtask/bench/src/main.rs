//! Measures beside practical limits of the same machine: `cargo xtask bench --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a measuring tool talks to its terminal, reads the clock and starts other programs"
)]

mod arguments;
mod classify;
mod floor;
mod gateway;
mod load;
mod process;
mod table;
mod upstream;

use std::process::ExitCode;

use arguments::{Arguments, Role};

/// Why something could not be measured, with the remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Arguments::parse(&words).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.role {
        Role::Upstream => return runtime()?.block_on(upstream::serve()),
        Role::Floor => return runtime()?.block_on(floor::serve(&arguments.words)),
        Role::Measure => {}
    }
    let mut results = table::Results::default();
    if arguments.wants("classify") {
        classify::measure(arguments, &mut results)?;
    }
    if arguments.wants("gateway") {
        runtime()?.block_on(gateway::measure(arguments, &mut results))?;
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
