//! Which primary is probed and when, and what a probe leaves in the entry.

use super::*;
use crate::fallback_override::roll_back;
use crate::fallback_override::{FallbackChoice, persist_fallback};
use crate::lifecycle::record_compaction;
use crate::testing::{at, auto, entry, fallback, id, model, pin, user};

const START: i64 = 10_000_000;
const INTERVAL: i64 = 300_000;

fn sticky() -> SessionEntry {
    entry(&auto("a/f1", "openai/gpt"))
}

fn planned(session: &SessionEntry, primary: &str) -> PrimaryProbe {
    probe_due(session, &model(primary), at(START)).unwrap()
}

fn marked(session: &SessionEntry, primary: &str, millis: i64) -> SessionEntry {
    mark_probe(session, &planned(session, primary), at(millis)).unwrap()
}

#[test]
fn s_6_3_who_is_probed() {
    let origin =
        r#""modelOverrideFallbackOriginProvider": "openai", "modelOverrideFallbackOriginModel": "gpt""#;
    for (name, members, due) in [
        ("an automatic override", auto("a/f1", "openai/gpt"), true),
        ("no override", String::new(), false),
        ("a person's", user("a/f1"), false),
        (
            "a person's with a leftover origin",
            format!("{}, {origin}", user("a/f1")),
            false,
        ),
        (
            "an unmarked one with an origin",
            format!(r#""providerOverride": "a", "modelOverride": "m", {origin}"#),
            true,
        ),
        (
            "half an override",
            format!(r#""modelOverride": "m", "modelOverrideSource": "auto", {origin}"#),
            false,
        ),
        (
            "without an origin",
            r#""providerOverride": "a", "modelOverride": "m", "modelOverrideSource": "auto""#.into(),
            false,
        ),
        ("its own origin (S-1.3a)", auto("openai/gpt", "openai/gpt"), false),
    ] {
        let found = probe_due(&entry(&members), &model("openai/gpt"), at(START));
        assert_eq!(found.is_some(), due, "{name}");
    }
}

#[test]
fn s_6_3a_and_s3_a_changed_primary_is_probed_even_when_it_is_the_fallback_itself() {
    for primary in ["openai/newer", "a/f1"] {
        let probe = planned(&sticky(), primary);
        assert_eq!(probe.primary(), &model(primary));
        let cleared = clear_after_probe(&sticky(), &probe, at(START)).unwrap();
        assert!(!cleared.has_override());
    }
}

#[test]
fn s_6_1_and_s_6_3_the_interval_ends_at_its_end() {
    let session = marked(&sticky(), "openai/gpt", START);
    for (age, due) in [
        (0, false),
        (INTERVAL - 1, false),
        (INTERVAL, true),
        (INTERVAL + 1, true),
        (-1, true),
    ] {
        let found = probe_due(&session, &model("openai/gpt"), at(START + age));
        assert_eq!(found.is_some(), due, "{age} ms after the mark");
    }
    // S3: another primary has its own interval.
    assert!(probe_due(&session, &model("openai/newer"), at(START)).is_some());
}

#[test]
fn s_6_2a_and_s_6_2b_and_s6_marks_are_stored_pruned_and_survive_json() {
    let session = marked(&sticky(), "openai/gpt", START);
    let session = marked(&session, "openai/newer", START + INTERVAL);
    let text = serde_json::to_string(&session).unwrap();
    assert!(!text.contains("openai/gpt\":"), "the older mark is over: {text}");
    let again: SessionEntry = serde_json::from_str(&text).unwrap();
    assert_eq!(again, session);
    assert!(probe_due(&again, &model("openai/newer"), at(START + INTERVAL)).is_none());
}

#[test]
fn hazard_11_of_two_planned_probes_one_starts() {
    let (one, other) = (planned(&sticky(), "openai/gpt"), planned(&sticky(), "openai/gpt"));
    let session = mark_probe(&sticky(), &one, at(START)).unwrap();
    assert_eq!(mark_probe(&session, &other, at(START + 1)), None);
}

/// BL-63: the way back needs no help of a person.
#[test]
fn s_6_7_success_clears_the_automatic_selection() {
    let session = entry(&format!(
        r#"{}, "authProfileOverride": "a:p", "authProfileOverrideSource": "auto",
           "fallbackNoticeSelectedModel": "openai/gpt", "fallbackNoticeActiveModel": "a/f1", "channel": "kept""#,
        auto("a/f1", "openai/gpt")
    ));
    let mut expected = entry(r#""channel": "kept""#);
    expected.touch(at(START));
    let probe = planned(&session, "openai/gpt");
    assert_eq!(clear_after_probe(&session, &probe, at(START)), Some(expected));
}

#[test]
fn s_6_7_only_an_automatic_pin_goes() {
    for (pin, kept) in [
        (
            r#""authProfileOverride": "p", "authProfileOverrideSource": "user""#,
            true,
        ),
        (r#""authProfileOverride": "p""#, true),
        (
            r#""authProfileOverride": "p", "authProfileOverrideCompactionCount": 0"#,
            false,
        ),
        (
            r#""authProfileOverride": "p", "authProfileOverrideSource": "auto""#,
            false,
        ),
    ] {
        let session = entry(&format!("{}, {pin}", auto("a/f1", "openai/gpt")));
        let probe = planned(&session, "openai/gpt");
        let cleared = clear_after_probe(&session, &probe, at(START)).unwrap();
        assert_eq!(cleared.pin.profile.is_some(), kept, "{pin}");
        assert_eq!(without_auto_selection(&session).pin, cleared.pin, "S-5.1c: {pin}");
    }
}

#[test]
fn hazard_4_success_leaves_a_newer_choice_alone() {
    let probe = planned(&sticky(), "openai/gpt");
    let mut other_transcript = sticky();
    other_transcript.session_id = id("s2");
    for (name, newer) in [
        ("a person's other model", entry(&user("b/m"))),
        ("a person's choice of the fallback", entry(&user("a/f1"))),
        ("the default", entry("")),
        ("another fallback", entry(&auto("b/f2", "openai/gpt"))),
        ("another origin", entry(&auto("a/f1", "openai/newer"))),
        ("another transcript (hazard 5)", other_transcript),
    ] {
        assert_eq!(clear_after_probe(&newer, &probe, at(START)), None, "{name}");
        assert_eq!(
            settle_failed_probe(&newer, &probe, &model("c/f3"), at(START)),
            None,
            "{name}"
        );
    }
}

#[test]
fn s_6_8_failure_keeps_the_session_on_a_fallback() {
    let probe = planned(&sticky(), "openai/gpt");
    for candidate in ["a/f1", "b/f2"] {
        let change = FallbackChoice {
            origin: Some(probe.primary().clone()),
            profile: probe.profile_for(&model(candidate)),
            ..fallback(&sticky(), "openai/gpt", candidate)
        };
        let (next, _) = persist_fallback(&sticky(), &change, at(START));
        let model_override = next.unwrap_or_else(sticky).model_override;
        assert_eq!(
            model_override,
            entry(&auto(candidate, "openai/gpt")).model_override
        );
    }
}

#[test]
fn s_3_4a_the_fallbacks_provider_gets_its_profile_back() {
    let session = entry(&format!(
        r#"{}, "authProfileOverride": "a:p", "authProfileOverrideSource": "user""#,
        auto("a/f1", "openai/gpt")
    ));
    let probe = planned(&session, "openai/gpt");
    assert_eq!(probe.fallback(), &model("a/f1"));
    assert_eq!(
        probe.profile_for(&model("a/other")),
        Some(pin("a:p", PinSource::User))
    );
    assert_eq!(probe.profile_for(&model("b/f2")), None);
}

#[test]
fn s_6_8_a_run_that_does_not_persist_stores_its_winner() {
    let pinned = format!(
        r#"{}, "authProfileOverride": "a:p", "authProfileOverrideSource": "auto""#,
        auto("a/f1", "openai/gpt")
    );
    let session = entry(&pinned);
    let probe = planned(&session, "openai/newer");
    for (winner, model_override, pin_kept) in [
        ("openai/newer", None, true),
        ("a/f1", Some(auto("a/f1", "openai/newer")), true),
        ("b/f2", Some(auto("b/f2", "openai/newer")), false),
    ] {
        let settled = settle_failed_probe(&session, &probe, &model(winner), at(START));
        assert_eq!(
            settled.as_ref().map(|next| next.model_override.clone()),
            model_override.map(|members| entry(&members).model_override),
            "{winner}"
        );
        let settled = settled.unwrap_or_else(|| session.clone());
        assert_eq!(settled.pin.profile.is_some(), pin_kept, "{winner}");
    }
    let same = planned(&session, "openai/gpt");
    assert_eq!(
        settle_failed_probe(&session, &same, &model("a/f1"), at(START)),
        None
    );
}

#[test]
fn a_failed_probe_walk_ends_where_it_began() {
    let probe = planned(&sticky(), "openai/newer");
    let change = FallbackChoice {
        origin: Some(probe.primary().clone()),
        ..fallback(&sticky(), "openai/newer", "b/f2")
    };
    let (during, persisted) = persist_fallback(&sticky(), &change, at(START));
    let crate::fallback_override::PersistOutcome::Written(rollback) = persisted else {
        panic!("{persisted:?}");
    };
    let after = roll_back(&during.unwrap(), &rollback, at(START)).unwrap();
    assert_eq!(after.selection(), sticky().selection());
}

#[test]
fn s1_a_probe_follows_a_compaction_into_another_transcript() {
    let before = entry(&auto("a/m", "o/g"));
    let probe = probe_due(&before, &model("o/g"), at(2000)).unwrap();
    let moved = record_compaction(&before, Some(id("s2")), at(2000));
    assert_eq!(clear_after_probe(&moved, &probe, at(3000)), None);
    let adopted = probe.with_session_id(id("s2"));
    let cleared = clear_after_probe(&moved, &adopted, at(3000)).unwrap();
    assert!(!cleared.has_override());
    assert_eq!(adopted.session_id(), &id("s2"));
}

#[test]
fn s_6_1_a_mark_belongs_to_the_key_and_not_to_the_transcript() {
    let mut session = marked(&sticky(), "openai/gpt", START);
    session.session_id = id("s2");
    assert_eq!(probe_due(&session, &model("openai/gpt"), at(START)), None);
}

#[test]
fn s_6_4a_and_s_6_4b_what_a_probe_turn_runs_on() {
    let session = entry(&format!(
        r#"{}, "authProfileOverride": "a:p", "authProfileOverrideSource": "auto""#,
        auto("a/f1", "openai/gpt")
    ));
    let probe = planned(&session, "openai/gpt");
    assert_eq!(
        (probe.primary(), probe.fallback()),
        (&model("openai/gpt"), &model("a/f1"))
    );
    assert_eq!(
        probe.profile_for(&model("a/f2")),
        Some(pin("a:p", PinSource::Auto))
    );
    // The session still counts as one on an automatic override, so its chain is that of row D.
    assert!(session.is_auto());
}

#[test]
fn s_6_4c_and_s_5_1c_the_primarys_profile_is_chosen_on_a_copy_without_the_automatic_selection() {
    let session = entry(&format!(
        r#"{}, "authProfileOverride": "a:p", "authProfileOverrideSource": "auto""#,
        auto("a/f1", "openai/gpt")
    ));
    let copy = without_auto_selection(&session);
    assert_eq!(copy.selection(), entry("").selection());
    assert_eq!(copy.session_id, session.session_id);
}

#[test]
fn s_6_5_only_the_start_of_the_attempt_marks() {
    let probe = planned(&sticky(), "openai/gpt");
    // A skipped primary was planned, never started, and is due again in the next turn.
    assert!(probe_due(&sticky(), &model("openai/gpt"), at(START + 1)).is_some());
    let started = mark_probe(&sticky(), &probe, at(START)).unwrap();
    assert!(probe_due(&started, &model("openai/gpt"), at(START + 1)).is_none());
}

#[test]
fn s_6_6_and_hazard_12_a_turn_that_starts_late_asks_again() {
    let planned_on = sticky();
    assert!(probe_due(&planned_on, &model("openai/gpt"), at(START)).is_some());
    // Meanwhile a person chose, or the configuration named the model that runs.
    assert!(probe_due(&entry(&user("b/m")), &model("openai/gpt"), at(START)).is_none());
    assert!(probe_due(&entry(&auto("a/f1", "a/f1")), &model("a/f1"), at(START)).is_none());
}

#[test]
fn s_6_8a_a_live_switch_leaves_neither_write_of_the_probe() {
    let probe = planned(&sticky(), "openai/gpt");
    let switched = entry(&user("b/m"));
    assert_eq!(clear_after_probe(&switched, &probe, at(START)), None);
    assert_eq!(
        settle_failed_probe(&switched, &probe, &model("a/f2"), at(START)),
        None
    );
}
