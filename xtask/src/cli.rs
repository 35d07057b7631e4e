//! What may be typed after `cargo xtask`: tasks as rows, and the small parser and help that walk them.

use std::fmt;

/// One task: a row of the help and the function behind it.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) summary: &'static str,
    /// What follows the name in the usage line.
    pub(crate) usage: &'static str,
    /// Prose and examples of the task's own help, one sentence per line.
    pub(crate) help: &'static str,
    pub(crate) accepts: Accepts,
    pub(crate) run: fn(&Args) -> Result<Outcome, CannotRun>,
}

/// Which words a task accepts.
pub(crate) enum Accepts {
    /// Every word is handed on as it is; another program reads them.
    Anything,
    /// As [`Anything`](Self::Anything), and `--help` is that program's own.
    AnythingAndHelp,
    /// These flags and nothing else.
    Flags(&'static [Flag]),
}

/// An option of a task.
pub(crate) struct Flag {
    pub(crate) name: &'static str,
    /// The name of the value that follows; `None` for a switch.
    pub(crate) value: Option<&'static str>,
    pub(crate) help: &'static str,
}

/// How a task that could run ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing to report (exit code 0).
    Clean,
    /// The task worked and found something wrong (exit code 1).
    Findings,
}

/// Why a task could not do its work, with the remedy (exit code 2).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CannotRun(pub(crate) String);

impl fmt::Display for CannotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The words after the task's name, sorted by what they are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    flags: Vec<(&'static str, Option<String>)>,
    /// Only for tasks that take anything.
    pub(crate) words: Vec<String>,
}

impl Args {
    /// Whether the switch was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, _)| *flag == name)
    }

    /// Every value given for the flag, in order.
    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.flags
            .iter()
            .filter(move |(flag, _)| *flag == name)
            .filter_map(|(_, value)| value.as_deref())
    }
}

/// Finds the task that `words` name and runs it, or prints the help they ask for.
pub(crate) fn dispatch(tasks: &[&Task], words: &[String]) -> Result<Outcome, CannotRun> {
    let Some((name, rest)) = words.split_first() else {
        print!("{}", overview(tasks));
        return Err(CannotRun("name a task".to_owned()));
    };
    if is_help(name) || name == "help" {
        print!("{}", overview(tasks));
        return Ok(Outcome::Clean);
    }
    let Some(task) = tasks.iter().find(|task| task.name == name) else {
        let names: Vec<_> = tasks.iter().map(|task| task.name).collect();
        return Err(CannotRun(format!(
            "there is no task `{name}`; the tasks are {}",
            names.join(", ")
        )));
    };
    if !matches!(task.accepts, Accepts::AnythingAndHelp) && rest.iter().any(|word| is_help(word)) {
        print!("{}", task_help(task));
        return Ok(Outcome::Clean);
    }
    let args = parse(task, rest)?;
    (task.run)(&args)
}

fn is_help(word: &str) -> bool {
    word == "--help" || word == "-h"
}

fn parse(task: &Task, words: &[String]) -> Result<Args, CannotRun> {
    let flags = match task.accepts {
        Accepts::Anything | Accepts::AnythingAndHelp => {
            return Ok(Args {
                flags: Vec::new(),
                words: words.to_vec(),
            });
        }
        Accepts::Flags(flags) => flags,
    };
    let mut args = Args::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, inline) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
            return Err(CannotRun(format!(
                "`{}` does not take `{word}`; see `cargo xtask {} --help`",
                task.name, task.name
            )));
        };
        let value = match (flag.value, inline) {
            (None, None) => None,
            (None, Some(_)) => return Err(CannotRun(format!("`{name}` takes no value"))),
            (Some(_), Some(value)) => Some(value),
            (Some(kind), None) => match words.next() {
                Some(value) => Some(value.clone()),
                None => return Err(CannotRun(format!("`{name}` needs a {kind} after it"))),
            },
        };
        args.flags.push((flag.name, value));
    }
    Ok(args)
}

fn overview(tasks: &[&Task]) -> String {
    let rows: Vec<_> = tasks
        .iter()
        .map(|task| format!("  {:<10}{}", task.name, task.summary))
        .collect();
    format!(
        "\
The tasks of this workspace.

Usage: cargo xtask <task> [options]

Tasks:
{}

Examples:
  cargo xtask test                  everything CI runs, in CI's order
  cargo xtask test --only clippy    one step of it
  cargo xtask bless                 look at changed snapshots and accept them

Exit codes: 0 nothing wrong, 1 findings, 2 could not run.
`cargo xtask <task> --help` explains one task.
",
        rows.join("\n")
    )
}

fn task_help(task: &Task) -> String {
    let mut lines = vec![
        task.summary.to_owned(),
        String::new(),
        format!("Usage: cargo xtask {} {}", task.name, task.usage)
            .trim_end()
            .to_owned(),
        String::new(),
    ];
    if let Accepts::Flags(flags) = task.accepts
        && !flags.is_empty()
    {
        lines.push("Options:".to_owned());
        lines.extend(flags.iter().map(|flag| {
            let spelled = flag
                .value
                .map_or_else(|| flag.name.to_owned(), |kind| format!("{} {kind}", flag.name));
            format!("  {spelled:<18}{}", flag.help)
        }));
        lines.push(String::new());
    }
    lines.push(task.help.to_owned());
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests;
