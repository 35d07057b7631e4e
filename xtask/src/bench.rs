//! Measures: hands the gateway and classification to the comparing program, the rest to the crates' own benches.

use crate::cli::{Args, CannotRun, Outcome, Takes, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "bench",
    summary: "Measures crates and gateway beside practical limits of this machine",
    usage: "[NAME]... [--rounds N] [--millis N] [--json FILE]",
    help: "\
Benches are no tests: a target that is missed is shown and fails nothing. Machines differ and jitter, so every figure stands
beside a limit that is measured in the same round, and medians are shown.
  classify      one classification beside one pass that looks for as many phrases
  gateway       the gateway beside a proxy that only forwards, each a process of its own
  chain, runner, auth-store, session     the crate's own benches
Without a name classify and gateway are measured.

Examples:
  cargo xtask bench                                  both, five rounds
  cargo xtask bench gateway --rounds 7 --json out.json
  cargo xtask bench runner",
    takes: Takes::Anything,
    run: |args| run(&Workspace::find()?, args),
};

/// Crates that measure themselves.
const CRATES: &[&str] = &["chain", "runner", "auth-store", "session"];

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    if let Some(name) = args.words.first().filter(|word| CRATES.contains(&word.as_str())) {
        let mut command = workspace.cargo();
        command.args([
            "bench",
            "--package",
            &format!("openclaw-{name}"),
            "--all-features",
        ]);
        return finished(workspace::succeeds(&mut command)?);
    }
    let mut build = workspace.cargo();
    build.args([
        "build",
        "--release",
        "--package",
        "openclaw-gateway",
        "--package",
        "xtask-bench",
    ]);
    if !workspace::succeeds(&mut build)? {
        return Ok(Outcome::Findings);
    }
    let mut command = workspace::cargo_here();
    command
        .args(["run", "--release", "--quiet", "--package", "xtask-bench", "--"])
        .args(&args.words);
    finished(workspace::succeeds(&mut command)?)
}

fn finished(well: bool) -> Result<Outcome, CannotRun> {
    if well {
        Ok(Outcome::Clean)
    } else {
        Err(CannotRun(
            "nothing was measured; the reason stands above".to_owned(),
        ))
    }
}
