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
    PersistFallback, Persisted, SessionEntry, SessionStore, SqliteSessionStore, persist_fallback, probe_due,
    update,
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
fn place() -> (TempDir, PathBuf) {
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
    let (_directory, file) = place();
    let test = "parallel_processes_import_once_and_lose_no_update";
    let children: Vec<Child> = (0..PROCESSES).map(|_| spawn(test, &file)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let entry = stored(&file);
    assert_eq!(entry.compaction_count, 5 + PROCESSES * EACH);
    assert_eq!(entry.other("kept"), Some(&"yes".into()));
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    if let Some(file) = child_file() {
        let store = SqliteSessionStore::open(&file).unwrap();
        loop {
            report(&block_on(count_once(&store)));
        }
    }
    let (_directory, file) = place();
    for reads in [1, 7, 30] {
        let mut child = spawn("what_was_acknowledged_survives_a_kill", &file);
        let acknowledged: u64 = reports(&mut child).nth(reads).unwrap().parse().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(stored(&file).compaction_count >= acknowledged);
    }
}

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
    let (_directory, file) = place();
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
    let change = PersistFallback {
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
    assert!(matches!(persisted, Persisted::Written(_)), "{persisted:?}");
}
