//! Everything that must hold before a change lands, step by step; CI runs exactly this.

use std::io::IsTerminal;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::cli::{Args, CannotRun, Flag, Outcome, Takes, Task};
use crate::layering;
use crate::test_counts::TestCounts;
use crate::workspace::{self, Workspace};

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
    takes: Takes::Flags(&[
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

/// One step: what it is called, and the words that cargo gets.
struct Step {
    name: &'static str,
    words: &'static [&'static str],
    /// Warnings of rustdoc are errors.
    strict_docs: bool,
}

/// In running order; quick and telling first. An empty command is the layering check, which is ours.
#[rustfmt::skip]
const STEPS: &[Step] = &[
    Step { name: "layering", strict_docs: false, words: &[] },
    Step { name: "rules",    strict_docs: false, words: &["xtask", "trace"] },
    Step { name: "fmt",      strict_docs: false, words: &["fmt", SCOPE, "--check"] },
    Step { name: "clippy",   strict_docs: false, words: &["clippy", SCOPE, "--all-targets", "--all-features", "--keep-going", "--", "-D", "warnings"] },
    Step { name: "features", strict_docs: false, words: &["clippy", SCOPE, "--all-targets", "--no-default-features", "--", "-D", "warnings"] },
    Step { name: "tests",    strict_docs: false, words: &["nextest", "run", SCOPE, "--all-features", "--no-fail-fast"] },
    Step { name: "doctests", strict_docs: false, words: &["test", SCOPE, "--all-features", "--no-fail-fast", "--doc"] },
    Step { name: "docs",     strict_docs: true,  words: &["doc", SCOPE, "--all-features", "--no-deps", "--keep-going"] },
];

/// The crates whose database engine is a feature; without it they must still build and test clean.
const WITHOUT_FEATURES: &[&str] = &["openclaw-auth-store", "openclaw-session"];

/// What `tests` runs where nextest is not installed.
const PLAIN_TESTS: &[&str] = &["test", SCOPE, "--all-features", "--no-fail-fast", "--all-targets"];

/// What became of a step.
enum Fate {
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
            None => Fate::Skipped,
            Some(words) => perform(workspace, step, &words, &mut counts),
        };
        let took = begun.elapsed();
        match &fate {
            Fate::Broken(error) => eprintln!("error: {error}"),
            Fate::Passed | Fate::Failed | Fate::Skipped => {}
        }
        println!("<== {}: {} ({})", step.name, label(&fate), shown(took));
        fates.push((step.name, fate, took));
    }
    summarise(&fates, counts, begun.elapsed())
}

/// The words for cargo; empty for the layering check, `None` when the step has nothing to look at.
fn words(step: &Step, packages: &[&str], nextest: bool) -> Option<Vec<String>> {
    let words = if step.name == "tests" && !nextest {
        PLAIN_TESTS
    } else {
        step.words
    };
    let scope: Vec<String> = match step.name {
        "features" => {
            let chosen = WITHOUT_FEATURES
                .iter()
                .filter(|name| packages.is_empty() || packages.contains(name));
            chosen
                .flat_map(|name| ["--package", name])
                .map(str::to_owned)
                .collect()
        }
        "fmt" if packages.is_empty() => vec!["--all".to_owned()],
        _ if packages.is_empty() => vec!["--workspace".to_owned()],
        _ => packages
            .iter()
            .flat_map(|name| ["--package", name])
            .map(str::to_owned)
            .collect(),
    };
    if scope.is_empty() {
        return None;
    }
    let mut spelled = Vec::new();
    for word in words {
        if *word == SCOPE {
            spelled.extend(scope.iter().cloned());
        } else {
            spelled.push((*word).to_owned());
        }
    }
    if step.name == "tests" && nextest && !packages.is_empty() {
        // One crate may have doc tests only; the whole workspace without a test is a mistake.
        spelled.push("--no-tests=pass".to_owned());
    }
    Some(spelled)
}

fn perform(workspace: &Workspace, step: &Step, words: &[String], counts: &mut TestCounts) -> Fate {
    if words.is_empty() {
        return match layering::run(workspace) {
            Ok(Outcome::Clean) => Fate::Passed,
            Ok(Outcome::Findings) => Fate::Failed,
            Err(error) => Fate::Broken(error),
        };
    }
    println!("cargo {}", words.join(" "));
    let mut command = workspace.cargo();
    command.args(words);
    hermetic(&mut command);
    if step.strict_docs {
        let mut flags = workspace::variable("RUSTDOCFLAGS").unwrap_or_default();
        flags.push(" -D warnings");
        command.env("RUSTDOCFLAGS", flags);
    }
    let counted = matches!(step.name, "tests" | "doctests");
    let success = if counted {
        keep_colour(&mut command);
        workspace::succeeds_heard(&mut command, &mut |line| counts.hear(line))
    } else {
        workspace::succeeds(&mut command)
    };
    match success {
        Ok(true) => Fate::Passed,
        Ok(false) => Fate::Failed,
        Err(error) => Fate::Broken(error),
    }
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
    fates: &[(&'static str, Fate, Duration)],
    counts: TestCounts,
    took: Duration,
) -> Result<Outcome, CannotRun> {
    println!("\nSummary ({})", shown(took));
    for (name, fate, took) in fates {
        println!("  {name:<10}{:<10}{:>12}", label(fate), shown(*took));
    }
    let failed: Vec<_> = fates
        .iter()
        .filter(|(_, fate, _)| matches!(fate, Fate::Failed))
        .collect();
    for (name, _, _) in &failed {
        println!("again: cargo xtask test --only {name}{}", remedy(name));
    }
    if counts.any() {
        println!("{counts}");
    }
    if !failed.is_empty() {
        return Ok(Outcome::Findings);
    }
    let broken = fates.iter().find_map(|(name, fate, _)| match fate {
        Fate::Broken(_) => Some(*name),
        Fate::Passed | Fate::Failed | Fate::Skipped => None,
    });
    match broken {
        Some(name) => Err(CannotRun(format!(
            "step {name} could not run; its error stands above"
        ))),
        None => Ok(Outcome::Clean),
    }
}

/// The usual next move after a red step.
fn remedy(step: &str) -> &'static str {
    match step {
        "fmt" => "   (cargo fmt --all mends it)",
        "tests" => "   (cargo xtask bless, when a snapshot changed on purpose)",
        _ => "",
    }
}

fn label(fate: &Fate) -> &'static str {
    match fate {
        Fate::Passed => "ok",
        Fate::Failed => "FAILED",
        Fate::Skipped => "skipped",
        Fate::Broken(_) => "BROKEN",
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
