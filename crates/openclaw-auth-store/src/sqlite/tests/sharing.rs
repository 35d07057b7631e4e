//! Two programs on one file: what one writes, the other sees and keeps.

use openclaw_classify::Reason;
use openclaw_cooldown::ProfileUsage;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::MemoryAuthStore;
use crate::store::conformance::{NOW, openai};

#[tokio::test]
async fn writes_of_another_store_show_by_themselves() {
    let (folder, one) = with_profiles().await;
    let two = open(folder.path()).unwrap();
    one.commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let a = profile("a");
    eventually("the other store's view", || {
        !two.snapshot().usage(&a).is_usable(None, at(1))
    });
    two.commit(success("a", None, 2), at(2)).await.unwrap();
    eventually("the first store's view", || {
        one.snapshot().usage(&a).is_usable(None, at(2))
    });
    // A caller that cannot wait refreshes.
    two.remove(a.clone(), at(3)).await.unwrap();
    one.refresh().unwrap();
    assert!(one.snapshot().credential(&a).is_none());
}

/// Reading the file again takes longer with more profiles.
#[tokio::test]
async fn only_what_others_wrote_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let by_hand = Timing {
        watch: Duration::from_hours(1),
        ..fast()
    };
    let (agent, config) = (AgentId::main(), CooldownConfig::default());
    let store =
        SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), by_hand).unwrap();
    let others = store.coordinator.writer().foreign_version();
    let mut look = FileObserver::new(
        FollowingReader::new(store.path().to_owned(), by_hand.wait),
        others,
    );
    // While the writer is busy a check is put off.
    let mut reads_again = |store: &SqliteAuthStore| {
        let before = store.snapshot();
        (0..10).any(|_| {
            drop(store.coordinator.writer());
            look.observe(store.path(), &store.cache, &store.coordinator);
            !Arc::ptr_eq(&before, &store.snapshot())
        })
    };
    assert!(!reads_again(&store), "no other process has written");
    store.upsert(profile("a"), key("a"), at(0)).await.unwrap();
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    assert!(!reads_again(&store), "this store has written");
    let file = outside(folder.path());
    let write = "UPDATE auth_profile_state SET updated_at = updated_at + 1";
    file.execute_batch(write).unwrap();
    assert!(reads_again(&store), "another process has written");
    assert!(!reads_again(&store), "no other process has written since");
    store.commit(success("a", None, 2), at(2)).await.unwrap();
    file.execute_batch(write).unwrap();
    assert!(reads_again(&store), "both have written");
}

#[tokio::test]
async fn d33_a_write_waits_for_another_programs() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    file.execute_batch("BEGIN IMMEDIATE; UPDATE auth_profile_store SET updated_at = 5")
        .unwrap();
    for _ in 0..50 {
        store.enqueue(failure("a", Reason::Overloaded, Some("m"), 1), at(1));
    }
    let pending = store.commit(failure("b", Reason::Billing, None, 1), at(1));
    assert!(
        store.snapshot().usage(&profile("a")).is_usable(None, at(1)),
        "nothing shows before it is stored"
    );
    file.execute_batch("COMMIT").unwrap();
    pending.await.unwrap();
    let snapshot = store.snapshot();
    assert_eq!(
        snapshot.usage(&profile("a")).failure_counts[&Reason::Overloaded],
        50
    );
    assert!(!snapshot.usage(&profile("b")).is_usable(None, at(1)));
}

/// Also BL-41: a probe of one process can be seen and ended by every other one.
#[tokio::test]
async fn g4_of_two_stores_one_gets_to_probe() {
    let (folder, one) = with_profiles().await;
    let two = open(folder.path()).unwrap();
    let start = |holder: &str| UsageChange::ProbeStart {
        provider: openai(),
        holder: holder.to_owned(),
    };
    // Neither has seen the other's probe when it asks.
    one.enqueue(start("one"), at(1));
    two.enqueue(start("two"), at(1));
    let (first, second) = (
        one.commit(start("one"), at(1)).await,
        two.commit(start("two"), at(1)).await,
    );
    let mut outcomes = [first.unwrap(), second.unwrap()];
    outcomes.sort_by_key(|outcome| *outcome != ChangeOutcome::Done);
    assert_eq!(outcomes, [ChangeOutcome::Done, ChangeOutcome::HeldElsewhere]);
    // The holder died; its lease frees itself.
    assert_eq!(
        two.commit(start("three"), at(61)).await.unwrap(),
        ChangeOutcome::Done
    );
}

#[tokio::test]
async fn d11_a_use_reaches_the_file_by_itself() {
    let (folder, store) = with_profiles().await;
    store
        .commit(
            UsageChange::Used {
                profile: profile("a"),
            },
            at(5),
        )
        .await
        .unwrap();
    let file = outside(folder.path());
    eventually("the stored use", || {
        state(&file)["usageStats"]["a"]["lastUsed"] == json!(NOW + 5_000)
    });
}

#[tokio::test]
async fn d11_a_use_reaches_the_file_with_the_next_mark_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let never = Timing {
        use_delay: Duration::from_hours(1),
        ..fast()
    };
    let open = || {
        let (agent, config) = (AgentId::main(), CooldownConfig::default());
        SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), never).unwrap()
    };
    let store = open();
    for id in ["a", "b"] {
        store.upsert(profile(id), key(id), at(0)).await.unwrap();
    }
    let used = |id: &str| UsageChange::Used { profile: profile(id) };
    store.commit(used("a"), at(5)).await.unwrap();
    store
        .commit(failure("b", Reason::Overloaded, Some("m"), 6), at(6))
        .await
        .unwrap();
    let file = outside(folder.path());
    assert_eq!(state(&file)["usageStats"]["a"]["lastUsed"], json!(NOW + 5_000));
    store.commit(used("b"), at(7)).await.unwrap();
    assert_eq!(state(&file)["usageStats"]["b"].get("lastUsed"), None);
    drop(store);
    assert_eq!(state(&file)["usageStats"]["b"]["lastUsed"], json!(NOW + 7_000));
    assert_eq!(open().snapshot().usage(&profile("b")).last_used, Some(at(7)));
}

#[tokio::test]
async fn d10_d11_a_success_that_forgives_nothing_is_written_with_the_next_mark() {
    let folder = tempfile::tempdir().unwrap();
    let never = Timing {
        use_delay: Duration::from_hours(1),
        ..fast()
    };
    let (agent, config) = (AgentId::main(), CooldownConfig::default());
    let store = SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), never).unwrap();
    store.upsert(profile("a"), key("a"), at(0)).await.unwrap();
    let file = outside(folder.path());
    let last_used = || state(&file)["usageStats"]["a"]["lastUsed"].clone();

    // The first one records the last good profile.
    store.commit(success("a", None, 1), at(1)).await.unwrap();
    assert_eq!(last_used(), json!(NOW + 1_000));
    eventually("nothing waits", || !store.coordinator.has_waiting());
    store.commit(success("a", None, 2), at(2)).await.unwrap();
    assert_eq!(store.snapshot().usage(&profile("a")).last_used, Some(at(2)));
    assert_eq!(last_used(), json!(NOW + 1_000));

    let rests = failure("a", Reason::Overloaded, Some("m"), 3);
    store.commit(rests, at(3)).await.unwrap();
    assert_eq!(last_used(), json!(NOW + 2_000));
    store.commit(success("a", Some("m"), 4), at(4)).await.unwrap();
    assert_eq!(last_used(), json!(NOW + 4_000));
    assert!(state(&file)["usageStats"]["a"].get("cooldownUntil").is_none());
}

pub(super) fn changes() -> impl Strategy<Value = Vec<(UsageChange, i64)>> {
    let model = || prop::option::of(prop::sample::select(vec!["m", "n"]));
    let id = || prop::sample::select(vec!["a", "b"]);
    let reason = prop::sample::select(vec![
        Reason::Auth,
        Reason::Billing,
        Reason::RateLimit,
        Reason::Overloaded,
        Reason::AuthPermanent,
    ]);
    let change = prop_oneof![
        4 => (id(), reason, model(), -50_i64..50).prop_map(|(id, reason, model, late)| failure(id, reason, model, late)),
        2 => (id(), model(), -50_i64..50).prop_map(|(id, model, late)| success(id, model, late)),
        1 => id().prop_map(|id| UsageChange::Used { profile: profile(id) }),
        1 => id().prop_map(|id| UsageChange::Clear { profile: profile(id) }),
    ];
    prop::collection::vec((change, 0_i64..4_000), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After any changes the file equals the reference engine, also after it was opened again.
    #[test]
    fn the_file_is_the_fold(changes in changes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (folder, store) = with_profiles().await;
            let mut start = AuthSnapshot::default();
            for id in ["a", "b"] {
                start.upsert(profile(id), key(id)).unwrap();
            }
            let memory = MemoryAuthStore::new(start, CooldownConfig::default());
            let mut now = 0;
            for (change, pause) in changes {
                now += pause;
                let applied = store.commit(change.clone(), at(now)).await.unwrap();
                assert_eq!(memory.commit(change, at(now)).await.unwrap(), applied);
            }
            assert_eq!(used_only(&store), used_only(&memory));
            drop(store);
            assert_eq!(used_only(&open(folder.path()).unwrap()), used_only(&memory));
        });
    }
}

/// The usage, without profiles that have none.
pub(super) fn used_only(store: &impl UsageStore) -> AuthSnapshot {
    let mut snapshot = (*store.snapshot()).clone();
    for id in ["a", "b"] {
        let nothing = ProfileUsage {
            fingerprint: key(id).fingerprint(),
            ..ProfileUsage::default()
        };
        if *snapshot.usage(&profile(id)) == nothing {
            snapshot.usage.remove(&profile(id));
        }
    }
    snapshot
}
