//! A command that prints a secret: run without a shell, with few variables, for a limited time and output.
//!
//! It gets one JSON object on its input, `{"protocolVersion":1,"provider":…,"ids":[…]}`, and answers with another,
//! `{"values":{id: secret}}`, or, where that is allowed, with the secret itself.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use openclaw_config::{CommandConfig, Environment};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::permissions;

/// The version of the protocol.
const VERSION: u64 = 1;

/// The secret that the command prints for `id`.
///
/// # Errors
/// Why there is none. The output of the command is never repeated: it may be another secret.
pub(super) fn run_for_secret(
    config: &CommandConfig,
    alias: &str,
    id: &str,
    environment: &Environment,
) -> io::Result<String> {
    check_trust(config, environment)?;
    let output = run(config, alias, id, environment)?;
    secret_in(&output, id, config.json_only)
}

/// Refuses a program that another user of this machine could have replaced.
fn check_trust(config: &CommandConfig, environment: &Environment) -> io::Result<()> {
    let refused = |what: String| Err(io::Error::other(what));
    let path = environment.path(&config.command);
    if !Path::new(&config.command).is_absolute() && !config.command.starts_with('~') {
        return refused("its command must be a whole path such as /usr/local/bin/get-secret".to_owned());
    }
    let link = std::fs::symlink_metadata(&path)?;
    if link.file_type().is_symlink() && !config.allow_symlink_command {
        return refused(
            "its command is a link; name the program itself, or set allowSymlinkCommand".to_owned(),
        );
    }
    let real = std::fs::canonicalize(&path)?;
    let metadata = std::fs::metadata(&real)?;
    if !metadata.is_file() {
        return refused("its command is no file".to_owned());
    }
    let within = |folder: &String| {
        let folder = environment.path(folder);
        real.starts_with(std::fs::canonicalize(&folder).unwrap_or(folder))
    };
    if !config.trusted_dirs.is_empty() && !config.trusted_dirs.iter().any(within) {
        return refused("its command is in none of trustedDirs".to_owned());
    }
    if !config.allow_insecure_path && permissions::lets_others_change(&metadata) {
        return refused(
            "others may change its command; run `chmod go-w` on it, or set allowInsecurePath".to_owned(),
        );
    }
    Ok(())
}

/// A child process that is killed when the guard is dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // It has ended already, or its output is no longer needed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(config: &CommandConfig, alias: &str, id: &str, environment: &Environment) -> io::Result<Vec<u8>> {
    let passed = config
        .pass_env
        .iter()
        .filter_map(|name| Some((name, environment.get(name)?)));
    let mut child = Command::new(environment.path(&config.command))
        .args(&config.args)
        .env_clear()
        .envs(passed)
        .envs(&config.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(ChildGuard)?;
    let request = json!({"protocolVersion": VERSION, "provider": alias, "ids": [id]}).to_string();
    if let Some(mut input) = child.0.stdin.take() {
        thread::spawn(move || {
            // A command that does not read its input works without it.
            let _ = input.write_all(request.as_bytes());
        });
    }
    let pieces = child.0.stdout.take().map(pieces);
    let deadline = Instant::now() + Duration::from_millis(config.timeout_ms.get());
    let output = match pieces {
        Some(pieces) => collect(&pieces, config, deadline)?,
        None => Vec::new(),
    };
    let status = wait(&mut child.0, deadline)?;
    if !status.success() {
        let how = status.code().map_or_else(
            || "ended by a signal".to_owned(),
            |code| format!("exit code {code}"),
        );
        return Err(io::Error::other(how));
    }
    Ok(output)
}

/// The output piece by piece, read on a thread of its own that may block.
fn pieces(mut output: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, pieces) = mpsc::sync_channel(4);
    thread::spawn(move || {
        loop {
            let mut piece = vec![0; 8 * 1024];
            let read = output.read(&mut piece).map(|length| {
                piece.truncate(length);
                piece
            });
            let ends = !matches!(&read, Ok(piece) if !piece.is_empty());
            if sender.send(read).is_err() || ends {
                return;
            }
        }
    });
    pieces
}

fn collect(
    pieces: &Receiver<io::Result<Vec<u8>>>,
    config: &CommandConfig,
    deadline: Instant,
) -> io::Result<Vec<u8>> {
    let silence = config.no_output_timeout_ms.unwrap_or(config.timeout_ms).get();
    let silence = Duration::from_millis(silence);
    let most = config.max_output_bytes.get();
    let mut output = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let piece = match pieces.recv_timeout(left.min(silence)) {
            Ok(piece) => piece?,
            Err(RecvTimeoutError::Timeout) if silence < left => {
                return Err(too_slow("printed nothing for", silence, "noOutputTimeoutMs"));
            }
            Err(RecvTimeoutError::Timeout) => {
                let limit = Duration::from_millis(config.timeout_ms.get());
                return Err(too_slow("did not end within", limit, "timeoutMs"));
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(output),
        };
        if piece.is_empty() {
            return Ok(output);
        }
        output.extend_from_slice(&piece);
        if u64::try_from(output.len()).is_ok_and(|length| length > most) {
            return Err(io::Error::other(format!(
                "it printed more than {most} bytes (maxOutputBytes)"
            )));
        }
    }
}

/// Waits for the end of a command that has closed its output already.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<std::process::ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() >= deadline {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it closed its output and did not end",
            ));
        }
        thread::park_timeout(Duration::from_millis(2));
    }
}

fn too_slow(what: &str, limit: Duration, setting: &str) -> io::Error {
    let limit = limit.as_millis();
    io::Error::new(
        io::ErrorKind::TimedOut,
        format!("it {what} {limit} ms ({setting})"),
    )
}

fn secret_in(output: &[u8], id: &str, json_only: bool) -> io::Result<String> {
    let json: Option<Value> = serde_json::from_slice(output).ok();
    match json.filter(Value::is_object) {
        Some(json) => {
            let value = json.get("values").and_then(|values| values.get(id));
            let told = json.get("errors").and_then(|errors| errors.get(id)).is_some();
            match value.and_then(Value::as_str) {
                Some(text) => Ok(text.to_owned()),
                None if told => Err(io::Error::other("it answered with an error for this id")),
                None => Err(io::Error::other(
                    "its answer has no text under values for this id",
                )),
            }
        }
        None if json_only => Err(io::Error::other(
            "it printed no JSON object {\"values\": {…}}; set jsonOnly: false when it prints the secret alone",
        )),
        None => String::from_utf8(output.to_vec())
            .map_err(|_| io::Error::other("it printed something that is no text")),
    }
}
