//! Counts a case in a process of its own: allocations by an allocator that counts, instructions by callgrind.
//!
//! Both are counted over passes that follow a first one, which builds what is built once. The instructions of a pass
//! are the difference between a process with twice the passes and one with half of them, so that starting, preparing
//! and the first pass cancel out.

use std::alloc::System;
use std::process::{Command, Stdio};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use super::cases::Case;
use crate::Failure;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What one operation of a case costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Counts {
    /// Allocations, growths included.
    pub(super) allocations: f64,
    /// Instructions; none without valgrind.
    pub(super) instructions: Option<f64>,
}

/// Does the passes and prints the operations of a pass and what all of them allocated.
pub(super) fn play(case: &Case, passes: usize) -> ! {
    // Always prepared for as many, so that preparing costs the same whatever the number of passes.
    let mut prepared = (case.prepare)(1 + 2 * case.passes);
    (prepared.pass)();
    let region = Region::new(ALLOCATOR);
    for _ in 0..passes {
        (prepared.pass)();
    }
    let change = region.change();
    println!(
        "{} {}",
        prepared.operations,
        change.allocations + change.reallocations
    );
    // What was prepared and not used is not taken apart: that would cost more after fewer passes.
    std::process::exit(0);
}

/// Whether valgrind can be started.
pub(super) fn has_valgrind() -> bool {
    let started = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    started.is_ok_and(|status| status.success())
}

/// Counts one operation of `case`.
pub(super) fn count(case: &Case, valgrind: bool) -> Result<Counts, Failure> {
    let program = std::env::current_exe()?;
    let words = |passes: usize| {
        ["--role", "count", case.name]
            .map(str::to_owned)
            .into_iter()
            .chain([passes.to_string()])
    };
    let text = output(Command::new(&program).args(words(case.passes)))?;
    let mut numbers = text.split_whitespace().map(str::parse::<u32>);
    let (Some(Ok(operations)), Some(Ok(allocations))) = (numbers.next(), numbers.next()) else {
        return Err(format!("{} counted nothing: {text}", case.name).into());
    };
    let all = f64::from(operations) * f64::from(u32::try_from(case.passes)?);
    let instructions = if valgrind {
        let folder = tempfile::tempdir()?;
        let of = |passes: usize| -> Result<u64, Failure> {
            let file = folder.path().join("callgrind.out");
            let mut command = Command::new("valgrind");
            command
                .args(["--tool=callgrind", "--quiet"])
                .arg(format!("--callgrind-out-file={}", file.display()))
                .arg(&program)
                .args(words(passes));
            output(&mut command)?;
            total(&std::fs::read_to_string(&file)?)
                .ok_or_else(|| "callgrind wrote no total; is it a newer version?".into())
        };
        let (once, twice) = (of(case.passes)?, of(2 * case.passes)?);
        Some(as_f64(twice.saturating_sub(once)) / all)
    } else {
        None
    };
    Ok(Counts {
        allocations: f64::from(allocations) / all,
        instructions,
    })
}

/// The instructions that a file of callgrind's sums up.
fn total(file: &str) -> Option<u64> {
    let line = file.lines().find_map(|line| {
        line.strip_prefix("totals: ")
            .or_else(|| line.strip_prefix("summary: "))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

fn output(command: &mut Command) -> Result<String, Failure> {
    let ended = command
        .output()
        .map_err(|error| format!("cannot start {command:?}: {error}"))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(format!("{command:?} failed: {}", said.trim_end()).into());
    }
    Ok(String::from_utf8(ended.stdout)?)
}

/// Counts here are far below the 52 bits that a float keeps whole.
#[expect(clippy::cast_precision_loss, reason = "small counts")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_in_either_line() {
        for (file, expected) in [
            ("events: Ir\nsummary: 120\n\ntotals: 120\n", Some(120)),
            ("events: Ir Dr\nfn=a\ntotals: 77 12\n", Some(77)),
            ("events: Ir\n", None),
            ("totals: many\n", None),
        ] {
            assert_eq!(total(file), expected, "{file}");
        }
    }
}
