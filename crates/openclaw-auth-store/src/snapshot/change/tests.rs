//! Each change of the usage state, folded.

use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{EndpointWindow, MarkScope};

use super::*;
use crate::{Credential, ProbeLease, ProbeState, Secret};

const NOW: i64 = 1_750_000_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(NOW + seconds * 1_000).unwrap()
}

fn openai() -> ProviderId {
    "openai".parse().unwrap()
}

fn work() -> ProfileId {
    "openai:work".parse().unwrap()
}

fn store() -> AuthSnapshot {
    let mut store = AuthSnapshot::default();
    store
        .upsert(work(), Credential::api_key(openai(), Secret::new("sk-1")))
        .unwrap();
    store
}

fn failure(profile: ProfileId, reason: Reason) -> UsageChange {
    let event = FailureEvent {
        provider: openai(),
        reason,
        scope: MarkScope::Profile,
        model: None,
        hint: None,
        started_at: None,
    };
    UsageChange::Failure { profile, event }
}

fn success(profile: ProfileId) -> UsageChange {
    let event = SuccessEvent {
        model: None,
        started_at: Some(at(1)),
    };
    UsageChange::Success { profile, event }
}

fn apply(store: &mut AuthSnapshot, change: &UsageChange, seconds: i64) -> ChangeOutcome {
    store.apply(change, at(seconds), &CooldownConfig::default())
}

#[test]
fn a_failure_rests_the_profile_and_a_success_frees_it() {
    let mut store = store();
    assert_eq!(
        apply(&mut store, &failure(work(), Reason::Billing), 0),
        ChangeOutcome::Done
    );
    assert!(!store.usage(&work()).is_usable(None, at(1)));
    assert_eq!(apply(&mut store, &success(work()), 1), ChangeOutcome::Done);
    assert!(store.usage(&work()).is_usable(None, at(1)));
    assert_eq!(store.usage(&work()).last_used, Some(at(1)));
    assert_eq!(store.last_good.get(&openai()), Some(&work()));
}

#[test]
fn d7_what_a_usage_check_found_counts_for_the_login_that_was_asked_about() {
    let login = |access: &str| {
        let entry =
            serde_json::json!({"type": "oauth", "provider": "openai", "access": access, "accountId": "a"});
        match Credential::from_json(&entry).unwrap() {
            Credential::Oauth(login) => login,
            other => panic!("{other:?}"),
        }
    };
    let mut store = AuthSnapshot::default();
    store.upsert(work(), Credential::Oauth(login("one"))).unwrap();
    let found = |access| UsageChange::StatedEnd {
        profile: work(),
        login: Box::new(login(access)),
        event: FailureEvent {
            provider: openai(),
            reason: Reason::RateLimit,
            scope: MarkScope::Profile,
            model: None,
            hint: Some(ResetHint::new(at(7_200), HintSource::UsageCheck, at(0))),
            started_at: Some(at(0)),
        },
    };
    assert_eq!(apply(&mut store, &found("another"), 1), ChangeOutcome::Unchanged);
    assert!(store.usage(&work()).is_usable(None, at(1)));
    assert_eq!(apply(&mut store, &found("one"), 1), ChangeOutcome::Done);
    assert!(!store.usage(&work()).is_usable(None, at(7_199)));
    assert!(store.usage(&work()).is_usable(None, at(7_200)));
}

#[test]
fn clear_forgives_and_has_nothing_to_do_twice() {
    let mut store = store();
    apply(&mut store, &failure(work(), Reason::AuthPermanent), 0);
    let clear = UsageChange::Clear { profile: work() };
    assert_eq!(apply(&mut store, &clear, 1), ChangeOutcome::Done);
    assert!(store.usage(&work()).is_usable(None, at(1)));
    assert_eq!(apply(&mut store, &clear, 2), ChangeOutcome::Unchanged);
}

#[test]
fn bl_73_a_change_of_an_unknown_profile_is_an_error_and_changes_nothing() {
    let mut store = store();
    let before = store.clone();
    let gone: ProfileId = "gone".parse().unwrap();
    for change in [
        failure(gone.clone(), Reason::Auth),
        success(gone.clone()),
        UsageChange::Clear {
            profile: gone.clone(),
        },
        UsageChange::ClearLane {
            profile: gone.clone(),
            lane: Lane::Billing,
        },
        UsageChange::CoolDown {
            profile: gone.clone(),
            until: at(9),
        },
        UsageChange::Used { profile: gone },
    ] {
        assert_eq!(apply(&mut store, &change, 0), ChangeOutcome::Unchanged);
        let error = store.check(&change).unwrap_err().to_string();
        assert!(error.contains("does not exist in the store"), "{error}");
        assert!(
            !error.contains("gone"),
            "profile ids are hashed in errors (Z3): {error}"
        );
    }
    assert_eq!(store, before);
}

#[test]
fn d11_bl_49_use_counts_at_once_and_never_backwards() {
    let mut store = store();
    let used = UsageChange::Used { profile: work() };
    assert_eq!(apply(&mut store, &used, 5), ChangeOutcome::Done);
    assert_eq!(apply(&mut store, &used, 3), ChangeOutcome::Unchanged);
    assert_eq!(store.usage(&work()).last_used, Some(at(5)));
}

#[test]
fn d9_state_of_another_secret_does_not_count() {
    let mut store = store();
    apply(&mut store, &failure(work(), Reason::Billing), 0);
    store
        .profiles
        .insert(work(), Credential::api_key(openai(), Secret::new("sk-2")));
    let mut fresh = store.clone().with_current_secrets();
    assert!(fresh.usage(&work()).is_usable(None, at(0)));
    // A change does not build on the old secret's state either.
    apply(&mut store, &failure(work(), Reason::Billing), 1);
    apply(&mut fresh, &failure(work(), Reason::Billing), 1);
    assert_eq!(store.usage, fresh.usage);
}

#[test]
fn x4_an_ambient_profile_has_state_but_is_no_last_good() {
    let mut store = AuthSnapshot::default();
    let env: ProfileId = "openai:env".parse().unwrap();
    let key = Credential::api_key(openai(), Secret::new("sk-1"));
    store.ambient.insert(env.clone(), key);
    assert_eq!(
        apply(&mut store, &failure(env.clone(), Reason::RateLimit), 0),
        ChangeOutcome::Done
    );
    assert!(!store.usage(&env).is_usable(None, at(1)));
    apply(&mut store, &success(env), 1);
    assert!(store.last_good.is_empty());
}

#[test]
fn endpoint_windows_belong_to_an_address() {
    let mut store = AuthSnapshot::default();
    let endpoint = EndpointKey {
        provider: openai(),
        base_url: "https://a".to_owned(),
    };
    let failed = UsageChange::EndpointFailure {
        endpoint: endpoint.clone(),
        started_at: None,
    };
    assert_eq!(apply(&mut store, &failed, 0), ChangeOutcome::Done);
    let window = EndpointWindow {
        opened_at: at(0),
        until: at(30),
    };
    assert_eq!(store.endpoints.get(&endpoint), Some(&window));
    assert_eq!(apply(&mut store, &failed, 1), ChangeOutcome::Unchanged);
    let answered = UsageChange::EndpointSuccess { endpoint };
    assert_eq!(apply(&mut store, &answered, 2), ChangeOutcome::Done);
    assert_eq!(apply(&mut store, &answered, 2), ChangeOutcome::Unchanged);
}

/// A step of a probe: seconds, holder, change, outcome.
type Step = (
    i64,
    &'static str,
    fn(ProviderId, String) -> UsageChange,
    ChangeOutcome,
);

fn start(provider: ProviderId, holder: String) -> UsageChange {
    UsageChange::ProbeStart { provider, holder }
}

fn renew(provider: ProviderId, holder: String) -> UsageChange {
    UsageChange::ProbeRenew { provider, holder }
}

fn end(provider: ProviderId, holder: String) -> UsageChange {
    UsageChange::ProbeEnd { provider, holder }
}

#[test]
fn g4_one_probe_of_a_provider_is_in_flight() {
    use ChangeOutcome::{Done, HeldElsewhere, Unchanged};
    let lives: &[(&str, &[Step])] = &[
        (
            "held for 60 s",
            &[
                (0, "a", start, Done),
                (59, "b", start, HeldElsewhere),
                (60, "b", start, Done),
            ],
        ),
        (
            "renewed every 20 s",
            &[
                (0, "a", start, Done),
                (20, "a", renew, Done),
                (79, "b", start, HeldElsewhere),
                (80, "b", start, Done),
            ],
        ),
        (
            "ended, then 30 s of peace",
            &[
                (0, "a", start, Done),
                (1, "a", end, Done),
                (29, "b", start, HeldElsewhere),
                (30, "b", start, Done),
            ],
        ),
        (
            "the same holder again",
            &[
                (0, "a", start, Done),
                (1, "a", start, Done),
                (2, "b", start, HeldElsewhere),
            ],
        ),
        (
            "only the holder renews and ends",
            &[
                (0, "a", start, Done),
                (1, "b", renew, HeldElsewhere),
                (1, "b", end, Unchanged),
                (2, "a", end, Done),
                (3, "a", end, Unchanged),
                (3, "a", renew, HeldElsewhere),
            ],
        ),
        (
            "a late renewal, no other holder took it",
            &[
                (0, "a", start, Done),
                (70, "a", renew, Done),
                (71, "b", start, HeldElsewhere),
            ],
        ),
        (
            "a late sign of life, taken over",
            &[
                (0, "a", start, Done),
                (60, "b", start, Done),
                (61, "a", renew, HeldElsewhere),
                (61, "a", end, Unchanged),
            ],
        ),
        (
            "a sign of life from a clock that is 20 s ahead",
            &[
                (20, "a", start, Done),
                (60, "a", renew, Done),
                (40, "b", start, HeldElsewhere),
                (99, "b", start, HeldElsewhere),
            ],
        ),
        (
            "a clock set back an hour blocks no holder",
            &[(3_600, "a", start, Done), (0, "b", start, Done)],
        ),
        (
            "two clocks read in the other order",
            &[
                (1, "a", start, Done),
                (1, "a", end, Done),
                (0, "b", start, HeldElsewhere),
            ],
        ),
    ];
    for (life, steps) in lives {
        let mut store = AuthSnapshot::default();
        for (seconds, holder, change, expected) in *steps {
            let applied = apply(&mut store, &change(openai(), (*holder).to_owned()), *seconds);
            assert_eq!(applied, *expected, "{life}: {holder} at {seconds}");
        }
    }
}

#[test]
fn g4_generations_grow_over_ended_leases() {
    let mut store = AuthSnapshot::default();
    apply(&mut store, &start(openai(), "a".to_owned()), 0);
    apply(&mut store, &end(openai(), "a".to_owned()), 1);
    apply(&mut store, &start(openai(), "b".to_owned()), 40);
    let lease = ProbeLease {
        holder: "b".to_owned(),
        generation: 2,
        expires: at(100),
    };
    let state = ProbeState {
        last_probe_at: at(40),
        generation: 2,
        lease: Some(lease),
    };
    assert_eq!(store.probes.get(&openai()), Some(&state));
}
