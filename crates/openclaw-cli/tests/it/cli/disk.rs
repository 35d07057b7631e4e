//! A state directory that takes no changes.

#![cfg(unix)]

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use super::Desk;

/// A user that permissions hold back, for tests that run as root, which they do not.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| std::os::unix::fs::MetadataExt::uid(&process) == 0)
}

/// Sets the mode of everything below, and gives it to the user that runs the commands.
fn set(path: &Path, folder: u32, file: u32) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    if path.is_dir() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
        for entry in std::fs::read_dir(path).unwrap() {
            set(&entry.unwrap().path(), folder, file);
        }
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(folder)).unwrap();
    } else {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(file)).unwrap();
    }
}

/// Runs a command as a user that owns the state and may not write it; none when that user may not run the program.
fn run(desk: &Desk, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"));
    command
        .args(arguments)
        .env_clear()
        .env("OPENCLAW_STATE_DIR", desk.path(""));
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    match command.output() {
        Err(error) if is_root() && error.kind() == std::io::ErrorKind::PermissionDenied => None,
        done => Some(done.unwrap()),
    }
}

#[test]
fn readers_work_where_nothing_can_be_written_and_writers_say_so() {
    let desk = Desk::new().with_keys();
    desk.write(
        "agents/main/sessions/sessions.json",
        r#"{"agent:main:one": {"sessionId": "s", "updatedAt": 1}}"#,
    );
    // Makes the session file and the history.
    desk.fine(&["session", "set", "agent:main:one", "--model", "groq/llama"]);
    desk.fine(&["cooldown", "set", "openai:work", "--for", "5h"]);
    set(&desk.path(""), 0o500, 0o400);
    if run(&desk, &["--version"]).is_none() {
        let mut told = std::io::stderr();
        writeln!(
            told,
            "skipped: the user whom permissions hold back may not run the program"
        )
        .unwrap();
        return;
    }
    for arguments in [
        &["status"] as &[&str],
        &["chain"],
        &["auth", "list"],
        &["auth", "order", "get"],
        &["cooldown", "list"],
        &["cooldown", "history"],
        &["session", "list"],
        &["session", "export"],
        &["config", "check"],
    ] {
        let done = run(&desk, arguments).unwrap();
        let told = String::from_utf8_lossy(&done.stdout).into_owned();
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.code().unwrap() < 2, "{arguments:?}: {told}{error}");
        let expected = match arguments {
            ["status"] => "Disk: ",
            ["cooldown", "history"] => "openai:work",
            ["session", "list"] => "agent:main:one",
            _ => "",
        };
        assert!(told.contains(expected), "{arguments:?}: {told}{error}");
    }
    for arguments in [
        &["cooldown", "clear", "openai:work"] as &[&str],
        &["auth", "remove", "openai:work"],
        &["session", "reset", "agent:main:one"],
    ] {
        let done = run(&desk, arguments).unwrap();
        let error = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(
            error.contains("writable") || error.contains("written"),
            "{arguments:?}: {error}"
        );
    }
    let done = run(&desk, &["doctor"]).unwrap();
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(1), "{told}");
    assert!(told.contains("may not be written by this user"), "{told}");
    set(&desk.path(""), 0o700, 0o600);
}
