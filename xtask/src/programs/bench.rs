//! Measures: hands the gateway and classification to the comparing program, the rest to the crates' own benches.

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "bench",
    summary: "Measures crates and gateway beside practical limits of this machine",
    usage: "[NAME]... [--rounds N] [--millis N] [--json FILE] [--plot FILE] | --check [CASE]... [--write]",
    help: "\
Benches are no tests: a target that is missed is shown and fails nothing. Machines differ and jitter, so every figure stands
beside a limit that is measured in the same round, and medians are shown.
  classify      one classification beside one pass that looks for as many phrases
  gateway       the gateway beside a proxy that only forwards, each a process of its own
  growth        chains, credentials, sessions and decisions at a size, at ten and at a hundred times of it
  large         the gateway with 10 000 credentials and 100 000 sessions beside a hundred of each
  switches      the gateway with everything on beside as little as there can be
  steady        ten minutes of load, and what they leave in memory
  chain, runner, auth-store, session     the crate's own benches
Without a name classify and gateway are measured.

--check counts instead of measuring, and counts do not jitter: what one operation of each hot path allocates, and how many
instructions it executes (by valgrind's callgrind, the difference of two processes of which one does twice as much). The table
shows each count beside its bound in xtask/bench/bounds.tsv. The exit code is 0 when nothing is above its bound, 1 when
something is or has none, 2 when nothing could be counted. Without valgrind allocations alone are compared, and the last line
says so. --write accepts what was counted, with a little room, as the new bounds; it needs valgrind.

Examples:
  cargo xtask bench                                  both, five rounds
  cargo xtask bench gateway --rounds 7 --json out.json
  cargo xtask bench growth --plot docs/bench/growth.svg
  cargo xtask bench runner
  cargo xtask bench --check                          after a change of a hot path
  cargo xtask bench --check run.first-of-three-keys --write",
    accepts: Accepts::Anything,
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
    let checks = args.words.iter().any(|word| word == "--check");
    let mut build = workspace.cargo();
    build.args(["build", "--release", "--package", "xtask-bench"]);
    if !checks {
        build.args(["--package", "openclaw-cli"]);
    }
    if !workspace::succeeds(&mut build)? {
        return Err(CannotRun("what measures does not build".to_owned()));
    }
    let mut command = workspace::cargo_here();
    command
        .args(["run", "--release", "--quiet", "--package", "xtask-bench", "--"])
        .args(&args.words);
    let status = command
        .status()
        .map_err(|error| workspace::cannot_start(&command, &error))?;
    match status.code() {
        Some(1) if checks => Ok(Outcome::Findings),
        code => finished(code == Some(0)),
    }
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
