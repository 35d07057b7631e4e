//! Measures the cost of a usage change, alone and concurrently, beside a bare loop that updates the same rows, and the
//! cost of a snapshot.

#![expect(clippy::expect_used, reason = "a measurement that cannot be made ends here")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use jiff::Timestamp;
use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore, UsageChange, UsageStore};
use openclaw_classify::Reason;
use openclaw_cooldown::{CooldownConfig, FailureEvent, MarkScope};
use openclaw_ids::{AgentId, ModelId, ProfileId, ProviderId};
use rusqlite::{Connection, params};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// Marks in one measured round.
const MARKS: usize = 160;
/// Tasks that mark at once.
const TASKS: usize = 16;

fn main() {
    divan::main();
}

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(1_750_000_000_000 + millisecond).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn profile() -> ProfileId {
    ProfileId::try_new("openai:default").expect("an id")
}

fn mark(millisecond: i64) -> UsageChange {
    mark_of(profile(), millisecond)
}

fn mark_of(profile: ProfileId, millisecond: i64) -> UsageChange {
    let event = FailureEvent {
        provider: ProviderId::try_new("openai").expect("an id"),
        reason: Reason::Overloaded,
        scope: MarkScope::Model,
        model: Some(ModelId::try_new("m").expect("an id")),
        hint: None,
        started_at: Some(at(millisecond)),
    };
    UsageChange::Failure { profile, event }
}

/// A store with one profile that has failed before.
fn store() -> (TempDir, Runtime, Arc<SqliteAuthStore>) {
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    let store = SqliteAuthStore::open(
        folder.path(),
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        at(0),
    )
    .expect("a store");
    let key = Credential::api_key(ProviderId::try_new("openai").expect("an id"), Secret::new("sk-1"));
    runtime
        .block_on(store.upsert(profile(), key, at(0)))
        .expect("a profile");
    runtime.block_on(store.commit(mark(0), at(1))).expect("a mark");
    (folder, runtime, Arc::new(store))
}

/// The rows that a change updates: OpenClaw's and our own.
const ROWS: [[&str; 2]; 2] = [
    [
        "SELECT state_json FROM auth_profile_state WHERE state_key = 'primary'",
        "UPDATE auth_profile_state SET state_json = ?1, updated_at = ?2 WHERE state_key = 'primary'",
    ],
    [
        "SELECT value_json FROM failover_state WHERE key = 'usage:openai:default'",
        "UPDATE failover_state SET value_json = ?1, updated_at = ?2 WHERE key = 'usage:openai:default'",
    ],
];

/// The same rows read, parsed and written back, as often as marks are made in the others.
#[divan::bench]
fn bare_rusqlite_loop(bencher: Bencher) {
    let (folder, _runtime, store) = store();
    drop(store);
    let file = Connection::open(folder.path().join("openclaw-agent.sqlite")).expect("the file");
    file.pragma_update(None, "synchronous", "NORMAL")
        .expect("a pragma");
    bencher.counter(ItemsCount::new(MARKS)).bench_local(|| {
        for clock in 0..i64::try_from(MARKS).unwrap_or(i64::MAX) {
            file.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
            for [select, update] in ROWS {
                let read = file.prepare_cached(select);
                let text: String = read
                    .and_then(|mut read| read.query_row([], |row| row.get(0)))
                    .expect("the row");
                let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                value["clock"] = clock.into();
                let write = file.prepare_cached(update);
                write
                    .and_then(|mut write| write.execute(params![value.to_string(), clock]))
                    .expect("an update");
            }
            file.execute_batch("COMMIT").expect("a commit");
        }
    });
}

#[divan::bench]
fn one_task(bencher: Bencher) {
    let (_folder, runtime, store) = store();
    let clock = AtomicI64::new(2);
    bencher.counter(ItemsCount::new(MARKS)).bench_local(|| {
        runtime.block_on(async {
            for _ in 0..MARKS {
                let now = clock.fetch_add(1, Ordering::Relaxed);
                store.commit(mark(now), at(now)).await.expect("a mark");
            }
        });
    });
}

/// One task, in a store with twenty profiles that all failed before.
#[divan::bench]
fn one_task_among_twenty_profiles(bencher: Bencher) {
    let (_folder, runtime, store) = store();
    for number in 1..20 {
        let id = ProfileId::try_new(&format!("openai:{number}")).expect("an id");
        let secret = Secret::new(format!("sk-{number}"));
        let key = Credential::api_key(ProviderId::try_new("openai").expect("an id"), secret);
        runtime
            .block_on(store.upsert(id.clone(), key, at(0)))
            .expect("a profile");
        runtime
            .block_on(store.commit(mark_of(id, 0), at(1)))
            .expect("a mark");
    }
    let clock = AtomicI64::new(2);
    bencher.counter(ItemsCount::new(MARKS)).bench_local(|| {
        runtime.block_on(async {
            for _ in 0..MARKS {
                let now = clock.fetch_add(1, Ordering::Relaxed);
                store.commit(mark(now), at(now)).await.expect("a mark");
            }
        });
    });
}

/// One task that waits for the last of its marks only.
#[divan::bench]
fn one_task_in_a_row(bencher: Bencher) {
    let (_folder, runtime, store) = store();
    let clock = AtomicI64::new(2);
    bencher.counter(ItemsCount::new(MARKS)).bench_local(|| {
        for _ in 1..MARKS {
            let now = clock.fetch_add(1, Ordering::Relaxed);
            store.enqueue(mark(now), at(now));
        }
        let now = clock.fetch_add(1, Ordering::Relaxed);
        runtime
            .block_on(store.commit(mark(now), at(now)))
            .expect("a mark");
    });
}

#[divan::bench]
fn sixteen_tasks(bencher: Bencher) {
    let (_folder, runtime, store) = store();
    let clock = Arc::new(AtomicI64::new(2));
    bencher.counter(ItemsCount::new(MARKS)).bench_local(|| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|_| {
                    let (store, clock) = (Arc::clone(&store), Arc::clone(&clock));
                    tokio::spawn(async move {
                        for _ in 0..MARKS / TASKS {
                            let now = clock.fetch_add(1, Ordering::Relaxed);
                            store.commit(mark(now), at(now)).await.expect("a mark");
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("a task");
            }
        });
    });
}

#[divan::bench]
fn snapshot(bencher: Bencher) {
    let (_folder, _runtime, store) = store();
    bencher.bench_local(|| black_box(store.snapshot()));
}
