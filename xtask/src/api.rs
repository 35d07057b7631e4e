//! Lists what each crate offers to others, and shows what became of it since it was last written down.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::diff;
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "api",
    summary: "Compares each crate's public items with the list in docs/api",
    usage: "[--write] [CRATE]...",
    help: "\
Lists every public item of each library crate, or of those that are named, and compares the list with docs/api/<crate>.txt;
--write writes it there. A line that comes or goes is a promise made or broken: read the difference before you commit it.

The lists are made with cargo-public-api, which reads what rustdoc of a nightly toolchain writes:

  cargo install cargo-public-api --locked
  rustup toolchain install nightly --profile minimal

Examples:
  cargo xtask api                              what changed, in every crate
  cargo xtask api openclaw-cooldown            in one
  cargo xtask api --write                      write the lists, then read `git diff docs/api`",
    accepts: Accepts::Anything,
    run: |args| run(&Workspace::find()?, args),
};

const FOLDER: &str = "docs/api";
const CRATES: &str = "crates";

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    let crates = libraries(workspace.root())?;
    let asked = ApiArguments::read(&args.words, &crates)?;
    check_installed(workspace)?;
    let mut outcome = Outcome::Clean;
    for name in &asked.crates {
        println!("{name}");
        let path = workspace.root().join(FOLDER).join(format!("{name}.txt"));
        let listing = listing(workspace, name)?;
        if asked.write {
            fs::create_dir_all(workspace.root().join(FOLDER))
                .and_then(|()| fs::write(&path, listing))
                .map_err(|error| workspace::cannot_use(&path, &error))?;
            continue;
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        let difference = diff::unified(&known, &listing);
        if !difference.is_empty() {
            print!("{difference}");
            outcome = Outcome::Findings;
        }
    }
    if outcome == Outcome::Findings {
        println!("if this is meant, write it down with `cargo xtask api --write`");
    }
    Ok(outcome)
}

/// What the words after the task ask for.
#[derive(Debug, PartialEq, Eq)]
struct ApiArguments {
    write: bool,
    crates: Vec<String>,
}

impl ApiArguments {
    fn read(words: &[String], known: &BTreeSet<String>) -> Result<Self, CannotRun> {
        let (flags, names): (Vec<_>, Vec<_>) = words.iter().cloned().partition(|word| word.starts_with('-'));
        if let Some(other) = flags.iter().find(|flag| *flag != "--write") {
            return Err(CannotRun(format!(
                "`api` does not take `{other}`; see `cargo xtask api --help`"
            )));
        }
        if let Some(other) = names.iter().find(|name| !known.contains(*name)) {
            let known: Vec<_> = known.iter().map(String::as_str).collect();
            return Err(CannotRun(format!(
                "there is no library crate `{other}`; there are {}",
                known.join(", ")
            )));
        }
        Ok(Self {
            write: !flags.is_empty(),
            crates: if names.is_empty() {
                known.iter().cloned().collect()
            } else {
                names
            },
        })
    }
}

/// The crates that others can build on.
fn libraries(root: &Path) -> Result<BTreeSet<String>, CannotRun> {
    let folder = root.join(CRATES);
    let entries = fs::read_dir(&folder).map_err(|error| workspace::cannot_use(&folder, &error))?;
    Ok(entries
        .flatten()
        .filter(|entry| entry.path().join("src/lib.rs").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect())
}

fn check_installed(workspace: &Workspace) -> Result<(), CannotRun> {
    workspace::output(workspace.cargo().args(["public-api", "--version"]))
        .map(drop)
        .map_err(|_| {
            CannotRun(
                "cargo-public-api is missing; install it with `cargo install cargo-public-api --locked` and \
                 `rustup toolchain install nightly --profile minimal`"
                    .to_owned(),
            )
        })
}

fn listing(workspace: &Workspace, name: &str) -> Result<String, CannotRun> {
    let mut command = workspace.cargo();
    command.args(["public-api", "--package", name, "--all-features"]);
    command.args(["--omit", "blanket-impls,auto-trait-impls", "--color", "never"]);
    let items = workspace::output(&mut command).map_err(|CannotRun(said)| {
        CannotRun(format!(
            "{said}\nif no nightly toolchain is the reason: `rustup toolchain install nightly --profile minimal`"
        ))
    })?;
    Ok(without_trait_items(&items))
}

/// Leaves out what an implementation of a trait of somebody else has to have: that there is one says it all.
fn without_trait_items(items: &str) -> String {
    let mut kept = String::new();
    let mut owner = None;
    for line in items.lines() {
        if line.starts_with("impl") {
            owner = implementor(line);
            if line.contains("StructuralPartialEq") {
                continue;
            }
        } else if let Some(owner) = owner
            && [" fn ", " type ", " const "]
                .iter()
                .any(|kind| line.contains(&format!("{kind}{owner}::")))
        {
            continue;
        } else {
            owner = None;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// The type in the head of an implementation of a trait of the standard library or of serde.
fn implementor(head: &str) -> Option<&str> {
    let (named, owner) = head.split_once(" for ")?;
    let is_foreign = ["core::", "alloc::", "std::", "serde_core::"]
        .iter()
        .any(|root| after_generics(named).starts_with(root));
    is_foreign.then(|| owner.split(" where ").next().unwrap_or(owner))
}

/// What follows `impl` and, where there are any, its parameters.
fn after_generics(head: &str) -> &str {
    let head = head.trim_start_matches("impl");
    let mut depth = 0_u32;
    for (at, letter) in head.char_indices() {
        match letter {
            '<' => depth = depth.saturating_add(1),
            '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 => return head[at..].trim_start(),
            _ => {}
        }
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn every_crate_is_listed_unless_some_are_named() {
        let known: BTreeSet<_> = words("a b").into_iter().collect();
        for (text, write, crates) in [
            ("", false, "a b"),
            ("--write", true, "a b"),
            ("b --write", true, "b"),
            ("b a", false, "b a"),
        ] {
            let asked = ApiArguments {
                write,
                crates: words(crates),
            };
            assert_eq!(ApiArguments::read(&words(text), &known), Ok(asked), "{text}");
        }
        for wrong in ["--wirte", "c"] {
            let CannotRun(error) = ApiArguments::read(&words(wrong), &known).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn a_foreign_trait_is_one_line_and_our_own_is_listed_whole() {
        let items = "\
pub struct c::S
impl c::S
pub fn c::S::new() -> Self
impl c::Ours for c::S
pub fn c::S::ours(&self)
impl core::clone::Clone for c::S
pub fn c::S::clone(&self) -> c::S
impl core::marker::StructuralPartialEq for c::S
impl core::str::traits::FromStr for c::S
pub type c::S::Err = c::E
pub fn c::S::from_str(&str) -> core::result::Result<Self, Self::Err>
impl<'de> serde_core::de::Deserialize<'de> for c::T<'de>
pub fn c::T<'de>::deserialize<D>(D) -> D
impl core::convert::From<(alloc::A, c::S)> for c::S
pub fn c::S::from((alloc::A, c::S)) -> Self
pub fn c::free(&str)
";
        assert_eq!(
            without_trait_items(items),
            "\
pub struct c::S
impl c::S
pub fn c::S::new() -> Self
impl c::Ours for c::S
pub fn c::S::ours(&self)
impl core::clone::Clone for c::S
impl core::str::traits::FromStr for c::S
impl<'de> serde_core::de::Deserialize<'de> for c::T<'de>
impl core::convert::From<(alloc::A, c::S)> for c::S
pub fn c::free(&str)
"
        );
    }

    #[test]
    fn every_library_has_its_list() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let listed: BTreeSet<_> = fs::read_dir(root.join(FOLDER))
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(listed, libraries(root).unwrap());
    }
}
