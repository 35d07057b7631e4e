//! Fuzzes what reads bytes from outside, one target after another; needs a nightly toolchain and cargo-fuzz.

use std::process::{Command, Stdio};

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "fuzz",
    summary: "Fuzzes what reads bytes from outside, one target after another",
    usage: "[TARGET]... [--minutes N] [--list]",
    help: "\
Each target lives in the folder `fuzz` of its crate, a workspace of its own: it is built by cargo-fuzz with a nightly toolchain
and is no part of `cargo xtask test`. Without a name every target runs, for ten minutes each unless --minutes says otherwise.
What a target finds it keeps in `fuzz/corpus`, which makes the next run start where this one ended; a failing input lands in
`fuzz/artifacts`, and the command that plays it again is printed. The exit code is 1 when something was found.

Examples:
  cargo xtask fuzz                            all targets, ten minutes each
  cargo xtask fuzz stream splice --minutes 30
  cargo xtask fuzz --list                     what each target feeds to what",
    accepts: Accepts::Anything,
    run: |args| run(&Workspace::find()?, args),
};

/// A target, the crate that it belongs to, and what it is about.
struct Target {
    name: &'static str,
    of: &'static str,
    about: &'static str,
}

#[rustfmt::skip]
const TARGETS: &[Target] = &[
    Target { name: "classify", of: "classify",   about: "failures and rules of one's own: a verdict within bounds, the same each time" },
    Target { name: "legacy",   of: "auth-store", about: "auth-profiles.json, auth-state.json, auth.json and oauth.json, brought into a store twice" },
    Target { name: "rows",     of: "auth-store", about: "the rows of the SQLite tables, read, marked and read again" },
    Target { name: "sessions", of: "session",    about: "sessions.json, entries, choices and fallbacks on top of them" },
    Target { name: "run",      of: "runner",     about: "runs over scripts of outcomes, lost writes and clocks that jump" },
    Target { name: "config",   of: "gateway",    about: "openclaw.json and failover.json5: parsing, lint and chains" },
    Target { name: "request",  of: "gateway",    about: "request bodies and headers: model, tool-call ids, selection" },
    Target { name: "stream",   of: "upstream",   about: "answers of the three streaming formats in any pieces" },
    Target { name: "splice",   of: "upstream",   about: "an answer that breaks off and another that takes over" },
];

const MINUTES: u64 = 10;

/// What may be typed after `cargo xtask fuzz`.
#[derive(Debug, PartialEq, Eq)]
struct FuzzArguments {
    names: Vec<String>,
    minutes: u64,
    list: bool,
}

impl FuzzArguments {
    fn parse(words: &[String]) -> Result<Self, CannotRun> {
        let mut wish = Self {
            names: Vec::new(),
            minutes: MINUTES,
            list: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let minutes = match word.split_once('=') {
                Some(("--minutes", value)) => Some(value.to_owned()),
                _ if word == "--minutes" => Some(words.next().cloned().unwrap_or_default()),
                _ => None,
            };
            if let Some(minutes) = minutes {
                let number = minutes.parse().ok().filter(|number| *number > 0);
                wish.minutes = number.ok_or_else(|| {
                    CannotRun("`--minutes` needs a whole number of minutes after it".to_owned())
                })?;
            } else if word == "--list" {
                wish.list = true;
            } else if TARGETS.iter().any(|target| target.name == word) {
                wish.names.push(word.clone());
            } else {
                let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                return Err(CannotRun(format!(
                    "there is no target `{word}`; the targets are {}",
                    names.join(", ")
                )));
            }
        }
        Ok(wish)
    }

    fn is_for(&self, target: &Target) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| name == target.name)
    }
}

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    let wish = FuzzArguments::parse(&args.words)?;
    let wished: Vec<&Target> = TARGETS.iter().filter(|target| wish.is_for(target)).collect();
    if wish.list {
        for target in wished {
            println!("{:<10}{:<12}{}", target.name, target.of, target.about);
        }
        return Ok(Outcome::Clean);
    }
    require(
        &["--version"],
        "the nightly toolchain is missing, which fuzzing needs; install it with `rustup toolchain install nightly`",
    )?;
    require(
        &["fuzz", "--version"],
        "cargo-fuzz is missing; install it with `cargo install cargo-fuzz`, which needs a C++ compiler",
    )?;
    let mut found = Vec::new();
    for target in wished {
        println!("\n{}: {}, {} min", target.name, target.about, wish.minutes);
        if !workspace::succeeds(&mut fuzzer(workspace, target, wish.minutes)?)? {
            found.push(target.name);
        }
    }
    if found.is_empty() {
        println!("\nnothing was found");
        return Ok(Outcome::Clean);
    }
    println!("\nfound something, or did not build: {}", found.join(", "));
    Ok(Outcome::Findings)
}

/// One target over its corpus and its seeds.
fn fuzzer(workspace: &Workspace, target: &Target, minutes: u64) -> Result<Command, CannotRun> {
    let folder = workspace.root().join(format!("crates/openclaw-{}", target.of));
    let corpus = format!("fuzz/corpus/{}", target.name);
    std::fs::create_dir_all(folder.join(&corpus))
        .map_err(|error| CannotRun(format!("cannot make {corpus} in {}: {error}", folder.display())))?;
    let mut command = nightly();
    command.current_dir(folder).args([
        "fuzz",
        "run",
        target.name,
        &corpus,
        &format!("fuzz/seeds/{}", target.name),
        "--",
        "-dict=fuzz/words.dict",
        "-print_final_stats=1",
        "-timeout=20",
        &format!("-max_total_time={}", minutes.saturating_mul(60)),
    ]);
    Ok(command)
}

/// `cargo +nightly`: rustup's cargo, and not the one of this workspace's toolchain that started this.
fn nightly() -> Command {
    let mut command = Command::new("cargo");
    for name in [
        "CARGO",
        "RUSTC",
        "RUSTUP_TOOLCHAIN",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
    ] {
        command.env_remove(name);
    }
    command.arg("+nightly");
    command
}

fn require(words: &[&str], otherwise: &str) -> Result<(), CannotRun> {
    let mut command = nightly();
    command.args(words).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => Err(CannotRun(otherwise.to_owned())),
    }
}

#[cfg(test)]
mod tests;
