//! Where a person runs commands: a state directory, and what the commands write.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// A state directory and what commands are told about it.
pub(crate) struct Desk {
    pub(super) root: PathBuf,
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

    /// A desk over the state directory of another gateway.
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
        self.run_with_bytes(arguments, input.as_bytes())
    }

    /// Runs a command with these bytes on its standard input.
    pub(crate) fn run_with_bytes(&self, arguments: &[&str], input: &[u8]) -> Done {
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
        drop(pipe.write_all(input));
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
pub(super) fn redacted(text: &str, state: &Path) -> String {
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
