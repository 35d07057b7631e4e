//! Programs that are measured: started, looked at, and ended with this process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Map, Value, json};

use crate::Failure;

/// A running program.
pub(crate) struct Process {
    child: Child,
    /// Where it listens.
    pub(crate) address: String,
}

impl Process {
    /// Starts this very program in another role and reads its address.
    pub(crate) fn role(role: &str, words: &[String]) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--role", role]).args(words).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take().ok_or("the program has no output")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(Self {
            child,
            address: address.trim().to_owned(),
        })
    }

    /// Starts the gateway on `port` with the configuration and state below `home`.
    pub(crate) fn gateway(program: &Path, home: &Path, port: u16) -> Result<Self, Failure> {
        let child = quiet(program, home)
            .arg("serve")
            .args(["--bind", &format!("127.0.0.1:{port}")])
            .spawn()
            .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        Ok(Self {
            child,
            address: format!("127.0.0.1:{port}"),
        })
    }

    /// Lets the gateway's program bring `profiles` from an older file into the store that all agents below `home` inherit.
    pub(crate) fn store(program: &Path, home: &Path, profiles: &Map<String, Value>) -> Result<(), Failure> {
        let folder = home.join("state/agents/main/agent");
        std::fs::create_dir_all(&folder)?;
        let stored = json!({ "version": 1, "profiles": profiles });
        std::fs::write(folder.join("auth-profiles.json"), stored.to_string())?;
        let status = quiet(program, home).args(["doctor", "--fix"]).status()?;
        // 1 says that something is left for a person, such as the modes of these files.
        if status.code().is_some_and(|code| code <= 1) {
            Ok(())
        } else {
            Err("`openclaw-gateway doctor --fix` could not take over the credentials".into())
        }
    }

    /// Resident memory in MiB.
    pub(crate) fn memory(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .ok_or("no VmRSS")?;
        let kib: f64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
        Ok(kib / 1024.0)
    }

    /// Processor time used so far, in microseconds.
    pub(crate) fn cpu(&self) -> Result<f64, Failure> {
        let schedstat = std::fs::read_dir(format!("/proc/{}/task", self.child.id()))?;
        let mut nanos = 0.0;
        for task in schedstat {
            let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            nanos += text
                .split_whitespace()
                .next()
                .and_then(|text| text.parse::<f64>().ok())
                .unwrap_or_default();
        }
        Ok(nanos / 1e3)
    }
}

/// The gateway's program with the configuration and state below `home`, and without a word.
fn quiet(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("OPENCLAW_STATE_DIR", home.join("state"))
        .env("OPENCLAW_CONFIG_PATH", home.join("openclaw.json"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
