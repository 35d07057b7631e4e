//! Starts the upstream that fails on request; it is a package of its own, this one stays free of dependencies.

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace;

pub(crate) const TASK: Task = Task {
    name: "faultwall",
    summary: "Runs an upstream that fails on request, to try failover against",
    usage: "[--bind ADDRESS] [--config]",
    help: "\
The program explains itself at length with --help.

Examples:
  cargo xtask faultwall                           listens on 127.0.0.1:4100
  cargo xtask faultwall --config > wall.json5     a configuration to try failover with",
    accepts: Accepts::AnythingAndHelp,
    run,
};

fn run(args: &Args) -> Result<Outcome, CannotRun> {
    let mut command = workspace::cargo_here();
    command
        .args(["run", "--quiet", "--package", "xtask-faultwall", "--"])
        .args(&args.words);
    if workspace::succeeds(&mut command)? {
        Ok(Outcome::Clean)
    } else {
        Err(CannotRun(
            "the wall could not run; the reason stands above".to_owned(),
        ))
    }
}
