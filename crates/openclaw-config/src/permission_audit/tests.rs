//! The audit names files that other users may read, and nothing else.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::*;

const LITERAL: &str = "{ models: { providers: { a: { baseUrl: 'http://h', apiKey: 'sk-1' } } } }";
const POINTER: &str = "{ models: { providers: { a: { baseUrl: 'http://h', apiKey: '$A' } } } }";

/// A state directory whose every file has a mode.
struct StateFolder(tempfile::TempDir);

impl StateFolder {
    /// Others may get as far as it.
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        fs::create_dir(folder.state()).unwrap();
        folder.set("..", 0o755);
        folder.set("", 0o700);
        folder
    }

    fn state(&self) -> PathBuf {
        self.0.path().join("it's")
    }

    fn set(&self, name: &str, mode: u32) {
        let path = if name == ".." {
            self.0.path().to_owned()
        } else {
            self.state().join(name)
        };
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.state().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self.set(name, mode);
    }

    fn findings(&self) -> Vec<String> {
        let (path, state) = (self.state().join("openclaw.json"), self.state());
        let environment = Environment::of([], &state);
        let config = Config::load(&path, &environment.failover_config_path(&path)).unwrap();
        let found = permission_audit(
            &config,
            &environment,
            &state,
            &state.join("openclaw-failover-history.sqlite"),
        )
        .into_iter();
        found
            .map(|exposed| exposed.to_string().replace(self.0.path().to_str().unwrap(), "/s"))
            .collect()
    }
}

#[test]
fn what_others_may_read_is_named_with_what_closes_it() {
    let folder = StateFolder::new();
    folder.set("", 0o755);
    folder.write("openclaw.json", LITERAL, 0o644);
    folder.write(
        "failover.json5",
        "{ logins: { a: { clientSecret: 's' } } }",
        0o640,
    );
    folder.write("agents/main/agent/openclaw-agent.sqlite", "", 0o644);
    folder.write("agents/main/agent/auth-profiles.json", "{}", 0o604);
    folder.write("agents/main/sessions/sessions.json", "{}", 0o644);
    folder.write("openclaw-failover-history.sqlite", "", 0o666);
    insta::assert_snapshot!("exposed", folder.findings().join("\n"));
}

#[test]
fn what_holds_no_secret_or_cannot_be_reached_is_no_reason_to_warn() {
    let folder = StateFolder::new();
    folder.set("", 0o711);
    folder.write("openclaw.json", POINTER, 0o644);
    folder.write("failover.json5", "{ notices: 'inline' }", 0o644);
    folder.write("agents/main/agent/openclaw-agent.sqlite", "", 0o600);
    folder.write("agents/main/agent/notes.txt", "", 0o644);
    assert_eq!(folder.findings(), [""; 0], "where keys are is no secret");
    folder.write("openclaw.json", LITERAL, 0o600);
    assert_eq!(folder.findings(), [""; 0], "closed");
    folder.write("openclaw.json", LITERAL, 0o644);
    assert_eq!(folder.findings().len(), 1);
    folder.set("", 0o700);
    assert_eq!(
        folder.findings(),
        [""; 0],
        "other users cannot enter the folder above it"
    );
    folder.set("", 0o711);
    folder.set("..", 0o700);
    assert_eq!(folder.findings(), [""; 0], "nor through one further up");
}
