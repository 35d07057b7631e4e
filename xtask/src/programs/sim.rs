//! Hands a simulation over to the playing program, which knows the crates; this one stays free of dependencies.

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace;

pub(crate) const TASK: Task = Task {
    name: "sim",
    summary: "Plays days of many sessions over failing providers in virtual time, and checks every step",
    usage: "[--seed N | --seeds A..B] [--hours H] [--taped PER_MILLE] [--calm] [--json]",
    help: "\
Each seed is a world: providers with limits, outages, dead keys and unpaid bills, agents with chains, processes with
clocks that may be wrong, sessions that come and go, callers that cancel and processes that die. The engine is the real
one; what must hold of every run is listed in docs/invariants.md and checked by calculations that share no code with it.
Without options it plays seeds 1..11 for 24 hours each. --taped says how many of a thousand runs are recorded and played
again; --calm leaves out the times in which stores cannot be written. The table at the end says how many runs each check
concerned. The exit code is 1 when something does not hold; the smallest world in which it does not is then told as a story,
with the command that plays it again.

Examples:
  cargo xtask sim --seed 7 --hours 48
  cargo xtask sim --seeds 1..301 --hours 24 --json     the last line is one object",
    accepts: Accepts::Anything,
    run,
};

fn run(args: &Args) -> Result<Outcome, CannotRun> {
    let mut command = workspace::cargo_here();
    command
        .args(["run", "--release", "--quiet", "--package", "xtask-sim", "--"])
        .args(&args.words);
    workspace::handed_on(&mut command, "the simulation")
}
