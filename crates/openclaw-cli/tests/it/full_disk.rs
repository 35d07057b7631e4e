//! A gateway and commands, each a process of its own, on a disk that really is full.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use faultwall::scripted::{Script, Upstream};
use openclaw_auth_store::{Credential, ProfileStore, SqliteAuthStore};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ProfileId};
use openclaw_runner::{Clock, SystemClock};
use serde_json::json;

use crate::cli::Desk;
use crate::world::{Received, client, hello, refusal};

/// A small disk of its own.
struct SmallDisk {
    place: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where this user may not mount anything.
    fn mount() -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs"])
            .arg(place.path())
            .stderr(Stdio::null())
            .status();
        let is_mounted = mounted.is_ok_and(|status| status.success());
        is_mounted.then_some(Self { place })
    }

    fn root(&self) -> &Path {
        self.place.path()
    }

    fn fill(&self) {
        let mut file = fs::File::create(self.root().join("fill")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    fn make_room(&self) {
        fs::remove_file(self.root().join("fill")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // At once, whatever still uses it: a test that failed must leave nothing behind.
        drop(Command::new("umount").arg("--lazy").arg(self.root()).status());
    }
}

/// `serve` as a process.
struct Served {
    process: Child,
    address: String,
}

impl Served {
    fn start(state: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env_clear()
            .env("OPENCLAW_STATE_DIR", state)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let listens = |line: std::io::Result<String>| {
            let line = line.unwrap();
            line.strip_prefix("Listening on ").map(str::to_owned)
        };
        let address = lines.into_iter().find_map(listens).unwrap();
        Self { process, address }
    }

    async fn ask(&self, model: &str) -> Received {
        let body = json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]});
        let request = client()
            .post(format!("{}/chat/completions", self.address))
            .header("content-type", "application/json")
            .header("x-openclaw-session-key", "agent:main:chat");
        Received::of(request.body(body.to_string())).await
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// A login that has ended, as the other program would have stored it.
async fn store_ended_login(state: &Path) {
    let folder = state.join("agents/main/agent");
    let (main, now) = (AgentId::main(), SystemClock.now());
    let store = SqliteAuthStore::open(&folder, &main, Vec::new(), CooldownConfig::default(), now).unwrap();
    let entry = json!({"type": "oauth", "provider": "login", "access": "access-old", "refresh": "refresh-old",
        "expires": now.as_millisecond() - 1_000});
    let login = Credential::from_json(&entry).unwrap();
    store
        .upsert(ProfileId::try_new("login:me").unwrap(), login, now)
        .await
        .unwrap();
}

/// Two providers with keys, and one with logins that are renewed at the third URL.
fn configure(desk: &Desk, [url_a, url_b, url_t]: [String; 3]) {
    desk.write(
        "openclaw.json",
        &format!(
            "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
                models: {{ providers: {{ a: {{ baseUrl: '{url_a}', models: [] }},
                                         login: {{ baseUrl: '{url_a}', models: [] }},
                                         b: {{ baseUrl: '{url_b}', apiKey: 'key-b', models: [] }} }} }} }}"
        ),
    );
    desk.write(
        "failover.json5",
        &format!(
            "{{ logins: {{ login: {{ baseUrl: '{url_a}', tokenUrl: '{url_t}/token', clientId: 'c' }} }} }}"
        ),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_costs_memory_and_no_answer_and_commands_say_that_nothing_was_changed() {
    let Some(disk) = SmallDisk::mount() else {
        let mut told = std::io::stderr();
        writeln!(told, "skipped: a disk of its own cannot be mounted here").unwrap();
        return;
    };
    let limited = Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error": {"code": "rate_limit_exceeded"}}"#,
    );
    let a = Upstream::start(vec![limited, hello(), hello()]).await;
    let b = Upstream::start(vec![hello(), hello(), hello()]).await;
    let renewed = json!({"access_token": "access-new", "refresh_token": "refresh-new", "expires_in": 3_600});
    let tokens = Upstream::start(vec![
        Script::json(200, &renewed.to_string()),
        refusal(400, "busy", "later"),
    ])
    .await;
    let desk = Desk::over(disk.root());
    configure(&desk, [&a, &b, &tokens].map(Upstream::base_url));
    let added = desk.run_with(&["auth", "add", "a:one"], "key-one");
    assert_eq!(added.status, 0, "{added:?}");
    store_ended_login(disk.root()).await;
    let served = Served::start(disk.root());
    let first = served.ask("openclaw").await;
    assert_eq!(
        first.header("x-openclaw-served-model"),
        Some("b/m"),
        "{}",
        first.body
    );

    disk.fill();
    let full = served.ask("openclaw").await;
    assert_eq!(
        full.header("x-openclaw-served-model"),
        Some("b/m"),
        "{}",
        full.body
    );
    let ended = served.ask("login/m").await;
    assert!(
        ended.body.contains("its disk is full; make room on it"),
        "{}",
        ended.body
    );
    assert!(!ended.body.contains("openclaw-agent.sqlite"), "{}", ended.body);
    assert!(
        !ended.body.to_lowercase().contains("sign in again"),
        "{}",
        ended.body
    );
    assert!(!ended.body.contains("Re-authenticate"), "{}", ended.body);
    for (arguments, input) in [
        (&["cooldown", "clear", "a:one"] as &[&str], ""),
        (&["cooldown", "set", "a:one", "--for", "2h"], ""),
        (&["auth", "add", "b:two"], "key-two"),
        (&["auth", "remove", "a:one"], ""),
        (&["auth", "order", "set", "a", "a:one"], ""),
        (&["session", "set", "agent:main:chat", "--model", "b/m"], ""),
    ] {
        let done = desk.run_with(arguments, input);
        assert_eq!(
            (done.status, done.output.as_str()),
            (2, ""),
            "{arguments:?}: {done:?}"
        );
        assert!(
            done.error.contains("nothing was changed, because the disk of"),
            "{done:?}"
        );
    }
    let status = desk.run(&["status", "--check"]);
    assert_eq!(status.status, 1, "{status:?}");
    assert!(
        status.output.contains("login:me cannot be used: it has ended"),
        "{status:?}"
    );
    assert!(
        status.output.contains("Disk: the disk of /state is full"),
        "{status:?}"
    );

    disk.make_room();
    let listed = desk.fine(&["auth", "list", "--json"]).json();
    let stored = listed["profiles"].as_array().unwrap();
    assert!(stored.iter().all(|profile| profile["id"] != "b:two"), "{listed}");
    desk.fine(&["cooldown", "clear", "--all"]);
    let renewed = served.ask("login/m").await;
    assert_eq!(renewed.status, 200, "{}", renewed.body);
    let back = served.ask("openclaw").await;
    assert_eq!(back.header("x-openclaw-session"), None);
    assert_eq!(back.status, 200, "{}", back.body);
}
