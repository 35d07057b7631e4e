//! Compares the crates' answers with files of recorded answers: `cargo xtask corpus --help`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks to its terminal"
)]

mod arguments;
mod difference;
mod judge;
mod kind;
mod report;
mod row;

use std::process::ExitCode;

use arguments::Arguments;
use report::{Progress, Report};
use row::CannotRead;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match Arguments::parse(&words).and_then(|arguments| compare(&arguments)) {
        Ok(report) if report.differing() == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(CannotRead(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Judges every row of every file; stops at the first row that cannot be read.
fn compare(arguments: &Arguments) -> Result<Report, CannotRead> {
    let mut report = Report::new(arguments.kind.name);
    for file in &arguments.files {
        let rows = row::read(file)?;
        let mut progress = Progress::new(file, rows.len());
        for row in &rows {
            let verdict = judge::judge(arguments.kind, row);
            report.add(row, &verdict, arguments.detail);
            progress.step();
        }
    }
    report.print(arguments.ending);
    Ok(report)
}
