//! Where the workspace is and how other programs are started in it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::cli::{CannotRun, Outcome};

/// The checked-out workspace that `cargo xtask` was started in.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Reads the root from what cargo tells a program it runs, so that one binary serves every checkout.
    pub(crate) fn find() -> Result<Self, CannotRun> {
        let start_me =
            || CannotRun("start this through `cargo xtask`, which says where the workspace is".to_owned());
        let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR").ok_or_else(start_me)?);
        let root = manifest.parent().ok_or_else(start_me)?.to_owned();
        Ok(Self { root })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `cargo`, started at the root.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = cargo_here();
        command.current_dir(&self.root);
        command
    }
}

/// `cargo`, started where the user is.
///
/// What cargo told *us* about this package is taken away again: build scripts that watch those variables would
/// otherwise rebuild their crate each time a person changes between `cargo test` and `cargo xtask test`.
pub(crate) fn cargo_here() -> Command {
    let mut command = Command::new(variable("CARGO").unwrap_or_else(|| "cargo".into()));
    for name in [
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
    ] {
        command.env_remove(name);
    }
    for (name, _) in variables() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_")) {
            command.env_remove(name);
        }
    }
    command
}

/// An environment variable of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "the surroundings of a developer's shell are the input here"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the surroundings of a developer's shell are the input here"
)]
fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// Runs to the end with the terminal's streams; `Ok` says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool, CannotRun> {
    command
        .status()
        .map(|status| status.success())
        .map_err(|error| cannot_start(command, &error))
}

/// Runs to the end and returns standard output; a failure carries what the program said.
pub(crate) fn output(command: &mut Command) -> Result<String, CannotRun> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(CannotRun(format!(
        "{} failed:\n{}",
        spelled(command),
        String::from_utf8_lossy(&output.stderr).trim_end()
    )))
}

/// The command as a person would type it.
pub(crate) fn spelled(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let mut text = format!("`{}", program.to_string_lossy());
    for word in command.get_args() {
        text.push(' ');
        text.push_str(&word.to_string_lossy());
    }
    text.push('`');
    text
}

/// A file or folder that cannot be read or changed.
pub(crate) fn cannot_use(path: &Path, error: &std::io::Error) -> CannotRun {
    CannotRun(format!("{}: {error}; check the permissions", path.display()))
}

/// How a program of ours ended: its exit codes are those of a task. `what` could not run when it is another.
pub(crate) fn handed_on(command: &mut Command, what: &str) -> Result<Outcome, CannotRun> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    match status.code() {
        Some(0) => Ok(Outcome::Clean),
        Some(1) => Ok(Outcome::Findings),
        _ => Err(CannotRun(format!(
            "{what} could not run; the reason stands above"
        ))),
    }
}

pub(crate) fn cannot_start(command: &Command, error: &std::io::Error) -> CannotRun {
    CannotRun(format!(
        "cannot start {}: {error}; is it installed and on PATH?",
        spelled(command)
    ))
}

/// As [`succeeds`], and `hear` gets each line of either stream after it was shown.
pub(crate) fn succeeds_heard(
    command: &mut Command,
    hear: &mut (dyn FnMut(&str) + Send),
) -> Result<bool, CannotRun> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| cannot_start(command, &error))?;
    let hear = Mutex::new(hear);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(|| stdout.map(|stream| pass_on(stream, &mut std::io::stdout(), &hear)));
        scope.spawn(|| stderr.map(|stream| pass_on(stream, &mut std::io::stderr(), &hear)));
    });
    child
        .wait()
        .map(|status| status.success())
        .map_err(|error| cannot_start(command, &error))
}

/// Copies line by line; bytes that are no text are shown as they are and heard as replacement characters.
fn pass_on(from: impl Read, to: &mut impl Write, hear: &Mutex<&mut (dyn FnMut(&str) + Send)>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        // A closed terminal is no reason to stop the tests; the counts are still wanted.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        if let Ok(mut hear) = hear.lock() {
            hear(&String::from_utf8_lossy(&line));
        }
        line.clear();
    }
}
