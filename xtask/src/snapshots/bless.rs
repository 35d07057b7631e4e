//! Shows what snapshots would change and accepts them, one by one or all.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use super::{Pending, pending};
use crate::cli::{Accepts, Args, CannotRun, Flag, Outcome, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "bless",
    summary: "Runs the tests, shows changed snapshots and accepts them",
    usage: "[--package P]... [--yes | --reject]",
    help: "\
The tests run once and write what they saw beside each snapshot that no longer fits (`*.snap.new`). Each difference is
shown; on a terminal you answer y (accept), n (leave it as it was), a (accept this and all others) or q (stop here).
Without a terminal nothing is accepted unless --yes says so. Read the difference as you would read code: it is what
users see.

Examples:
  cargo xtask bless                               look and answer
  cargo xtask bless --package openclaw-runner     the snapshots of one crate
  cargo xtask bless --yes                         accept everything, then read `git diff`
  cargo xtask bless --reject                      throw waiting snapshots away without running anything",
    accepts: Accepts::Flags(&[
        Flag { name: "--package", value: Some("P"), help: "run the tests of this crate alone; may be repeated" },
        Flag { name: "--yes", value: None, help: "accept every difference" },
        Flag { name: "--reject", value: None, help: "remove every waiting snapshot" },
    ]),
    run: |args| run(&Workspace::find()?, args),
};

/// What the person at the terminal says to one difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accept,
    AcceptAll,
    Leave,
    Stop,
}

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    if args.has("--yes") && args.has("--reject") {
        return Err(CannotRun("--yes and --reject exclude each other".to_owned()));
    }
    // What waits from an earlier run may no longer be what the code says.
    let removed = clear(workspace.root())?;
    if args.has("--reject") {
        println!("{removed} waiting snapshots removed");
        return Ok(Outcome::Clean);
    }
    println!("running the tests to see which snapshots changed");
    let mut command = workspace.cargo();
    command.args(["test", "--all-features", "--no-fail-fast", "--all-targets"]);
    let packages: Vec<_> = args.values("--package").collect();
    if packages.is_empty() {
        command.arg("--workspace");
    }
    command.args(packages.iter().flat_map(|name| ["--package", name]));
    command.env("INSTA_UPDATE", "new").env("INSTA_FORCE_PASS", "1");
    let green = workspace::succeeds(&mut command)?;

    let waiting =
        pending(workspace.root()).map_err(|error| workspace::cannot_use(workspace.root(), &error))?;
    let mut ask = asker(args);
    let (mut accepted, mut left) = (0, 0);
    for (at, snapshot) in waiting.iter().enumerate() {
        let target = snapshot.target();
        let name = target.strip_prefix(workspace.root()).unwrap_or(&target);
        let difference = snapshot
            .difference()
            .map_err(|error| workspace::cannot_use(name, &error))?;
        println!(
            "\n{} ({} of {})\n{}",
            name.display(),
            at + 1,
            waiting.len(),
            difference.trim_end()
        );
        match ask()? {
            Answer::Accept | Answer::AcceptAll => {
                snapshot
                    .accept()
                    .map_err(|error| workspace::cannot_use(name, &error))?;
                accepted += 1;
            }
            Answer::Leave | Answer::Stop => {
                snapshot
                    .reject()
                    .map_err(|error| workspace::cannot_use(name, &error))?;
                left += 1;
            }
        }
    }
    println!("\n{accepted} accepted, {left} left as they were");
    if !green {
        println!(
            "tests failed for other reasons than a snapshot; `cargo xtask test --only tests` shows them"
        );
    }
    if left > 0 && !args.has("--yes") && !std::io::stdin().is_terminal() {
        println!("accept them with `cargo xtask bless --yes`, or answer on a terminal");
    }
    Ok(if green && left == 0 {
        Outcome::Clean
    } else {
        Outcome::Findings
    })
}

fn clear(root: &Path) -> Result<usize, CannotRun> {
    let stale = pending(root).map_err(|error| workspace::cannot_use(root, &error))?;
    for snapshot in &stale {
        Pending::reject(snapshot).map_err(|error| workspace::cannot_use(&snapshot.target(), &error))?;
    }
    Ok(stale.len())
}

/// Who decides: `--yes`, the person at the terminal, or nobody.
fn asker(args: &Args) -> impl FnMut() -> Result<Answer, CannotRun> {
    let mut settled = if args.has("--yes") {
        Some(Answer::AcceptAll)
    } else if std::io::stdin().is_terminal() {
        None
    } else {
        Some(Answer::Stop)
    };
    move || {
        let answer = match settled {
            Some(answer) => answer,
            None => asked(&mut std::io::stdin().lock())?,
        };
        if matches!(answer, Answer::AcceptAll | Answer::Stop) {
            settled = Some(answer);
        }
        Ok(answer)
    }
}

/// Asks until the answer is one of the four; the end of input stops.
fn asked(input: &mut impl BufRead) -> Result<Answer, CannotRun> {
    loop {
        print!("accept? [y]es [n]o [a]ll [q]uit: ");
        let mut line = String::new();
        std::io::stdout()
            .flush()
            .and_then(|()| input.read_line(&mut line))
            .map_err(|error| CannotRun(format!("cannot read your answer: {error}; use --yes or --reject")))?;
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Accept),
            "n" | "no" => return Ok(Answer::Leave),
            "a" | "all" => return Ok(Answer::AcceptAll),
            "q" | "quit" => return Ok(Answer::Stop),
            _ if line.is_empty() => return Ok(Answer::Stop),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, asked};

    #[test]
    fn an_answer_is_asked_for_until_it_is_understood() {
        for (typed, expected) in [
            ("y\n", Answer::Accept),
            (" NO \n", Answer::Leave),
            ("a\n", Answer::AcceptAll),
            ("maybe\n\nq\n", Answer::Stop),
            ("", Answer::Stop),
        ] {
            assert_eq!(asked(&mut typed.as_bytes()), Ok(expected), "{typed:?}");
        }
    }
}
