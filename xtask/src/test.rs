//! Everything that must hold before a change lands, step by step; CI runs exactly this.

mod counts;

use std::io::IsTerminal;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cli::{Accepts, Args, CannotRun, Flag, Outcome, Task};
use crate::layering;
use crate::workspace::{self, Workspace};
use counts::TestCounts;

pub(crate) const TASK: Task = Task {
    name: "test",
    summary: "Runs layering, formatting, lints, tests and documentation checks",
    usage: "[--only STEP]... [--package P]... [--list]",
    help: "\
Every step runs even when an earlier one failed; the summary names the failed ones and how to repeat them.
Nothing outside the workspace is read, snapshots are compared and never written, and property tests start from a
fixed seed, so two runs say the same.

Examples:
  cargo xtask test                                 everything, as CI does
  cargo xtask test --list                          the steps and what they run
  cargo xtask test --only fmt --only clippy        two steps
  cargo xtask test --package openclaw-classify     every step, for one crate
  cargo xtask bless                                accept snapshots that changed on purpose",
    accepts: Accepts::Flags(&[
        Flag { name: "--only", value: Some("STEP"), help: "run this step; may be repeated" },
        Flag { name: "--package", value: Some("P"), help: "look at this crate alone; may be repeated" },
        Flag { name: "--list", value: None, help: "list the steps and their commands, run nothing" },
    ]),
    run: |args| run(&Workspace::find()?, args),
};

/// Property tests begin here, so that a red run can be repeated.
const PROPTEST_SEED: &str = "20260101";

/// Stands in a command for the crates that are looked at.
const SCOPE: &str = "<scope>";

/// One step: what it is called, and what it does.
struct Step {
    name: &'static str,
    action: StepAction,
    scope: Scope,
    /// The usual next move after it failed.
    remedy: &'static str,
}

/// What a step starts.
#[derive(Clone, Copy)]
enum StepAction {
    /// The layering check, which is ours.
    Layering,
    /// Cargo, with these words.
    Cargo(&'static [&'static str]),
    /// Documentation with these words; warnings of rustdoc are errors.
    Docs(&'static [&'static str]),
    /// Tests that are counted, with these words.
    Doctests(&'static [&'static str]),
    /// Tests that are counted, with these words where nextest is installed, and with those where it is not.
    Tests(&'static [&'static str], &'static [&'static str]),
}

/// How a step names the crates it looks at.
#[derive(Clone, Copy)]
enum Scope {
    /// All of them are `--all`.
    Formatted,
    /// All of them are the workspace.
    Workspace,
    /// Only those whose database engine is a feature; without it they must still build and test clean.
    WithEngine,
}

/// In running order; quick and telling first.
#[rustfmt::skip]
const STEPS: &[Step] = &[
    Step { name: "layering", scope: Scope::Workspace,  remedy: "", action: StepAction::Layering },
    Step { name: "rules",    scope: Scope::Workspace,  remedy: "", action: StepAction::Cargo(&["xtask", "trace"]) },
    Step { name: "fmt",      scope: Scope::Formatted,  remedy: "   (cargo fmt --all mends it)", action: StepAction::Cargo(&["fmt", SCOPE, "--check"]) },
    Step { name: "clippy",   scope: Scope::Workspace,  remedy: "", action: StepAction::Cargo(&["clippy", SCOPE, "--all-targets", "--all-features", "--keep-going", "--", "-D", "warnings"]) },
    Step { name: "features", scope: Scope::WithEngine, remedy: "", action: StepAction::Cargo(&["clippy", SCOPE, "--all-targets", "--no-default-features", "--", "-D", "warnings"]) },
    Step { name: "tests",    scope: Scope::Workspace,  remedy: "   (cargo xtask bless, when a snapshot changed on purpose)", action: StepAction::Tests(
        &["nextest", "run", SCOPE, "--all-features", "--no-fail-fast"],
        &["test", SCOPE, "--all-features", "--no-fail-fast", "--all-targets"],
    ) },
    Step { name: "doctests", scope: Scope::Workspace,  remedy: "", action: StepAction::Doctests(&["test", SCOPE, "--all-features", "--no-fail-fast", "--doc"]) },
    Step { name: "docs",     scope: Scope::Workspace,  remedy: "", action: StepAction::Docs(&["doc", SCOPE, "--all-features", "--no-deps", "--keep-going"]) },
];

/// The crates whose database engine is a feature.
const WITH_ENGINE: &[&str] = &["openclaw-auth-store", "openclaw-session"];

/// What became of a step.
enum StepResult {
    Passed,
    Failed,
    /// It does not concern the chosen crates.
    Skipped,
    Broken(CannotRun),
}

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    let only: Vec<&str> = args.values("--only").collect();
    let packages: Vec<&str> = args.values("--package").collect();
    if let Some(unknown) = only
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != **name))
    {
        let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
        return Err(CannotRun(format!(
            "there is no step `{unknown}`; the steps are {}",
            names.join(", ")
        )));
    }
    let steps: Vec<&Step> = STEPS
        .iter()
        .filter(|step| only.is_empty() || only.contains(&step.name))
        .collect();
    let nextest = has_nextest(workspace);
    if args.has("--list") {
        for step in steps {
            match words(step, &packages, nextest) {
                Some(words) if words.is_empty() => {
                    println!("{:<10}the table in xtask/src/layering.rs", step.name);
                }
                Some(words) => println!("{:<10}cargo {}", step.name, words.join(" ")),
                None => println!("{:<10}(does not concern these crates)", step.name),
            }
        }
        return Ok(Outcome::Clean);
    }
    // A workspace that cargo cannot load fails every step with the same words.
    workspace::output(
        workspace
            .cargo()
            .args(["metadata", "--no-deps", "--format-version", "1"]),
    )?;
    let mut counts = TestCounts::default();
    let mut fates = Vec::new();
    let begun = now();
    for step in steps {
        println!("\n==> {}", step.name);
        let begun = now();
        let fate = match words(step, &packages, nextest) {
            None => StepResult::Skipped,
            Some(words) => perform(workspace, step, &words, &mut counts),
        };
        let took = begun.elapsed();
        match &fate {
            StepResult::Broken(error) => eprintln!("error: {error}"),
            StepResult::Passed | StepResult::Failed | StepResult::Skipped => {}
        }
        println!("<== {}: {} ({})", step.name, label(&fate), shown(took));
        fates.push((step.name, fate, took));
    }
    summarise(&fates, counts, begun.elapsed())
}

/// The words for cargo; empty for the layering check, `None` when the step has nothing to look at.
fn words(step: &Step, packages: &[&str], nextest: bool) -> Option<Vec<String>> {
    let words = match step.action {
        StepAction::Layering => &[],
        StepAction::Cargo(words) | StepAction::Docs(words) | StepAction::Doctests(words) => words,
        StepAction::Tests(words, plain) => {
            if nextest {
                words
            } else {
                plain
            }
        }
    };
    let scope = scope(step.scope, packages);
    if scope.is_empty() {
        return None;
    }
    let mut spelled: Vec<String> = Vec::new();
    for word in words {
        if *word == SCOPE {
            spelled.extend(scope.iter().map(|&word| word.to_owned()));
        } else {
            spelled.push((*word).to_owned());
        }
    }
    if matches!(step.action, StepAction::Tests(..)) && nextest && !packages.is_empty() {
        // One crate may have doc tests only; the whole workspace without a test is a mistake.
        spelled.push("--no-tests=pass".to_owned());
    }
    Some(spelled)
}

fn scope<'a>(scope: Scope, packages: &[&'a str]) -> Vec<&'a str> {
    let named = |names: &[&'a str]| names.iter().flat_map(|name| ["--package", name]).collect();
    match scope {
        Scope::WithEngine => {
            let chosen = WITH_ENGINE.iter().copied();
            let chosen: Vec<&str> = chosen
                .filter(|name| packages.is_empty() || packages.contains(name))
                .collect();
            named(&chosen)
        }
        Scope::Formatted if packages.is_empty() => vec!["--all"],
        Scope::Workspace if packages.is_empty() => vec!["--workspace"],
        Scope::Formatted | Scope::Workspace => named(packages),
    }
}

fn perform(workspace: &Workspace, step: &Step, words: &[String], counts: &mut TestCounts) -> StepResult {
    let mut command = workspace.cargo();
    command.args(words);
    hermetic(&mut command);
    let success = match step.action {
        StepAction::Layering => layering::run(workspace).map(|outcome| outcome == Outcome::Clean),
        StepAction::Cargo(_) => succeeds(&mut command, words),
        StepAction::Docs(_) => {
            let mut flags = workspace::variable("RUSTDOCFLAGS").unwrap_or_default();
            flags.push(" -D warnings");
            command.env("RUSTDOCFLAGS", flags);
            succeeds(&mut command, words)
        }
        StepAction::Doctests(_) | StepAction::Tests(..) => {
            println!("cargo {}", words.join(" "));
            keep_colour(&mut command);
            workspace::succeeds_heard(&mut command, &mut |line| counts.hear(line))
        }
    };
    match success {
        Ok(true) => StepResult::Passed,
        Ok(false) => StepResult::Failed,
        Err(error) => StepResult::Broken(error),
    }
}

fn succeeds(command: &mut Command, words: &[String]) -> Result<bool, CannotRun> {
    println!("cargo {}", words.join(" "));
    workspace::succeeds(command)
}

/// Snapshots are compared and never written, property tests repeat.
fn hermetic(command: &mut Command) {
    command
        .env("INSTA_UPDATE", "no")
        .env_remove("INSTA_FORCE_PASS")
        .env("PROPTEST_RNG_SEED", PROPTEST_SEED);
}

/// A program whose output is listened to sees no terminal; what a person would have seen in colour stays so.
fn keep_colour(command: &mut Command) {
    let undecided =
        workspace::variable("CARGO_TERM_COLOR").is_none() && workspace::variable("NO_COLOR").is_none();
    if undecided && std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
}

fn has_nextest(workspace: &Workspace) -> bool {
    workspace::output(workspace.cargo().args(["nextest", "--version"])).is_ok()
}

fn summarise(
    fates: &[(&'static str, StepResult, Duration)],
    counts: TestCounts,
    took: Duration,
) -> Result<Outcome, CannotRun> {
    println!("\nSummary ({})", shown(took));
    for (name, fate, took) in fates {
        println!("  {name:<10}{:<10}{:>12}", label(fate), shown(*took));
    }
    let failed: Vec<_> = fates
        .iter()
        .filter(|(_, fate, _)| matches!(fate, StepResult::Failed))
        .collect();
    for (name, _, _) in &failed {
        let remedy = STEPS.iter().find(|step| step.name == *name);
        let remedy = remedy.map_or("", |step| step.remedy);
        println!("again: cargo xtask test --only {name}{remedy}");
    }
    if counts.any() {
        println!("{counts}");
    }
    if !failed.is_empty() {
        return Ok(Outcome::Findings);
    }
    let broken = fates.iter().find_map(|(name, fate, _)| match fate {
        StepResult::Broken(_) => Some(*name),
        StepResult::Passed | StepResult::Failed | StepResult::Skipped => None,
    });
    match broken {
        Some(name) => Err(CannotRun(format!(
            "step {name} could not run; its error stands above"
        ))),
        None => Ok(Outcome::Clean),
    }
}

fn label(fate: &StepResult) -> &'static str {
    match fate {
        StepResult::Passed => "ok",
        StepResult::Failed => "FAILED",
        StepResult::Skipped => "skipped",
        StepResult::Broken(_) => "BROKEN",
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a step took is for the reader, nothing depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

fn shown(took: Duration) -> String {
    let seconds = took.as_secs();
    if seconds < 60 {
        return format!("{seconds}.{} s", took.subsec_millis() / 100);
    }
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests;
