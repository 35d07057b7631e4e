//! What a new transcript keeps, by command.

use super::*;
use crate::primary_probe::{mark_probe, probe_due};
use crate::testing::{at, auto, entry, id, model, user};

const USER_PIN: &str = r#""authProfileOverride": "p", "authProfileOverrideSource": "user""#;
const AUTO_PIN: &str = r#""authProfileOverride": "p", "authProfileOverrideSource": "auto", "authProfileOverrideCompactionCount": 1"#;

fn call() -> Reset {
    Reset::Call {
        selection: model("a/m"),
    }
}

fn renewed(members: &str, kind: &Reset) -> SessionEntry {
    reset(&entry(members), id("s2"), kind, at(2000))
}

#[test]
fn s_9_and_s_5_5d_and_bl_70_and_f_10_source_by_command() {
    let no_source = format!(
        r#""modelOverride": "m", "modelOverrideFallbackOriginProvider": "o", "modelOverrideFallbackOriginModel": "g", {AUTO_PIN}"#
    );
    let legacy = r#""modelOverride": "m", "modelOverrideSource": "user""#;
    #[rustfmt::skip]
    let rows = [
        // name, before, override after; no pin outlives its session
        ("a person's",                 format!("{}, {USER_PIN}", user("a/m")),       user("a/m")),
        ("unmarked is a person's",     format!(r#""modelOverride": "m", {USER_PIN}"#), legacy.into()),
        ("an unmarked pin",            r#""authProfileOverride": "p""#.into(),       String::new()),
        ("automatic",                  format!("{}, {AUTO_PIN}", auto("a/m", "o/g")), String::new()),
        ("automatic, unmarked (S-9.1)", no_source,                                   String::new()),
        ("automatic, no origin",       r#""modelOverride": "m", "modelOverrideSource": "auto""#.into(), String::new()),
        ("a person's pin alone",       USER_PIN.into(),                              String::new()),
    ];
    for (name, before, model_override) in rows {
        for kind in [Reset::NewSession, call()] {
            let after = renewed(&before, &kind);
            assert_eq!(
                after.model_override,
                entry(&model_override).model_override,
                "{name}: {kind:?}"
            );
            assert_eq!(after.pin, StoredPin::default(), "{name}: {kind:?}");
            assert_eq!(
                (after.session_id, after.updated_at),
                (id("s2"), at(2000)),
                "{name}"
            );
        }
    }
}

#[test]
fn s_9_what_else_is_cleared() {
    let rest = r#""fallbackNoticeReason": "r", "modelProvider": "x", "model": "y", "contextTokens": 5,
        "liveModelSwitchPending": true, "compactionCount": 3, "totalTokens": 9, "inputTokens": 4, "outputTokens": 5,
        "agentRuntimeOverride": "codex", "channel": "kept""#;
    let after = renewed(rest, &Reset::NewSession);
    let mut expected = entry(r#""agentRuntimeOverride": "codex", "channel": "kept""#);
    expected.session_id = id("s2");
    expected.touch(at(2000));
    assert_eq!(after, expected);

    let after = renewed(rest, &call());
    assert_eq!(after.last_answer.model_ref(), Some(model("a/m")));
    assert_eq!(after.compaction_count, 3);
    assert_eq!(after.notice, NoticeState::default());
    assert!(!after.live_model_switch_pending);
}

#[test]
fn s_6_2c_probe_marks_outlive_a_reset() {
    let before = entry(&auto("a/f1", "openai/gpt"));
    let probe = probe_due(&before, &model("openai/gpt"), at(1_000_000)).unwrap();
    let marked = mark_probe(&before, &probe, at(1_000_000)).unwrap();
    let mut again = reset(&marked, id("s2"), &Reset::NewSession, at(1_000_001));
    again.model_override = before.model_override;
    assert_eq!(probe_due(&again, &model("openai/gpt"), at(1_000_002)), None);
}

#[test]
fn s1_who_adopts_a_new_transcript() {
    let rotated = |cause| SessionRotation {
        old: id("s1"),
        new: id("s2"),
        cause,
    };
    for (cause, current, adopted) in [
        (RotationCause::Compaction, "s1", Some("s2")),
        (RotationCause::Expiry, "s1", None),
        (RotationCause::Reset, "s1", None),
        (RotationCause::Reset, "s9", Some("s9")),
    ] {
        assert_eq!(
            rotated(cause).adopt(&id(current)),
            adopted.map(id),
            "{cause:?} of {current}"
        );
    }
}

#[test]
fn hazard_7_a_compaction_keeps_selection_and_pin() {
    let before = entry(&format!("{}, {AUTO_PIN}", auto("a/m", "o/g")));
    for moved_to in [None, Some(id("s2"))] {
        let after = record_compaction(&before, moved_to.clone(), at(2000));
        assert_eq!(after.selection(), before.selection());
        assert_eq!(after.session_id, moved_to.unwrap_or(id("s1")));
        assert_eq!(after.compaction_count, 1);
    }
}
