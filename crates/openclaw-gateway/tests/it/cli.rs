//! The operator's commands, run as a person runs them: over a state directory of their own, without a gateway.

mod auth;
mod chain;
mod config;
mod cooldown;
mod dangling;
mod disk;
mod doctor;
mod explain;
mod older;
mod session;
mod simulate;
mod status;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// A state directory and what commands are told about it.
pub(crate) struct Desk {
    root: PathBuf,
    _own: Option<TempDir>,
    variables: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: i32,
    /// Standard output, with times, numbers of instants and the state directory replaced.
    pub(crate) output: String,
    /// Standard error, likewise.
    pub(crate) error: String,
    raw: Vec<u8>,
}

/// Two agents and a chain of three models.
const CONFIG: &str = "{
  agents: {
    defaults: { model: { primary: 'openai/gpt', fallbacks: ['anthropic/claude', 'groq/llama'] } },
    list: [{ id: 'main', default: true }, { id: 'ops', model: 'groq/llama' }],
  },
}";

impl Desk {
    /// An empty desk with a configuration.
    pub(crate) fn new() -> Self {
        Self::with(CONFIG)
    }

    /// A desk with this configuration.
    pub(crate) fn with(config: &str) -> Self {
        let desk = Self::bare();
        desk.write("openclaw.json", config);
        desk
    }

    /// A desk with nothing at all.
    pub(crate) fn bare() -> Self {
        let own = tempfile::tempdir().unwrap();
        #[cfg(unix)]
        crate::world::close(own.path());
        Self {
            root: own.path().to_owned(),
            _own: Some(own),
            variables: Vec::new(),
        }
    }

    /// A desk over somebody else's state directory.
    pub(crate) fn over(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            _own: None,
            variables: Vec::new(),
        }
    }

    /// With a variable of the environment.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With three stored keys of the main agent.
    pub(crate) fn with_keys(self) -> Self {
        for (profile, key) in [
            ("openai:work", "sk-work-0123456789abcdef"),
            ("openai:home", "sk-home-0123456789abcdef"),
            ("anthropic", "sk-ant-0123456789abcdef"),
        ] {
            let done = self.run_with(&["auth", "add", profile], key);
            assert_eq!(done.status, 0, "{done:?}");
        }
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a command.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, "")
    }

    /// Runs a command with this on its standard input.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Done {
        let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
            .args(arguments)
            .env_clear()
            .env("OPENCLAW_STATE_DIR", &self.root)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // A command that wants no input may be over before it is written.
        drop(pipe.write_all(input.as_bytes()));
        drop(pipe);
        Done::of(child.wait_with_output().unwrap(), &self.root)
    }

    /// Runs a command that succeeds.
    pub(crate) fn fine(&self, arguments: &[&str]) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.status, 0, "{arguments:?}: {done:?}");
        done
    }

    /// Runs a command that cannot run, and returns why.
    pub(crate) fn refused(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(
            (done.status, done.output.as_str()),
            (2, ""),
            "{arguments:?}: {done:?}"
        );
        done.error
    }

    /// Runs these commands one after the other and shows what each did.
    pub(crate) fn transcript(&self, commands: &[&[&str]]) -> String {
        commands
            .iter()
            .map(|arguments| self.run(arguments).shown(arguments))
            .collect()
    }

    /// Every file below the state directory with its bytes. What SQLite keeps beside a file while it is read counts only
    /// when it holds something.
    pub(crate) fn contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.root, &mut found);
        found.retain(|(path, bytes)| {
            let name = path.to_string_lossy();
            let is_idle = name.ends_with("-wal") && bytes.is_empty();
            !is_idle && !name.ends_with("-shm")
        });
        found.sort();
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
}

impl Done {
    fn of(output: Output, state: &Path) -> Self {
        let clean = |bytes: &[u8]| redacted(std::str::from_utf8(bytes).unwrap(), state);
        Self {
            status: output.status.code().unwrap(),
            output: clean(&output.stdout),
            error: clean(&output.stderr),
            raw: output.stdout,
        }
    }

    /// Standard output as one JSON value a line.
    pub(crate) fn raw_lines(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.raw).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What was typed, the exit status, and what was written.
    pub(crate) fn shown(&self, arguments: &[&str]) -> String {
        let typed = Regex::new(r"\boc-[0-9a-f]{16}-\d+\b").unwrap();
        let typed = typed.replace_all(&arguments.join(" "), "<id>").into_owned();
        format!("$ {typed} [{}]\n{}{}\n", self.status, self.output, self.error)
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.raw).unwrap_or_else(|error| panic!("{error}: {}", self.output))
    }
}

/// The text without what differs from run to run. Columns are as wide as what was replaced, so blanks are squeezed.
fn redacted(text: &str, state: &Path) -> String {
    let text = text.replace(state.to_str().unwrap(), "/state");
    let rules = [
        (r"\b\d+[dhms]( \d+[hms])?( ago)?\b|\bjust now\b", "<time>"),
        (r"\b1[6-9]\d{11}\b", "<ms>"),
        (r"\boc-[0-9a-f]{16}(-\d+)?\b", "<id>"),
        (r"\b\d{4}-\d\d-\d\dT[0-9:.]+Z\b", "<instant>"),
        (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "<instant>"),
        (r"\b\d+(\.\d+)? m?s\b", "<time>"),
        (r" \(<time>\)", ""),
        (r"(\S) {2,}", "$1  "),
    ];
    rules.iter().fold(text, |text, (pattern, with)| {
        Regex::new(pattern)
            .unwrap()
            .replace_all(&text, *with)
            .into_owned()
    })
}

#[test]
fn what_cannot_run_says_why_and_what_to_do() {
    let desk = Desk::new().with_keys();
    let commands: &[&[&str]] = &[
        &["status", "--agent", "nobody"] as &[&str],
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
        &["session", "set", "none", "--model", "default"],
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
    for desk in [Desk::bare(), Desk::new(), Desk::new().with_keys()] {
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
