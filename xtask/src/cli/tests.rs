//! The parser reads what the help promises and refuses everything else with a remedy.

use super::*;

const PLAIN: Task = Task {
    name: "plain",
    summary: "Does a thing",
    usage: "[--only STEP] [--list]",
    help: "Examples:\n  cargo xtask plain",
    accepts: Accepts::Flags(&[
        Flag {
            name: "--only",
            value: Some("STEP"),
            help: "run one step",
        },
        Flag {
            name: "--list",
            value: None,
            help: "list the steps",
        },
    ]),
    run: |_| Ok(Outcome::Clean),
};

const RAW: Task = Task {
    name: "raw",
    accepts: Accepts::Anything,
    run: |_| Ok(Outcome::Findings),
    ..PLAIN
};

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn flags_are_read_in_either_spelling() {
    for text in ["--only fmt --list --only docs", "--list --only=fmt --only=docs"] {
        let args = parse(&PLAIN, &words(text)).unwrap();
        assert!(args.has("--list"), "{text}");
        assert_eq!(
            args.values("--only").collect::<Vec<_>>(),
            ["fmt", "docs"],
            "{text}"
        );
    }
}

#[test]
fn a_wrong_word_is_refused_with_the_way_out() {
    for (text, part) in [
        ("--all", "see `cargo xtask plain --help`"),
        ("fmt", "see `cargo xtask plain --help`"),
        ("--only", "needs a STEP"),
        ("--list=yes", "takes no value"),
    ] {
        let CannotRun(message) = parse(&PLAIN, &words(text)).unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_task_that_takes_anything_gets_the_words_untouched() {
    let args = parse(&RAW, &words("classify a.jsonl --json")).unwrap();
    assert_eq!(args.words, ["classify", "a.jsonl", "--json"]);
}

#[test]
fn dispatch_runs_the_named_task_and_names_the_others_when_there_is_none() {
    let tasks: &[&Task] = &[&PLAIN, &RAW];
    assert_eq!(dispatch(tasks, &words("plain --list")), Ok(Outcome::Clean));
    assert_eq!(dispatch(tasks, &words("raw x")), Ok(Outcome::Findings));
    assert_eq!(
        dispatch(tasks, &words("raw --help")),
        Ok(Outcome::Clean),
        "help instead of a run"
    );
    let CannotRun(message) = dispatch(tasks, &words("plane")).unwrap_err();
    assert!(message.contains("plain, raw"), "{message}");
    assert!(dispatch(tasks, &[]).is_err(), "no task is no run");
}

#[test]
fn help_shows_every_task_flag_and_example() {
    let text = overview(&[&PLAIN, &RAW]);
    assert!(
        text.contains("plain") && text.contains("raw") && text.contains("Exit codes"),
        "{text}"
    );
    let text = task_help(&PLAIN);
    for part in [
        "cargo xtask plain [--only STEP] [--list]",
        "--only STEP",
        "list the steps",
        "Examples:",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn every_real_task_teaches_by_example() {
    for task in crate::TASKS {
        let text = task_help(task);
        assert!(
            text.contains(&format!("  cargo xtask {}", task.name)),
            "an example in {text}"
        );
    }
}
