//! What a get and a compare-and-set cost when one store holds very many sessions.
#![expect(clippy::unwrap_used, reason = "a bench may stop at the first surprise")]

use std::cell::Cell;
use std::future::Future;

use divan::Bencher;
use divan::counter::ItemsCount;
use openclaw_ids::SessionKey;
use openclaw_session::{
    CasOutcome, MemorySessionStore, Revision, SessionEntry, SessionStore, SqliteSessionStore,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

/// From a person's own file to a large installation; the median must not depend on it.
const SESSIONS: [u64; 2] = [1_000, 100_000];

/// A step that visits all of any number of sessions above, far from the last one.
const STRIDE: u64 = 7_919;

fn main() {
    divan::main();
}

fn key(number: u64) -> SessionKey {
    format!("agent:main:telegram:direct:{number}").parse().unwrap()
}

/// An entry as other programs fill it: a fallback in place, and members that are only carried along.
fn entry(number: u64) -> SessionEntry {
    serde_json::from_value(serde_json::json!({
        "sessionId": format!("3f1c2a60-0000-4000-8000-{number:012}"),
        "updatedAt": 1_760_000_000_000_u64 + number,
        "providerOverride": "anthropic",
        "modelOverride": "claude-sonnet-5",
        "modelOverrideSource": "auto",
        "modelOverrideFallbackOriginProvider": "openai",
        "modelOverrideFallbackOriginModel": "gpt-5.4",
        "authProfileOverride": "anthropic:work",
        "authProfileOverrideSource": "auto",
        "authProfileOverrideCompactionCount": 2,
        "compactionCount": 2,
        "chatType": "direct",
        "deliveryContext": { "channel": "telegram", "to": number.to_string() },
        "inputTokens": 12_000,
        "outputTokens": 800,
        "sessionFile": format!("/home/person/.openclaw/agents/main/sessions/{number}.jsonl"),
    }))
    .unwrap()
}

/// A store with `sessions` entries, and what keeps it alive.
struct Filled<S> {
    runtime: Runtime,
    store: S,
    sessions: u64,
    at: Cell<u64>,
    _directory: Option<TempDir>,
}

impl<S: SessionStore> Filled<S> {
    fn new(sessions: u64, store: S, directory: Option<TempDir>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for number in 0..sessions {
                let key = key(number);
                let outcome = store
                    .compare_and_set(&key, Revision::NONE, entry(number))
                    .await
                    .unwrap();
                assert!(matches!(outcome, CasOutcome::Stored(_)));
            }
        });
        Self {
            runtime,
            store,
            sessions,
            at: Cell::new(0),
            _directory: directory,
        }
    }

    fn next(&self) -> SessionKey {
        self.at.set((self.at.get() + STRIDE) % self.sessions);
        key(self.at.get())
    }

    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn bench_get(&self, bencher: Bencher<'_, '_>) {
        bencher
            .counter(ItemsCount::new(1_u64))
            .with_inputs(|| self.next())
            .bench_local_refs(|key| self.wait(self.store.load(key)).unwrap());
    }

    fn bench_compare_and_set(&self, bencher: Bencher<'_, '_>) {
        bencher
            .counter(ItemsCount::new(1_u64))
            .with_inputs(|| {
                let key = self.next();
                let found = self.wait(self.store.load(&key)).unwrap().unwrap();
                let mut changed = found.entry.clone();
                changed.touch(changed.updated_at + jiff::SignedDuration::from_millis(1));
                (key, found.revision, changed)
            })
            .bench_local_values(|(key, revision, changed)| {
                self.wait(self.store.compare_and_set(&key, revision, changed))
                    .unwrap()
            });
    }
}

fn memory(sessions: u64) -> Filled<MemorySessionStore> {
    Filled::new(sessions, MemorySessionStore::default(), None)
}

/// The sessions come from a `sessions.json`, which is faster than writing them one by one.
fn sqlite(sessions: u64) -> Filled<SqliteSessionStore> {
    let directory = TempDir::new().unwrap();
    let all: serde_json::Map<_, _> = (0..sessions)
        .map(|number| {
            (
                key(number).to_string(),
                serde_json::to_value(entry(number)).unwrap(),
            )
        })
        .collect();
    let import = directory.path().join("sessions.json");
    std::fs::write(import, serde_json::Value::Object(all).to_string()).unwrap();
    let store = SqliteSessionStore::open(&directory.path().join("openclaw-sessions.sqlite")).unwrap();
    let mut filled = Filled::new(0, store, Some(directory));
    filled.sessions = sessions;
    filled
}

#[divan::bench(args = SESSIONS, sample_count = 2_000, sample_size = 1)]
fn memory_get(bencher: Bencher<'_, '_>, sessions: u64) {
    memory(sessions).bench_get(bencher);
}

#[divan::bench(args = SESSIONS, sample_count = 2_000, sample_size = 1)]
fn memory_compare_and_set(bencher: Bencher<'_, '_>, sessions: u64) {
    memory(sessions).bench_compare_and_set(bencher);
}

#[divan::bench(args = SESSIONS, sample_count = 2_000, sample_size = 1)]
fn sqlite_get(bencher: Bencher<'_, '_>, sessions: u64) {
    sqlite(sessions).bench_get(bencher);
}

#[divan::bench(args = SESSIONS, sample_count = 2_000, sample_size = 1)]
fn sqlite_compare_and_set(bencher: Bencher<'_, '_>, sessions: u64) {
    sqlite(sessions).bench_compare_and_set(bencher);
}
