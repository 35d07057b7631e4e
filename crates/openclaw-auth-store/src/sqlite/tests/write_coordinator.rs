//! Where changes are written, and that the cached state is never older than the file.

use std::fs;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use openclaw_classify::Reason;
use proptest::prelude::*;
use serde_json::json;

use super::sharing::changes;
use super::*;
use crate::MemoryAuthStore;
use crate::store::conformance::NOW;

/// The result of a future at its first poll.
fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(work).poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn mark(id: &str, second: i64) -> UsageChange {
    failure(id, Reason::Overloaded, Some("m"), second)
}

#[tokio::test]
async fn a_mark_is_durable_within_one_poll_without_other_writers() {
    let (folder, store) = with_profiles().await;
    // The upserts went through the worker, which may still hold the lock.
    eventually("a mark at once", || {
        at_once(store.commit(mark("a", 1), at(1))).is_some()
    });
    let file = outside(folder.path());
    assert!(state(&file)["usageStats"]["a"]["errorCount"].as_u64() >= Some(1));
}

#[tokio::test]
async fn d33_a_locked_file_never_holds_up_a_task() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    file.execute_batch("BEGIN IMMEDIATE; UPDATE auth_profile_store SET updated_at = 5")
        .unwrap();
    let mut waiting = Box::pin(store.commit(mark("a", 1), at(1)));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    // No change overtakes a queued one, whatever it is about.
    assert!(at_once(store.commit(mark("b", 2), at(2))).is_none());
    assert!(store.snapshot().usage(&profile("b")).is_usable(None, at(2)));
    file.execute_batch("COMMIT").unwrap();
    waiting.await.unwrap();
    eventually("the change whose future was dropped", || {
        !store.snapshot().usage(&profile("b")).is_usable(None, at(2))
    });
}

#[tokio::test]
async fn bl_74_what_another_process_wrote_in_between_is_kept() {
    let (folder, store) = with_profiles().await;
    store.commit(mark("a", 1), at(1)).await.unwrap();
    let file = outside(folder.path());
    file.execute_batch(
        "UPDATE auth_profile_store SET store_json = json_set(store_json, '$.profiles.c', json('{\"type\":\"api_key\",\"provider\":\"p\",\"key\":\"k\"}'));
         UPDATE auth_profile_state SET state_json = json_set(state_json, '$.order.p', json('[\"c\"]'));
         INSERT INTO failover_state VALUES ('later:kind', '{}', 1)",
    )
    .unwrap();
    store.commit(mark("a", 100), at(100)).await.unwrap();
    let snapshot = store.snapshot();
    assert!(
        snapshot.credential(&profile("c")).is_some(),
        "shown with the mark"
    );
    let stored: Value = serde_json::from_str(&text(&file, STORE)).unwrap();
    assert_eq!(stored["profiles"]["c"]["key"], "k");
    let stored = state(&file);
    assert_eq!(stored["order"]["p"], json!(["c"]));
    assert_eq!(stored["usageStats"]["a"]["lastFailureAt"], json!(NOW + 100_000));
    assert_eq!(
        text(
            &file,
            "SELECT value_json FROM failover_state WHERE key = 'later:kind'"
        ),
        "{}"
    );
}

#[tokio::test]
async fn x5_when_a_window_ends_the_other_program_is_told_of_the_next_one() {
    let (folder, store) = with_profiles().await;
    // A refused key hides the model's longer window until it ends.
    for second in [0, 100, 1_000] {
        store.commit(mark("a", second), at(second)).await.unwrap();
    }
    store
        .commit(failure("a", Reason::Auth, None, 1_001), at(1_001))
        .await
        .unwrap();
    let file = outside(folder.path());
    let shown = || state(&file)["usageStats"]["a"]["cooldownModel"].clone();
    assert_eq!(shown(), Value::Null);
    let usage = store.snapshot().usage(&profile("a")).clone();
    let ends: Vec<_> = usage.windows.values().map(|window| window.until).collect();
    let (first, last) = (ends.iter().min().unwrap(), ends.iter().max().unwrap());
    assert!(first < last, "{usage:?}");
    // Any later write mirrors it, also one that is about another profile.
    store.commit(success("b", None, 1), *first).await.unwrap();
    assert_eq!(shown(), json!("m"));
}

#[tokio::test]
async fn a_write_that_failed_is_forgotten_and_the_next_one_reads_again() {
    let (folder, store) = with_profiles().await;
    store.commit(mark("a", 1), at(1)).await.unwrap();
    let file = outside(folder.path());
    file.execute_batch("ALTER TABLE failover_state RENAME TO elsewhere")
        .unwrap();
    let error = store.commit(mark("a", 100), at(100)).await.unwrap_err();
    assert!(matches!(error, StoreError::Storage { .. }), "{error:?}");
    file.execute_batch("ALTER TABLE elsewhere RENAME TO failover_state")
        .unwrap();
    store.commit(mark("b", 101), at(101)).await.unwrap();
    drop(store);
    let reopened = open(folder.path()).unwrap().snapshot();
    let counts = &reopened.usage(&profile("a")).failure_counts;
    assert_eq!(
        counts[&Reason::Overloaded],
        2,
        "the mark that failed came with the next write"
    );
}

#[tokio::test]
async fn l21_files_that_became_readable_to_others_are_private_after_writes() {
    let (folder, store) = with_profiles().await;
    let names =
        ["", "-wal", "-shm"].map(|suffix| folder.path().join(format!("openclaw-agent.sqlite{suffix}")));
    let loosen = || {
        for name in &names {
            fs::set_permissions(name, fs::Permissions::from_mode(0o644)).unwrap();
        }
    };
    let modes = || {
        names
            .each_ref()
            .map(|name| fs::metadata(name).unwrap().permissions().mode() & 0o777)
    };
    loosen();
    store.upsert(profile("c"), key("c"), at(0)).await.unwrap();
    assert_eq!(modes(), [0o600; 3], "a write of the thread");
    loosen();
    for second in 0..64 {
        store.commit(mark("a", second), at(second)).await.unwrap();
    }
    assert_eq!(modes(), [0o600; 3], "some writes of tasks");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two processes on one file have the same state as one.
    #[test]
    fn two_writers_are_one_fold(changes in changes(), first in any::<u16>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (folder, one) = with_profiles().await;
            let two = open(folder.path()).unwrap();
            let mut start = AuthSnapshot::default();
            for id in ["a", "b"] {
                start.upsert(profile(id), key(id)).unwrap();
            }
            let memory = MemoryAuthStore::new(start, CooldownConfig::default());
            let mut now = 0;
            for (turn, (change, pause)) in changes.into_iter().enumerate() {
                // A use stays in its process for a moment: one of the other process would be no change.
                if matches!(change, UsageChange::Used { .. }) {
                    continue;
                }
                now += pause;
                let store = if first >> (turn % 16) & 1 == 0 { &one } else { &two };
                // Each reads what the other wrote before it decides.
                store.refresh().unwrap();
                let applied = store.commit(change.clone(), at(now)).await.unwrap();
                assert_eq!(memory.commit(change, at(now)).await.unwrap(), applied);
            }
            // What waited is written at the end.
            drop([one, two]);
            let after = open(folder.path()).unwrap();
            assert_eq!(sharing::used_only(&after), sharing::used_only(&memory));
        });
    }
}
