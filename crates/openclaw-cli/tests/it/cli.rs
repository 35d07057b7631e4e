//! The operator's commands, run as a person runs them: over a state directory of their own, without a gateway.

mod auth;
mod chain;
mod config;
mod cooldown;
mod dangling;
mod desk;
mod disk;
mod doctor;
mod explain;
mod older;
mod session;
mod simulate;
mod status;

use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) use desk::Desk;

#[test]
fn what_cannot_run_says_why_and_what_to_do() {
    let desk = Desk::new().with_keys();
    let commands: &[&[&str]] = &[
        &["status", "--agent", "No Body"] as &[&str],
        &["chain", "--session", "none"],
        &["chain", "--cron", "nightly"],
        &["chain", "--model", "a/"],
        &["auth", "add", "openai"],
        &["auth", "add", " "],
        &["auth", "add", "openai", "--from-env", "NOT_SET"],
        &["auth", "add", "openai", "--ref", "sk-a-secret-in-the-wrong-place"],
        &[
            "auth",
            "add",
            "openai",
            "--from-env",
            "HOME",
            "--expires",
            "2030-01-01T00:00:00Z",
        ],
        &["auth", "remove", "openai:none"],
        &["auth", "remove", "openai:work", "--agent", "ops"],
        &["auth", "order", "set", "openai", "openai:none"],
        &["auth", "order", "set", "openai", "anthropic:default"],
        &["auth", "test", "mistral"],
        &["cooldown", "clear"],
        &["cooldown", "clear", "nobody"],
        &["cooldown", "set", "openai:work", "--for", "0s"],
        &["cooldown", "set", "openai:work", "--for", "soon"],
        &["cooldown", "set", "openai:none", "--for", "1h"],
        &["explain", "oc-0000000000000000-1"],
        &["explain", "--header", "x"],
        &["explain", "--transport", "smoke"],
        &["explain", "--model", "a/"],
        &["session", "show", "none"],
        &["session", "set", "none", "--model", "a/"],
        &["session", "reset", "none"],
        &["auth", "add", "pa:we ird/..", "--ref", "env:KEY"],
        &["cooldown", "set", "openai:work", "--for", "106751d"],
        &["cooldown", "history", "--since", "zz"],
        &["simulate", "--since", "zz"],
        &["explain", "--status", "999"],
        &["serve", "--bind", "localhost:1"],
    ];
    for arguments in commands {
        desk.refused(arguments);
    }
    insta::assert_snapshot!("refusals", desk.transcript(commands));
}

#[test]
fn readers_change_nothing_and_make_nothing() {
    let never_opened = Desk::new().with_keys();
    never_opened.write(
        "agents/main/sessions/sessions.json",
        r#"{"agent:main:one": {"sessionId": "s", "updatedAt": 1}}"#,
    );
    for desk in [Desk::bare(), Desk::new(), Desk::new().with_keys(), never_opened] {
        let before = desk.contents();
        for arguments in [
            &["status"] as &[&str],
            &["chain"],
            &["auth", "list"],
            &["auth", "order", "get"],
            &["cooldown", "list"],
            &["session", "list"],
            &["session", "export"],
            &["config", "check"],
            &["config", "show"],
            &["lint"],
            &["doctor"],
            &["doctor", "--dry-run"],
            &["cooldown", "history"],
            &["explain"],
            &["explain", "--status", "429"],
        ] {
            let done = desk.run(arguments);
            assert!(done.status < 2, "{arguments:?}: {done:?}");
            assert!(desk.contents() == before, "{arguments:?} changed a file");
        }
    }
}

#[test]
fn commands_that_find_nothing_to_change_make_nothing() {
    for desk in [Desk::bare(), Desk::new()] {
        let before = desk.contents();
        for (arguments, status, told) in [
            (
                &["cooldown", "clear", "--all"] as &[&str],
                0,
                "nothing to set free",
            ),
            (&["cooldown", "clear", "openai"], 2, "has no credential `openai`"),
            (
                &["cooldown", "set", "openai:work", "--for", "2h"],
                2,
                "has no credential",
            ),
            (&["auth", "remove", "openai:work"], 2, "has no credential"),
            (
                &["auth", "order", "set", "openai", "openai:work"],
                2,
                "openai:work",
            ),
            (&["auth", "order", "clear", "openai"], 0, "Cleared the order"),
            (&["session", "reset", "none"], 2, "has no session"),
        ] {
            let done = desk.run(arguments);
            assert_eq!(done.status, status, "{arguments:?}: {done:?}");
            let text = format!("{}{}", done.output, done.error);
            assert!(text.contains(told), "{arguments:?}: {done:?}");
            assert!(desk.contents() == before, "{arguments:?} changed a file");
        }
    }
}

#[test]
fn json_is_json_where_there_is_nothing_to_tell() {
    for desk in [Desk::bare(), Desk::new()] {
        for arguments in [
            &["status"] as &[&str],
            &["chain"],
            &["auth", "list"],
            &["auth", "order", "get"],
            &["auth", "order", "clear", "openai"],
            &["cooldown", "list"],
            &["cooldown", "clear", "--all"],
            &["session", "list"],
            &["config", "check"],
            &["config", "show"],
            &["lint"],
            &["doctor"],
            &["cooldown", "history"],
            &["explain"],
        ] {
            let done = desk.run(&[arguments, &["--json"]].concat());
            assert!(done.status < 2, "{arguments:?}: {done:?}");
            let json = done.json();
            assert!(json.is_object() || json.is_null(), "{arguments:?}: {json}");
        }
        let nothing = desk.run(&["explain", "--stdin", "--json"]);
        assert_eq!((nothing.status, nothing.raw_lines().len()), (1, 0), "{nothing:?}");
    }
}

#[test]
fn every_reader_writes_json() {
    let desk = Desk::new().with_keys();
    for arguments in [
        &["status", "--json"] as &[&str],
        &["chain", "--json"],
        &["auth", "list", "--json"],
        &["auth", "order", "get", "--json"],
        &["cooldown", "list", "--json"],
        &["session", "list", "--json"],
        &["config", "check", "--json"],
        &["config", "show", "--json"],
        &["lint", "--json"],
        &["lint", "--rules", "--json"],
        &["doctor", "--json"],
        &["cooldown", "history", "--json"],
        &["explain", "--status", "429", "--json"],
    ] {
        assert!(desk.run(arguments).json().is_object(), "{arguments:?}");
    }
    let exported = desk.fine(&["session", "export"]).json();
    assert_eq!(exported, serde_json::json!({}));
}

#[test]
fn no_colours_go_into_a_pipe() {
    let desk = Desk::new().with_keys();
    assert!(!desk.fine(&["status"]).output.contains('\u{1b}'));
}

#[test]
fn no_line_of_a_help_is_broken_by_the_width_of_a_terminal() {
    let desk = Desk::bare();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("## `openclaw-gateway"));
    for command in commands {
        let words: Vec<&str> = command.trim_end_matches('`').split_whitespace().collect();
        let help = desk.fine(&[words.as_slice(), &["--help"]].concat()).output;
        let (_, epilogue) = help.split_once("--state-dir").unwrap_or(("", &help));
        for (line, next) in epilogue.lines().zip(epilogue.lines().skip(1)) {
            // A line of examples that was broken goes on at the same indentation, in the middle of a sentence.
            let is_example = line.starts_with("  openclaw-gateway");
            let goes_on =
                next.starts_with("  ") && !next.starts_with("   ") && !next.contains("openclaw-gateway");
            assert!(!(is_example && goes_on), "{words:?}: {line}\n{next}");
        }
    }
}

#[test]
fn names_of_others_do_not_move_the_text_around_them() {
    let desk = Desk::new();
    let done = desk.run_with(
        &[
            "auth",
            "add",
            "openai",
            "--display-name",
            "a",
            "--email",
            "x\u{202e}y\u{1b}[31m",
        ],
        "sk-work-0123456789abcdef",
    );
    assert_eq!(done.status, 0, "{done:?}");
    let key = "agent:main:\u{202e}chat\u{1b}[2J";
    let sessions = serde_json::json!({key: {"sessionId": "s", "updatedAt": 1}});
    desk.write("agents/main/sessions/sessions.json", &sessions.to_string());
    for arguments in [
        &["session", "list"] as &[&str],
        &["status"],
        &["session", "show", key],
    ] {
        let told = desk.fine(arguments).output;
        assert!(!told.contains(['\u{202e}', '\u{1b}']), "{arguments:?}: {told:?}");
    }
    assert!(
        desk.fine(&["session", "list"])
            .output
            .contains("\\u{202e}chat\\u{1b}[2J")
    );
    let refused = desk.refused(&["session", "show", "\u{202e}x"]);
    assert!(!refused.contains('\u{202e}'), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn whoever_wants_no_more_of_the_output_is_told_nothing() {
    let desk = Desk::new().with_keys();
    for arguments in [
        &["config", "show"] as &[&str],
        &["status", "--json"],
        &["lint", "--rules"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
            .args(arguments)
            .env_clear()
            .env("OPENCLAW_STATE_DIR", &desk.root)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The reading end is closed before anything can have been written.
        drop(child.stdout.take());
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8(done.stderr).unwrap(), "", "{arguments:?}");
    }
}

#[test]
fn completions_know_every_command() {
    let desk = Desk::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = desk.fine(&["completions", shell]).output;
        for word in ["status", "cooldown", "session", "auth"] {
            assert!(script.contains(word), "{shell} {word}");
        }
    }
}
