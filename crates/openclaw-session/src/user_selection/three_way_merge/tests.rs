//! A change that was worked out earlier meets what was stored meanwhile.

use super::*;
use crate::entry::{PinSource, StoredPin};
use crate::testing::{at, auto, entry, id, model, pin, user};
use crate::user_selection::{UserSelection, apply_user_selection};

fn after(merge: MergeOutcome) -> SessionEntry {
    match merge {
        MergeOutcome::Applied(entry) => entry,
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_12_4_item_1_another_transcript_takes_nothing() {
    let mut current = entry("");
    current.session_id = id("s2");
    assert_eq!(
        merge(&entry(""), &entry(&user("a/m")), &current),
        MergeOutcome::OtherSession
    );
}

#[test]
fn s_12_4_items_2_to_4_the_selection_is_one_transaction() {
    let snapshot = entry(r#""model": "x", "fallbackNoticeReason": "r""#);
    let changed = entry(&format!(
        r#"{}, "liveModelSwitchPending": true, "thinkingLevel": "high", "agentRuntimeOverride": "codex""#,
        user("a/m")
    ));
    // The run consumed an earlier mark meanwhile; the new choice marks again.
    let current = entry(r#""model": "y", "channel": "new""#);
    let mut expected = changed.clone();
    expected
        .unknown_members_mut()
        .insert("channel".to_owned(), "new".into());
    assert_eq!(after(merge(&snapshot, &changed, &current)), expected);
}

#[test]
fn s_8_1_a_race_skips_the_selection_as_a_whole() {
    let snapshot = entry("");
    let changed = entry(&format!(
        r#"{}, "liveModelSwitchPending": true, "thinkingLevel": "high", "note": 1"#,
        user("openai/o4")
    ));
    for (name, members) in [
        (
            "a fallback of the same provider",
            auto("openai/gpt-5", "openai/gpt"),
        ),
        ("another person", user("a/m")),
        ("a profile pin", r#""authProfileOverride": "p""#.to_owned()),
        ("a runtime", r#""agentRuntimeOverride": "codex""#.to_owned()),
    ] {
        let mut expected = entry(&members);
        expected.unknown_members_mut().insert("note".to_owned(), 1.into());
        let found = merge(&snapshot, &changed, &entry(&members));
        assert_eq!(found, MergeOutcome::SelectionConflict(expected), "{name}");
    }
}

#[test]
fn s_12_4_item_3_a_pin_change_alone_leaves_the_runtime_group() {
    let snapshot = entry(r#""model": "x""#);
    let changed = entry(r#""authProfileOverride": "p""#);
    let found = after(merge(&snapshot, &changed, &entry(r#""model": "y""#)));
    assert_eq!(found, entry(r#""authProfileOverride": "p", "model": "y""#));
}

#[test]
fn s_12_4_item_5_runtime_fields_need_an_untouched_selection() {
    let snapshot = entry("");
    let changed = entry(r#""modelProvider": "a", "model": "m", "contextTokens": 5"#);
    assert_eq!(after(merge(&snapshot, &changed, &entry(""))), changed);
    let chosen = entry(&user("b/m"));
    assert_eq!(after(merge(&snapshot, &changed, &chosen)), chosen);
}

#[test]
fn s_12_4_item_6_other_members_move_only_from_the_snapshots_value() {
    let snapshot = entry(r#""kept": 1, "gone": 1, "raced": 1, "raced away": 1, "compactionCount": 1"#);
    let changed = entry(r#""kept": 2, "added": 2, "raced": 2, "raced away": 2, "thinkingLevel": "low""#);
    let current = entry(r#""kept": 1, "gone": 1, "raced": 3, "compactionCount": 2"#);
    let found = after(merge(&snapshot, &changed, &current));
    let expected =
        entry(r#""kept": 2, "added": 2, "raced": 3, "compactionCount": 2, "thinkingLevel": "low""#);
    assert_eq!(found, expected);
}

#[test]
fn s_12_4_item_6_the_later_activity_wins() {
    let mut changed = entry("");
    changed.touch(crate::testing::at(5000));
    for (snapshot, changed, current) in [
        (entry(""), changed.clone(), entry("")),
        (entry(""), entry(""), changed.clone()),
    ] {
        assert_eq!(
            after(merge(&snapshot, &changed, &current)).updated_at,
            crate::testing::at(5000)
        );
    }
}

/// On a fallback that displaced a person's profile pin.
fn displaced() -> SessionEntry {
    let mut session = entry(&auto("a/m", "o/g"));
    session.failover.parked_pin = Some(pinned("work"));
    session
}

fn pinned(profile: &str) -> StoredPin {
    StoredPin::from(Some(pin(profile, PinSource::User)))
}

#[test]
fn s_12_4_item_2_a_displaced_pin_goes_with_the_selection_although_a_turn_ended_meanwhile() {
    let snapshot = displaced();
    let choice = UserSelection::model(model("b/m"), None);
    let changed = apply_user_selection(&snapshot, &choice, &model("o/g"), at(1000)).unwrap();
    let mut current = snapshot.clone();
    current.failover.notices = 4;
    current.failover.probes.insert("o/g".to_owned(), 7);
    let merged = after(merge(&snapshot, &changed, &current));
    assert_eq!(merged.failover.parked_pin, None);
    assert_eq!((merged.failover.notices, merged.failover.probes.len()), (4, 1));
}

#[test]
fn s_12_4_item_2_a_pin_that_was_displaced_meanwhile_is_not_lost() {
    let snapshot = entry(&auto("a/m", "o/g"));
    let choice = UserSelection::model(model("b/m"), None);
    let changed = apply_user_selection(&snapshot, &choice, &model("o/g"), at(1000)).unwrap();
    let current = displaced();
    assert_eq!(
        merge(&snapshot, &changed, &current),
        MergeOutcome::SelectionConflict(current)
    );
}
