//! What every engine must do: one suite, run on each of them, and on engines of the caller's own.

#![expect(clippy::unwrap_used, reason = "an expectation that is not met ends the check")]

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_cooldown::{FailureEvent, MarkScope, SuccessEvent};
use openclaw_ids::{ModelId, ProfileId, ProviderId};

use crate::{
    AuthSnapshot, ChangeOutcome, Credential, EndpointKey, ProfileStore, Secret, StoreError, UsageChange,
    UsageStore,
};

/// The start of every test's time.
pub(crate) const NOW: i64 = 1_750_000_000_000;

/// That many seconds after the start.
pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(NOW + seconds * 1_000).unwrap()
}

pub(crate) fn openai() -> ProviderId {
    "openai".parse().unwrap()
}

pub(crate) fn profile(id: &str) -> ProfileId {
    id.parse().unwrap()
}

pub(crate) fn key(text: &str) -> Credential {
    Credential::api_key(openai(), Secret::new(text))
}

/// A failure of an attempt that started a millisecond before it failed.
pub(crate) fn failure(id: &str, reason: Reason, model: Option<&str>, seconds: i64) -> UsageChange {
    let scope = match model {
        Some(_) => MarkScope::Model,
        None => MarkScope::Profile,
    };
    let event = FailureEvent {
        provider: openai(),
        reason,
        scope,
        model: model.map(|model| ModelId::try_new(model).unwrap()),
        hint: None,
        started_at: Some(at(seconds)),
    };
    UsageChange::Failure {
        profile: profile(id),
        event,
    }
}

pub(crate) fn success(id: &str, model: Option<&str>, seconds: i64) -> UsageChange {
    let event = SuccessEvent {
        model: model.map(|model| ModelId::try_new(model).unwrap()),
        started_at: Some(at(seconds)),
    };
    UsageChange::Success {
        profile: profile(id),
        event,
    }
}

/// Runs the whole suite on an engine without profiles. The engine's cooldowns are the default ones.
///
/// # Panics
/// At the first promise that is not kept.
pub async fn check<S: UsageStore + ProfileStore>(store: &S) {
    profiles_come_and_go(store).await;
    orders_are_kept(store).await;
    a_mark_is_visible_when_it_returns(store).await;
    an_operator_ends_and_sets_windows(store).await;
    a_use_is_visible_at_once(store).await;
    queued_changes_keep_their_place(store).await;
    unknown_profiles_are_refused(store).await;
    another_secret_starts_clean(store).await;
    one_probe_is_in_flight(store).await;
    endpoints_rest_by_themselves(store).await;
    no_mark_is_lost(store).await;
    a_provider_goes_as_a_whole(store).await;
}

/// 8.3
async fn a_provider_goes_as_a_whole<S: UsageStore + ProfileStore>(store: &S) {
    let other = Credential::api_key("anthropic".parse().unwrap(), Secret::new("k"));
    store.upsert(profile("other"), other, at(900)).await.unwrap();
    store.remove_provider(openai(), at(900)).await.unwrap();
    let left: Vec<_> = store.snapshot().profiles.keys().cloned().collect();
    assert_eq!(left, [profile("other")]);
}

async fn profiles_come_and_go<S: UsageStore + ProfileStore>(store: &S) {
    for id in ["b", "a", "gone"] {
        store.upsert(profile(id), key(id), at(0)).await.unwrap();
    }
    store.remove(profile("gone"), at(0)).await.unwrap();
    let shown: Vec<_> = store.snapshot().profiles.keys().cloned().collect();
    assert_eq!(shown, [profile("b"), profile("a")], "in the order they came");
    let again = store.remove(profile("gone"), at(0)).await;
    assert!(
        matches!(again, Err(StoreError::UnknownProfile { .. })),
        "{again:?}"
    );
    let local = store
        .upsert(profile("x"), Credential::local(openai()), at(0))
        .await;
    assert!(matches!(local, Err(StoreError::NotStorable { .. })), "{local:?}");
}

async fn orders_are_kept<S: UsageStore + ProfileStore>(store: &S) {
    let ids = vec![profile("a"), profile("b"), profile("a")];
    store.set_order(openai(), ids, at(0)).await.unwrap();
    assert_eq!(store.snapshot().order[&openai()], [profile("a"), profile("b")]);
    store.set_order(openai(), Vec::new(), at(0)).await.unwrap();
    assert!(store.snapshot().order.is_empty());
}

async fn a_mark_is_visible_when_it_returns<S: UsageStore + ProfileStore>(store: &S) {
    let a = profile("a");
    let marked = store.commit(failure("a", Reason::Billing, None, 1), at(1)).await;
    assert_eq!(marked.unwrap(), ChangeOutcome::Done);
    let block = store.snapshot().usage(&a).block(None, at(1)).unwrap();
    assert_eq!((block.reason, block.until), (Reason::Billing, at(1 + 5 * 3_600)));
    let cleared = store
        .commit(UsageChange::Clear { profile: a.clone() }, at(2))
        .await;
    assert_eq!(cleared.unwrap(), ChangeOutcome::Done);
    assert!(store.snapshot().usage(&a).is_usable(None, at(2)));
    let marked = store.commit(success("a", None, 3), at(3)).await;
    assert_eq!(marked.unwrap(), ChangeOutcome::Done);
    assert_eq!(store.snapshot().last_good[&openai()], a);
}

async fn an_operator_ends_and_sets_windows<S: UsageStore + ProfileStore>(store: &S) {
    let a = profile("a");
    for model in ["m", "n"] {
        let mark = failure("a", Reason::Overloaded, Some(model), 4);
        store.commit(mark, at(4)).await.unwrap();
    }
    let clear = UsageChange::ClearLane {
        profile: a.clone(),
        lane: "model:m".parse().unwrap(),
    };
    assert_eq!(
        store.commit(clear.clone(), at(4)).await.unwrap(),
        ChangeOutcome::Done
    );
    assert_eq!(
        store.commit(clear, at(4)).await.unwrap(),
        ChangeOutcome::Unchanged
    );
    let free = |model: &str, seconds| {
        let model = ModelId::try_new(model).unwrap();
        store.snapshot().usage(&a).is_usable(Some(&model), at(seconds))
    };
    assert!(free("m", 4) && !free("n", 4));
    let rest = |seconds| UsageChange::CoolDown {
        profile: a.clone(),
        until: at(seconds),
    };
    assert_eq!(store.commit(rest(500), at(4)).await.unwrap(), ChangeOutcome::Done);
    assert!(!free("m", 499) && free("m", 500));
    assert_eq!(store.commit(rest(4), at(4)).await.unwrap(), ChangeOutcome::Done);
    assert!(free("m", 4));
    let success = success("a", None, 4);
    store.commit(success, at(4)).await.unwrap();
}

async fn a_use_is_visible_at_once<S: UsageStore + ProfileStore>(store: &S) {
    let used = UsageChange::Used {
        profile: profile("b"),
    };
    let noted = store.commit(used.clone(), at(10)).await;
    assert_eq!(noted.unwrap(), ChangeOutcome::Done);
    assert_eq!(store.snapshot().usage(&profile("b")).last_used, Some(at(10)));
    store.enqueue(used, at(11));
    assert_eq!(store.snapshot().usage(&profile("b")).last_used, Some(at(11)));
    // A mark of another profile does not forget it.
    store.commit(success("a", None, 12), at(12)).await.unwrap();
    assert_eq!(store.snapshot().usage(&profile("b")).last_used, Some(at(11)));
}

async fn queued_changes_keep_their_place<S: UsageStore + ProfileStore>(store: &S) {
    store.enqueue(failure("b", Reason::AuthPermanent, None, 20), at(20));
    store.enqueue(
        UsageChange::Clear {
            profile: profile("b"),
        },
        at(21),
    );
    store.enqueue(failure("b", Reason::RateLimit, Some("m"), 22), at(22));
    store.commit(success("a", None, 23), at(23)).await.unwrap();
    let block = store.snapshot().usage(&profile("b")).block(None, at(23)).unwrap();
    assert_eq!((block.reason, block.until), (Reason::RateLimit, at(52)));
}

async fn unknown_profiles_are_refused<S: UsageStore + ProfileStore>(store: &S) {
    let before = store.snapshot();
    for change in [
        failure("nobody", Reason::Auth, None, 30),
        success("nobody", None, 30),
        UsageChange::Clear {
            profile: profile("nobody"),
        },
        UsageChange::Used {
            profile: profile("nobody"),
        },
    ] {
        let refused = store.commit(change.clone(), at(30)).await;
        assert!(
            matches!(refused, Err(StoreError::UnknownProfile { .. })),
            "{change:?}: {refused:?}"
        );
        store.enqueue(change, at(30));
    }
    store
        .commit(
            UsageChange::Clear {
                profile: profile("a"),
            },
            at(30),
        )
        .await
        .unwrap();
    assert_eq!(store.snapshot().usage, before.usage);
}

async fn another_secret_starts_clean<S: UsageStore + ProfileStore>(store: &S) {
    let a = profile("a");
    store
        .commit(failure("a", Reason::Billing, None, 40), at(40))
        .await
        .unwrap();
    store.upsert(a.clone(), key("a"), at(41)).await.unwrap();
    assert!(
        !store.snapshot().usage(&a).is_usable(None, at(41)),
        "the same key again"
    );
    store.upsert(a.clone(), key("a2"), at(42)).await.unwrap();
    assert!(store.snapshot().usage(&a).is_usable(None, at(42)));
}

async fn one_probe_is_in_flight<S: UsageStore + ProfileStore>(store: &S) {
    let provider = openai;
    let holder = str::to_owned;
    let start = |who: &str| UsageChange::ProbeStart {
        provider: provider(),
        holder: holder(who),
    };
    let renew = |who: &str| UsageChange::ProbeRenew {
        provider: provider(),
        holder: holder(who),
    };
    let end = |who: &str| UsageChange::ProbeEnd {
        provider: provider(),
        holder: holder(who),
    };
    for (seconds, change, expected) in [
        (100, start("one"), ChangeOutcome::Done),
        (101, start("two"), ChangeOutcome::HeldElsewhere),
        (120, renew("one"), ChangeOutcome::Done),
        (121, end("two"), ChangeOutcome::Unchanged),
        (121, end("one"), ChangeOutcome::Done),
        (130, start("two"), ChangeOutcome::Done),
        (200, start("three"), ChangeOutcome::Done),
        (201, renew("two"), ChangeOutcome::HeldElsewhere),
    ] {
        assert_eq!(
            store.commit(change.clone(), at(seconds)).await.unwrap(),
            expected,
            "{change:?}"
        );
    }
    let state = store.snapshot().probes[&openai()].clone();
    assert_eq!((state.last_probe_at, state.generation), (at(200), 3));
    assert_eq!(state.lease.unwrap().expires, at(260));
}

async fn endpoints_rest_by_themselves<S: UsageStore + ProfileStore>(store: &S) {
    let endpoint = |base_url: &str| EndpointKey {
        provider: openai(),
        base_url: base_url.to_owned(),
    };
    for base_url in ["https://a", "https://b"] {
        let failed = UsageChange::EndpointFailure {
            endpoint: endpoint(base_url),
            started_at: None,
        };
        store.commit(failed, at(300)).await.unwrap();
    }
    let answered = UsageChange::EndpointSuccess {
        endpoint: endpoint("https://a"),
    };
    store.commit(answered, at(301)).await.unwrap();
    let snapshot = store.snapshot();
    assert_eq!(snapshot.endpoints.len(), 1);
    assert!(snapshot.endpoints[&endpoint("https://b")].is_active(at(301)));
}

async fn no_mark_is_lost<S: UsageStore + ProfileStore>(store: &S) {
    const MARKS: u64 = 100;
    let before = count(&store.snapshot());
    let marks = (0..MARKS).map(|_| store.commit(failure("b", Reason::Overloaded, Some("m"), 400), at(400)));
    let marks: Vec<_> = marks.map(Box::pin).collect();
    for mark in marks {
        mark.await.unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..MARKS / 4 {
                    store.enqueue(failure("b", Reason::Overloaded, Some("m"), 400), at(400));
                }
            });
        }
    });
    store
        .commit(
            UsageChange::Clear {
                profile: profile("a"),
            },
            at(401),
        )
        .await
        .unwrap();
    assert_eq!(count(&store.snapshot()) - before, 2 * MARKS);
}

fn count(snapshot: &AuthSnapshot) -> u64 {
    let counts = &snapshot.usage(&profile("b")).failure_counts;
    counts.get(&Reason::Overloaded).copied().unwrap_or(0)
}
