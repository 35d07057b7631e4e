//! Hands a corpus over to the comparing program, which knows the crates; this one stays free of dependencies.

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace;

pub(crate) const TASK: Task = Task {
    name: "corpus",
    summary: "Compares the crates' answers with files of recorded answers",
    usage: "<kind> FILE... [--json] [--all]",
    help: "\
Kinds: classify, real-errors, chain, order, cooldown, run.
A row agrees; or is disputed (the corpus marks it so); or is decided (a decision that its input calls for explains the
difference, and an independent calculation confirms the new value); or differs. Each row counts once, in that order.
Every row that differs is printed with what was expected and what came, then the counts. --all prints disputed and
decided rows too, --json makes the last line one object. The exit code is 1 when a row differs, 2 when a file cannot be read.

Examples:
  cargo xtask corpus classify classify.jsonl
  cargo xtask corpus chain chain.jsonl --json
  cargo xtask corpus order order.jsonl --all",
    accepts: Accepts::Anything,
    run,
};

fn run(args: &Args) -> Result<Outcome, CannotRun> {
    // Files are named relative to where the user stands, so cargo is started there.
    let mut command = workspace::cargo_here();
    command
        .args(["run", "--package", "xtask-corpus", "--"])
        .args(&args.words);
    workspace::handed_on(&mut command, "the comparison")
}
