//! What a fallback writes, and what makes it write nothing.

use super::*;
use crate::entry::PinSource;
use crate::fallback_override::roll_back;
use crate::fallback_override::{drop_override, drop_stale_override};
use crate::lifecycle::{Reset, reset};
use crate::lifecycle::{SpawnModel, copy_user_selection, spawn_with_model};
use crate::primary_probe::{clear_after_probe, probe_due, settle_failed_probe};
use crate::testing::{at, auto, entry, fallback, id, model, pin, user};
use crate::user_selection::{MergeOutcome, merge};
use crate::user_selection::{ProfileChoice, UserSelection, apply_user_selection};

fn written(entry: &SessionEntry, change: &FallbackChoice) -> (SessionEntry, Rollback) {
    match persist_fallback(entry, change, at(2000)) {
        (Some(next), PersistOutcome::Written(rollback)) => (next, rollback),
        other => panic!("nothing was written: {other:?}"),
    }
}

#[test]
fn s_3_4_the_candidate_is_written_with_its_origin() {
    let before = entry("");
    let change = FallbackChoice {
        profile: Some(pin("anthropic:work", PinSource::User)),
        ..fallback(&before, "openai/gpt", "anthropic/claude")
    };
    let (next, rollback) = written(&before, &change);
    let expected = entry(&format!(
        r#"{}, "authProfileOverride": "anthropic:work", "authProfileOverrideSource": "user""#,
        auto("anthropic/claude", "openai/gpt")
    ));
    assert_eq!(next.selection(), expected.selection());
    assert_eq!(rollback.written(), &expected.selection());
    assert_eq!(rollback.before(), &before.selection());
    assert_eq!(next.updated_at, at(2000));
}

#[test]
fn s_3_4_without_a_profile_the_pin_is_removed() {
    let before = entry(r#""authProfileOverride": "openai:a", "authProfileOverrideCompactionCount": 1"#);
    let (next, _) = written(&before, &fallback(&before, "openai/gpt", "anthropic/claude"));
    assert_eq!(next.pin, StoredPin::default());
}

#[test]
fn s_3_3_and_s_3_10_when_nothing_is_written() {
    let plain = entry("");
    let sticky = entry(&auto("a/f1", "openai/gpt"));
    for (name, stored, change, cause) in [
        (
            "the requested model",
            plain.clone(),
            fallback(&plain, "a/m", "A/m"),
            SkipCause::RequestedModel,
        ),
        (
            "another transcript",
            plain.clone(),
            FallbackChoice {
                session_id: id("s0"),
                ..fallback(&plain, "a/m", "b/m")
            },
            SkipCause::SessionChanged,
        ),
        (
            "a user pin",
            entry(&user("a/m")),
            fallback(&plain, "a/m", "b/m"),
            SkipCause::UserPin,
        ),
        (
            "a legacy user pin",
            entry(r#""modelOverride": "a/m""#),
            fallback(&plain, "a/m", "b/m"),
            SkipCause::UserPin,
        ),
        (
            "a newer automatic choice",
            sticky.clone(),
            fallback(&plain, "a/m", "b/m"),
            SkipCause::SelectionChanged,
        ),
        (
            "a newer profile pin",
            entry(r#""authProfileOverride": "p""#),
            fallback(&plain, "a/m", "b/m"),
            SkipCause::SelectionChanged,
        ),
        (
            "said so already",
            sticky.clone(),
            fallback(&sticky, "openai/gpt", "a/f1"),
            SkipCause::Unchanged,
        ),
    ] {
        let outcome = persist_fallback(&stored, &change, at(2000));
        assert_eq!(outcome, (None, PersistOutcome::Skipped(cause)), "{name}");
    }
}

/// BL-65: however far the walk went, its origin stays the chosen model.
#[test]
fn s_3_4b_the_first_origin_survives_a_walk() {
    let before = entry(&auto("a/f1", "openai/gpt"));
    let (next, _) = written(&before, &fallback(&before, "a/f1", "b/f2"));
    assert_eq!(next.origin(), Some(model("openai/gpt")));
}

#[test]
fn s_3_4_a_legacy_automatic_override_gets_the_requested_model_as_origin() {
    let before = entry(r#""modelOverride": "a/f1", "modelOverrideSource": "auto""#);
    let (next, _) = written(&before, &fallback(&before, "openai/gpt", "b/f2"));
    assert_eq!(next.origin(), Some(model("openai/gpt")));
}

#[test]
fn s3_a_failed_probe_of_a_changed_primary_makes_it_the_origin() {
    let before = entry(&auto("a/f1", "openai/old"));
    let change = FallbackChoice {
        origin: Some(model("openai/new")),
        ..fallback(&before, "openai/new", "a/f1")
    };
    let (next, _) = written(&before, &change);
    assert_eq!(
        next.selection().model_override,
        entry(&auto("a/f1", "openai/new")).model_override
    );
}

#[test]
fn s_3_8_nothing_else_is_touched() {
    let before = entry(
        r#""fallbackNoticeReason": "r", "modelProvider": "p", "model": "m", "contextTokens": 5,
           "liveModelSwitchPending": true, "channel": "x""#,
    );
    let (mut next, _) = written(&before, &fallback(&before, "openai/gpt", "a/f1"));
    next.restore(before.selection());
    next.failover.fallback_since = None;
    next.updated_at = before.updated_at;
    assert_eq!(next, before);
}

#[test]
fn r5_a_persons_pin_is_parked_and_comes_back() {
    let pinned = r#""authProfileOverride": "openai:work", "authProfileOverrideSource": "user""#;
    let before = entry(pinned);
    let (away, rollback) = written(&before, &fallback(&before, "openai/gpt", "anthropic/claude"));
    assert_eq!(away.profile_pin(), None);
    let read_again: SessionEntry = serde_json::from_str(&serde_json::to_string(&away).unwrap()).unwrap();
    assert_eq!(read_again, away);

    let failed = roll_back(&away, &rollback, at(2000)).unwrap();
    assert_eq!(
        (failed.pin, failed.failover),
        (before.pin.clone(), before.failover.clone())
    );

    // A walk on to the next fallback, then a successful probe.
    let (further, _) = written(&away, &fallback(&away, "anthropic/claude", "google/gemini"));
    let probe = probe_due(&further, &model("openai/gpt"), at(2000)).unwrap();
    let home = clear_after_probe(&further, &probe, at(2000)).unwrap();
    assert_eq!(home.selection(), before.selection());

    // A heartbeat that finds the fallback stale.
    assert_eq!(drop_override(&away, at(2000)).selection(), before.selection());

    // A reset ends it, also the parked one (F-10).
    let selection = model("openai/gpt");
    for kind in [Reset::NewSession, Reset::Call { selection }] {
        let renewed = reset(&away, id("s2"), &kind, at(2000));
        assert_eq!(renewed.selection(), SelectionSnapshot::default(), "{kind:?}");
        assert_eq!(renewed.pin_after_fallback(), None, "{kind:?}");
    }

    // A newer choice is newer.
    let chosen = UserSelection::model(model("openai/o4"), None);
    let chosen = apply_user_selection(&away, &chosen, &model("openai/gpt"), at(2000)).unwrap();
    assert_eq!(chosen.selection(), entry(&user("openai/o4")).selection());
    assert_eq!(drop_override(&chosen, at(2000)).profile_pin(), None);
}

#[test]
fn s_3_1_and_hazard_1_every_reader_sees_the_model_before_its_attempt() {
    let before = entry("");
    let (during, _) = written(&before, &fallback(&before, "openai/gpt", "a/f1"));
    assert_eq!(during.active_fallback(), Some(model("a/f1")));
    // Reconciliation finds the selection that runs, so there is nothing to snap back to.
    assert!(!during.live_model_switch_pending);
}

#[test]
fn s_3_3a_the_requested_model_is_compared_normalised() {
    let before = entry("");
    for candidate in ["OPENAI/gpt", "openai/openai/gpt"] {
        let (next, persisted) =
            persist_fallback(&before, &fallback(&before, "openai/gpt", candidate), at(2000));
        assert_eq!(
            (next, persisted),
            (None, PersistOutcome::Skipped(SkipCause::RequestedModel)),
            "{candidate}"
        );
    }
}

#[test]
fn s_3_6_what_is_there_already_is_not_written_again() {
    let sticky = entry(&auto("a/f1", "openai/gpt"));
    let again = persist_fallback(&sticky, &fallback(&sticky, "openai/gpt", "a/f1"), at(2000));
    assert_eq!(again, (None, PersistOutcome::Skipped(SkipCause::Unchanged)));
}

#[test]
fn s_5_5e_a_candidate_of_another_provider_starts_without_the_pin() {
    let before = entry(r#""authProfileOverride": "openai:work", "authProfileOverrideSource": "user""#);
    let (during, _) = written(&before, &fallback(&before, "openai/gpt", "a/f1"));
    assert_eq!(during.profile_pin(), None);
    assert_eq!(
        during.pin_after_fallback(),
        Some(pin("openai:work", PinSource::User))
    );
}

#[test]
fn s_3_5_and_s1_the_write_builds_on_what_is_stored_and_not_on_what_was_read() {
    let read = entry("");
    let stored = entry(r#""compactionCount": 1, "notes": "newer""#);
    let (during, rollback) = written(&stored, &fallback(&read, "openai/gpt", "a/f1"));
    assert_eq!(during.unknown_member("notes"), Some(&"newer".into()));
    assert_eq!(during.compaction_count, 1);
    let mut expected = stored;
    expected.touch(at(3000));
    assert_eq!(roll_back(&during, &rollback, at(3000)), Some(expected));
}

#[test]
fn s_3_4_since_when_a_fallback_stands_is_kept_while_it_moves_along() {
    let plain = entry("");
    assert_eq!(plain.fallback_since(), None);
    let (first, rollback) = written(&plain, &fallback(&plain, "a/m", "b/m"));
    assert_eq!(first.fallback_since(), Some(at(2000)));
    let change = fallback(&first, "b/m", "c/m");
    let (Some(second), _) = persist_fallback(&first, &change, at(3000)) else {
        panic!("the walk goes on");
    };
    assert_eq!(second.fallback_since(), Some(at(2000)));
    let undone = roll_back(&first, &rollback, at(4000)).unwrap();
    assert_eq!(undone.fallback_since(), None);
    let again = persist_fallback(&undone, &fallback(&undone, "a/m", "b/m"), at(5000)).0;
    assert_eq!(again.unwrap().fallback_since(), Some(at(5000)));
}

#[test]
fn s_8_s_9_when_a_fallback_began_is_forgotten_with_it() {
    let before = entry("");
    let (stood, _) = persist_fallback(&before, &fallback(&before, "openai/gpt", "b/f1"), at(2000));
    let stood = stood.unwrap();
    assert_eq!(stood.failover.fallback_since, Some(2000));
    let gpt = model("openai/gpt");
    let chosen = |selection| apply_user_selection(&stood, &selection, &gpt, at(3000)).unwrap();
    let probe = probe_due(&stood, &gpt, at(3000)).unwrap();
    let picked = chosen(UserSelection::model(model("a/m"), None));
    let MergeOutcome::Applied(merged) = merge(&stood, &picked, &stood) else {
        panic!("no other writer changed it");
    };
    for (name, after) in [
        ("/model", picked),
        (
            "/model with what runs",
            chosen(UserSelection::model(model("b/f1"), None)),
        ),
        ("/model default", chosen(UserSelection::default_model())),
        ("model: null", chosen(UserSelection::cleared(ProfileChoice::Keep))),
        ("a choice that is merged", merged),
        ("/new", reset(&stood, id("s2"), &Reset::NewSession, at(3000))),
        (
            "sessions.reset",
            reset(
                &stood,
                id("s2"),
                &Reset::Call {
                    selection: gpt.clone(),
                },
                at(3000),
            ),
        ),
        (
            "a probe that went well",
            clear_after_probe(&stood, &probe, at(3000)).unwrap(),
        ),
        ("stale", drop_stale_override(&stood, &gpt, at(3000))),
        ("not allowed", drop_override(&stood, at(3000))),
        (
            "a spawned session",
            spawn_with_model(&stood, &SpawnModel::Configured(model("a/m")), at(3000)),
        ),
        (
            "a copied choice",
            copy_user_selection(&entry(&user("a/m")), &stood, at(3000)),
        ),
    ] {
        assert_eq!(after.failover.fallback_since, None, "{name}");
    }
    let walked = settle_failed_probe(&stood, &probe, &model("c/f2"), at(3000)).unwrap();
    assert_eq!(
        walked.fallback_since(),
        Some(at(2000)),
        "another fallback goes on"
    );
}
