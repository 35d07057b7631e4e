//! Several real processes on one session file, some of them killed without warning.
#![cfg(feature = "sqlite")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "functions that tests share"
)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use openclaw_ids::{ModelRef, SessionKey};
use openclaw_session::{
    FallbackChoice, PersistOutcome, Revision, SessionEntry, SessionStore, SqliteSessionStore,
    persist_fallback, probe_due, update,
};
use tempfile::TempDir;

/// Tells a test that it is the child of itself, and which file to use.
const FILE: &str = "OPENCLAW_SESSION_TEST_FILE";

/// The file, when this process is a child.
#[expect(
    clippy::disallowed_methods,
    reason = "the only way to tell a test binary what to do"
)]
fn child_file() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// Runs the named test of this binary again, as a child.
fn spawn(test: &str, file: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn key() -> SessionKey {
    "agent:main:main".parse().unwrap()
}

fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

/// A file that takes over one session, compacted five times, from a `sessions.json`.
fn session_file() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let old = format!(
        r#"{{"{}": {{"sessionId": "s1", "compactionCount": 5, "kept": "yes"}}}}"#,
        key()
    );
    std::fs::write(directory.path().join("sessions.json"), old).unwrap();
    let file = directory.path().join("openclaw-sessions.sqlite");
    (directory, file)
}

async fn count_once(store: &SqliteSessionStore) -> u64 {
    update(store, &key(), |entry| {
        let mut next = entry.unwrap().clone();
        next.compaction_count += 1;
        let count = next.compaction_count;
        (Some(next), count)
    })
    .await
    .unwrap()
}

fn stored(file: &Path) -> SessionEntry {
    let store = SqliteSessionStore::open(file).unwrap();
    block_on(store.load(&key())).unwrap().unwrap().entry
}

/// What the child prints, without the words of the test harness around it.
fn reports(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("> ").map(str::to_owned))
}

fn report(word: &dyn std::fmt::Display) {
    // The harness does not end its own line before a test begins.
    println!("\n> {word}");
    std::io::stdout().flush().unwrap();
}

const PROCESSES: u64 = 4;
const EACH: u64 = 40;

#[test]
fn parallel_processes_import_once_and_lose_no_update() {
    if let Some(file) = child_file() {
        let store = SqliteSessionStore::open(&file).unwrap();
        for _ in 0..EACH {
            block_on(count_once(&store));
        }
        return;
    }
    let (_directory, file) = session_file();
    let test = "parallel_processes_import_once_and_lose_no_update";
    let children: Vec<Child> = (0..PROCESSES).map(|_| spawn(test, &file)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let entry = stored(&file);
    assert_eq!(entry.compaction_count, 5 + PROCESSES * EACH);
    assert_eq!(entry.unknown_member("kept"), Some(&"yes".into()));
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    if let Some(file) = child_file() {
        let store = SqliteSessionStore::open(&file).unwrap();
        loop {
            report(&block_on(count_once(&store)));
        }
    }
    let (_directory, file) = session_file();
    for reads in [1, 7, 30] {
        let mut child = spawn("what_was_acknowledged_survives_a_kill", &file);
        let acknowledged: u64 = reports(&mut child).nth(reads).unwrap().parse().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(stored(&file).compaction_count >= acknowledged);
    }
}

/// What the disk holds before it is full, in units of the shell, half a kilobyte or one.
const DISK: &str = "1024";

#[cfg(unix)]
#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let test = "a_full_disk_loses_nothing_that_was_acknowledged";
    if let Some(file) = child_file() {
        let store = SqliteSessionStore::open(&file).unwrap();
        let stored = (0_u32..10_000).find(|number| !block_on(add_large(&store, *number)));
        report(&stored.unwrap());
        // What is there can still be read.
        assert!(block_on(store.load(&key())).unwrap().is_some());
        return;
    }
    let (_directory, file) = session_file();
    drop(SqliteSessionStore::open(&file).unwrap());
    let mut child = Command::new("sh")
        .args([
            "-c",
            r#"trap "" XFSZ; ulimit -f "$1"; shift; exec "$@""#,
            "sh",
            DISK,
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FILE, &file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reported: Vec<String> = reports(&mut child).collect();
    assert!(child.wait().unwrap().success());
    let acknowledged: u32 = reported[0].parse().unwrap();
    assert!(acknowledged > 0);
    // There is space again.
    let store = SqliteSessionStore::open(&file).unwrap();
    for number in 0..acknowledged {
        assert!(
            block_on(store.load(&large_key(number))).unwrap().is_some(),
            "{number}"
        );
    }
    assert_eq!(block_on(store.load(&large_key(acknowledged))).unwrap(), None);
    assert!(block_on(add_large(&store, acknowledged)));
}

#[cfg(unix)]
fn large_key(number: u32) -> SessionKey {
    format!("agent:main:{number}").parse().unwrap()
}

/// Whether there was room for a session of 20 kB more.
#[cfg(unix)]
async fn add_large(store: &SqliteSessionStore, number: u32) -> bool {
    let text = format!(r#"{{"sessionId": "s1", "notes": "{}"}}"#, "x".repeat(20_000));
    let entry: SessionEntry = serde_json::from_str(&text).unwrap();
    let stored = store
        .compare_and_set(&large_key(number), Revision::NONE, entry)
        .await;
    stored.is_ok()
}

/// BL-63, with a restart in between.
#[test]
fn a_run_that_was_killed_leaves_a_fallback_that_leads_back() {
    if let Some(file) = child_file() {
        let store = SqliteSessionStore::open(&file).unwrap();
        block_on(persist(&store));
        report(&"persisted");
        loop {
            std::thread::park();
        }
    }
    let (_directory, file) = session_file();
    let mut child = spawn("a_run_that_was_killed_leaves_a_fallback_that_leads_back", &file);
    assert_eq!(reports(&mut child).next().as_deref(), Some("persisted"));
    child.kill().unwrap();
    child.wait().unwrap();
    let entry = stored(&file);
    assert_eq!(entry.active_fallback(), Some(model("anthropic/claude")));
    assert!(probe_due(&entry, &model("openai/gpt"), Timestamp::UNIX_EPOCH).is_some());
}

async fn persist(store: &SqliteSessionStore) {
    let read = store.load(&key()).await.unwrap().unwrap().entry;
    let change = FallbackChoice {
        session_id: read.session_id.clone(),
        candidate: model("anthropic/claude"),
        requested: model("openai/gpt"),
        origin: None,
        profile: None,
        read: read.selection(),
    };
    let fold =
        |entry: Option<&SessionEntry>| persist_fallback(entry.unwrap(), &change, Timestamp::UNIX_EPOCH);
    let persisted = update(store, &key(), fold).await.unwrap();
    assert!(matches!(persisted, PersistOutcome::Written(_)), "{persisted:?}");
}
