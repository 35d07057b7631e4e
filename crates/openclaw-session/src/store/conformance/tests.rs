//! The cases of the conformance suite.
#![expect(clippy::unwrap_used, reason = "a case that fails panics")]

use super::fixtures::{at, auto, entry, fallback, id, key, user};
use crate::entry::SessionEntry;
use crate::fallback_override::{PersistOutcome, Rollback, SkipCause, persist_fallback, roll_back};
use crate::store::{CasOutcome, Revision, SessionStore, VersionedEntry, update};

pub(crate) async fn put(store: &impl SessionStore, at_key: &str, entry: SessionEntry) {
    update(store, &key(at_key), |_| (Some(entry.clone()), ()))
        .await
        .unwrap();
}

pub(crate) async fn stored(store: &impl SessionStore, at_key: &str) -> SessionEntry {
    store.load(&key(at_key)).await.unwrap().unwrap().entry
}

/// Persists a fallback for a run that read `read`, as the runner does.
async fn persist(store: &impl SessionStore, read: &SessionEntry, candidate: &str) -> PersistOutcome {
    let change = fallback(read, "home/m", candidate);
    update(store, &key("k"), |entry| {
        persist_fallback(entry.unwrap(), &change, at(2000))
    })
    .await
    .unwrap()
}

async fn undo(store: &impl SessionStore, rollback: &Rollback) {
    update(store, &key("k"), |entry| {
        (entry.and_then(|entry| roll_back(entry, rollback, at(3000))), ())
    })
    .await
    .unwrap();
}

async fn choose(store: &impl SessionStore, members: &str) {
    update(store, &key("k"), |entry| {
        let mut chosen = entry.unwrap().clone();
        chosen.restore(super::fixtures::entry(members).selection());
        (Some(chosen), ())
    })
    .await
    .unwrap();
}

pub(crate) fn rollback_of(persisted: PersistOutcome) -> Rollback {
    match persisted {
        PersistOutcome::Written(rollback) => rollback,
        PersistOutcome::Skipped(cause) => panic!("nothing was written: {cause:?}"),
    }
}

pub(crate) async fn a_missing_session_is_none(store: &impl SessionStore) {
    assert_eq!(store.load(&key("k")).await.unwrap(), None);
}

pub(crate) async fn what_was_stored_is_loaded(store: &impl SessionStore) {
    let written = entry(r#""channel": {"kept": true}, "modelOverride": "a/m""#);
    let outcome = store
        .compare_and_set(&key("k"), Revision::NONE, written.clone())
        .await
        .unwrap();
    let CasOutcome::Stored(revision) = outcome else {
        panic!("{outcome:?}");
    };
    let found = store.load(&key("k")).await.unwrap();
    assert_eq!(
        found,
        Some(VersionedEntry {
            entry: written,
            revision
        })
    );
}

pub(crate) async fn a_stale_expectation_stores_nothing_and_shows_what_is_there(store: &impl SessionStore) {
    put(store, "k", entry(&user("a/m"))).await;
    let there = store.load(&key("k")).await.unwrap();
    let revision = there.as_ref().unwrap().revision;
    for expected in [Revision::NONE, revision.next()] {
        let outcome = store
            .compare_and_set(&key("k"), expected, entry(""))
            .await
            .unwrap();
        assert_eq!(outcome, CasOutcome::Conflict(there.clone()));
    }
    let outcome = store
        .compare_and_set(&key("other"), revision, entry(""))
        .await
        .unwrap();
    assert_eq!(outcome, CasOutcome::Conflict(None));
    assert_eq!(store.load(&key("k")).await.unwrap(), there);
    assert_eq!(store.load(&key("other")).await.unwrap(), None);
}

pub(crate) async fn an_update_that_wants_nothing_writes_nothing(store: &impl SessionStore) {
    put(store, "k", entry("")).await;
    let before = store.load(&key("k")).await.unwrap();
    let seen = update(store, &key("k"), |entry| (None, entry.is_some()))
        .await
        .unwrap();
    assert!(seen);
    assert_eq!(store.load(&key("k")).await.unwrap(), before);
}

pub(crate) async fn an_update_repeats_its_fold_when_another_writer_was_faster(store: &impl SessionStore) {
    put(store, "k", entry("")).await;
    let (first, second) = (count_compactions(store, 20), count_compactions(store, 20));
    tokio::join!(first, second);
    assert_eq!(stored(store, "k").await.compaction_count, 40);
}

async fn count_compactions(store: &impl SessionStore, times: usize) {
    for _ in 0..times {
        update(store, &key("k"), |entry| {
            let mut next = entry.unwrap().clone();
            next.compaction_count += 1;
            (Some(next), ())
        })
        .await
        .unwrap();
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn sessions_do_not_meet(store: &impl SessionStore) {
    put(store, "k", entry(&user("a/m"))).await;
    put(store, "K", entry(&user("b/m"))).await;
    assert_eq!(stored(store, "k").await, entry(&user("a/m")));
    assert_eq!(stored(store, "K").await, entry(&user("b/m")));
}

pub(crate) async fn the_list_starts_with_the_last_active(store: &impl SessionStore) {
    for (name, millis) in [("old", 1), ("b", 5), ("a", 5), ("new", 9)] {
        put(store, name, SessionEntry::new(id(name), at(millis))).await;
    }
    let names: Vec<_> = store
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|(key, _)| key.to_string())
        .collect();
    assert_eq!(names, ["new", "a", "b", "old"]);
}

pub(crate) async fn an_enqueued_rollback_is_seen_by_the_next_load(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "a/f1").await);
    assert!(stored(store, "k").await.is_active_fallback());
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(stored(store, "k").await.selection(), read.selection());
}

pub(crate) async fn an_enqueued_rollback_of_nothing_is_harmless(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "a/f1").await);
    undo(store, &rollback).await;
    let before = store.load(&key("k")).await.unwrap();
    store.enqueue_rollback(&key("k"), rollback.clone(), at(3000));
    store.enqueue_rollback(&key("missing"), rollback, at(3000));
    assert_eq!(store.load(&key("k")).await.unwrap(), before);
    assert_eq!(store.load(&key("missing")).await.unwrap(), None);
}

pub(crate) async fn hazard_2_a_choice_during_the_attempt_survives_its_failure(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "openai/gpt-5").await);
    choose(store, &user("openai/o4")).await;
    undo(store, &rollback).await;
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(
        stored(store, "k").await.selection(),
        entry(&user("openai/o4")).selection()
    );
}

pub(crate) async fn hazard_2_a_choice_during_the_attempt_survives_the_next_candidate(
    store: &impl SessionStore,
) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "openai/gpt-5").await);
    choose(store, &user("openai/o4")).await;
    undo(store, &rollback).await;
    assert_eq!(
        persist(store, &read, "a/f2").await,
        PersistOutcome::Skipped(SkipCause::UserPin)
    );
    // Also when the person went back to the default and left a pin of theirs.
    choose(
        store,
        r#""authProfileOverride": "p", "authProfileOverrideSource": "user""#,
    )
    .await;
    assert_eq!(
        persist(store, &read, "a/f2").await,
        PersistOutcome::Skipped(SkipCause::SelectionChanged)
    );
}

pub(crate) async fn hazard_3_a_choice_during_the_attempt_survives_its_success(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "openai/gpt-5").await);
    choose(store, &user("openai/gpt-5")).await;
    // Success keeps the rollback unused; a drop after it must not undo the choice either.
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(
        stored(store, "k").await.selection(),
        entry(&user("openai/gpt-5")).selection()
    );
}

pub(crate) async fn hazard_5_a_late_rollback_does_not_land_in_a_new_session(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let rollback = rollback_of(persist(store, &read, "a/f1").await);
    let mut renewed = stored(store, "k").await;
    renewed.session_id = id("s2");
    put(store, "k", renewed.clone()).await;
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(stored(store, "k").await, renewed);
}

pub(crate) async fn hazard_6_a_second_run_keeps_its_own_fallback(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    let first = rollback_of(persist(store, &read, "a/f1").await);
    // The second run starts on the first one's fallback and moves on to the next.
    let read_by_second = stored(store, "k").await;
    let second = rollback_of(persist(store, &read_by_second, "b/f2").await);
    undo(store, &first).await;
    let during = stored(store, "k").await;
    assert_eq!(
        during.selection().model_override,
        entry(&auto("b/f2", "home/m")).model_override
    );
    undo(store, &second).await;
    assert_eq!(stored(store, "k").await.selection(), read_by_second.selection());
}

pub(crate) async fn s_3_9_a_success_leaves_the_override_in_place(store: &impl SessionStore) {
    let read = entry("");
    put(store, "k", read.clone()).await;
    drop(rollback_of(persist(store, &read, "a/f1").await));
    assert!(stored(store, "k").await.is_active_fallback());
}

pub(crate) async fn s_4_7_and_hazard_13_a_failed_walk_leads_back_to_the_fallback_before(
    store: &impl SessionStore,
) {
    let sticky = entry(&auto("a/f1", "home/m"));
    put(store, "k", sticky.clone()).await;
    for candidate in ["b/f2", "c/f3"] {
        let rollback = rollback_of(persist(store, &sticky, candidate).await);
        undo(store, &rollback).await;
    }
    assert_eq!(stored(store, "k").await.selection(), sticky.selection());
}

pub(crate) async fn s_4_8_a_skipped_write_leaves_nothing_to_undo(store: &impl SessionStore) {
    let chosen = entry(&user("openai/o4"));
    put(store, "k", chosen.clone()).await;
    let before = store.load(&key("k")).await.unwrap();
    let persisted = persist(store, &chosen, "a/f1").await;
    assert_eq!(persisted, PersistOutcome::Skipped(SkipCause::UserPin));
    assert_eq!(store.load(&key("k")).await.unwrap(), before);
}
