//! A write undone exactly, and never a newer choice with it.

use proptest::prelude::*;

use super::*;
use crate::entry::{ModelOverride, OverrideSource, PinSource, StoredPin};
use crate::fallback_override::{FallbackChoice, PersistOutcome, persist_fallback};
use crate::testing::{at, auto, entry, fallback, id, pin, user};

/// The entry while the fallback is attempted, and how to undo it.
fn persisted(before: &SessionEntry, candidate: &str) -> (SessionEntry, Rollback) {
    let change = FallbackChoice {
        profile: Some(pin("openai:work", PinSource::Auto)),
        ..fallback(before, "home/m", candidate)
    };
    match persist_fallback(before, &change, at(2000)) {
        (Some(next), PersistOutcome::Written(rollback)) => (next, rollback),
        other => panic!("nothing was written: {other:?}"),
    }
}

#[test]
fn s_4_2_an_untouched_write_is_undone_exactly() {
    for before in [
        entry(""),
        entry(&auto("a/f1", "home/m")),
        entry(r#""authProfileOverride": "p", "authProfileOverrideCompactionCount": 4"#),
    ] {
        let (during, rollback) = persisted(&before, "openai/gpt-5");
        let after = roll_back(&during, &rollback, at(3000)).unwrap();
        assert_eq!(after.selection(), before.selection());
        assert_eq!(after.updated_at, at(3000));
    }
}

#[test]
fn s_4_6_a_newer_choice_is_never_split() {
    let (during, rollback) = persisted(&entry(""), "openai/gpt-5");
    for (name, members) in [
        ("another model of the same provider", user("openai/o4")),
        ("the very same model", user("openai/gpt-5")),
        ("another provider", user("anthropic/claude")),
        ("the default", String::new()),
        ("another run's fallback", auto("openai/gpt-5", "other/m")),
    ] {
        let mut newer = during.clone();
        newer.model_override = entry(&members).model_override;
        assert_eq!(roll_back(&newer, &rollback, at(3000)), None, "{name}");
    }
}

#[test]
fn s_4_6_the_user_speaks_before_or_after_the_attempt_failed() {
    let before = entry("");
    let (during, rollback) = persisted(&before, "openai/gpt-5");
    let choose = |session: &SessionEntry| {
        let mut chosen = session.clone();
        chosen.restore(entry(&user("openai/o4")).selection());
        chosen
    };
    let chosen_first = choose(&during);
    assert_eq!(roll_back(&chosen_first, &rollback, at(3000)), None);
    let failed_first = choose(&roll_back(&during, &rollback, at(3000)).unwrap());
    assert_eq!(failed_first.selection(), chosen_first.selection());
}

#[test]
fn s_4_6_hazard_15_a_newer_pin_stays_while_the_route_goes_back() {
    let before = entry(&auto("a/f1", "home/m"));
    let (mut during, rollback) = persisted(&before, "openai/gpt-5");
    let newer: StoredPin = entry(r#""authProfileOverride": "q", "authProfileOverrideSource": "user""#).pin;
    during.pin = newer.clone();
    let after = roll_back(&during, &rollback, at(3000)).unwrap();
    assert_eq!((after.model_override, after.pin), (before.model_override, newer));
}

#[test]
fn s_4_7_failures_in_a_row_lead_back_to_the_start() {
    for before in [entry(""), entry(&auto("a/f1", "home/m"))] {
        let mut session = before.clone();
        for candidate in ["openai/gpt-5", "b/f2", "c/f3"] {
            let (during, rollback) = persisted(&session, candidate);
            session = roll_back(&during, &rollback, at(3000)).unwrap();
        }
        // Hazard 13: a sticky first fallback comes back, not the primary.
        assert_eq!(session.selection(), before.selection());
    }
}

#[test]
fn s_4_1_and_s_4_3_a_second_rollback_finds_nothing() {
    let (during, rollback) = persisted(&entry(""), "openai/gpt-5");
    let after = roll_back(&during, &rollback, at(3000)).unwrap();
    assert_eq!(roll_back(&after, &rollback, at(4000)), None);
}

#[test]
fn hazard_5_another_transcript_is_left_alone() {
    let (mut during, rollback) = persisted(&entry(""), "openai/gpt-5");
    during.session_id = id("s2");
    assert_eq!(roll_back(&during, &rollback, at(3000)), None);
    // S1: after a compaction the run adopts the new id and still undoes its own write.
    let adopted = rollback.with_session_id(id("s2"));
    assert!(roll_back(&during, &adopted, at(3000)).is_some());
}

fn any_half() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), Just(Some("a")), Just(Some("b"))]
}

prop_compose! {
    /// Any entry, however odd: each field of the selection group on its own.
    fn any_entry()(
        halves in [any_half(), any_half(), any_half(), any_half(), any_half()],
        sources in [0_u8..3, 0_u8..3],
        compaction_count in prop_oneof![Just(None), (0_u64..3).prop_map(Some)],
    ) -> SessionEntry {
        let [provider, model, origin_provider, origin_model, profile] = halves;
        let mut session = entry("");
        session.model_override = ModelOverride {
            provider: provider.and_then(|text| text.parse().ok()),
            model: model.and_then(|text| text.parse().ok()),
            source: [OverrideSource::Auto, OverrideSource::User].get(usize::from(sources[0])).copied(),
            origin_provider: origin_provider.and_then(|text| text.parse().ok()),
            origin_model: origin_model.and_then(|text| text.parse().ok()),
        };
        session.pin = StoredPin {
            profile: profile.and_then(|text| text.parse().ok()),
            source: [PinSource::Auto, PinSource::User].get(usize::from(sources[1])).copied(),
            compaction_count,
        };
        session
    }
}

proptest! {
    #[test]
    fn persist_then_rollback_is_the_identity(before in any_entry()) {
        let change = fallback(&before, "home/m", "a/b");
        if let (Some(during), PersistOutcome::Written(rollback)) = persist_fallback(&before, &change, at(2000)) {
            let after = roll_back(&during, &rollback, at(2000)).unwrap();
            prop_assert_eq!(after.selection(), before.selection());
        }
    }

    #[test]
    fn a_user_choice_survives_every_write_and_rollback(before in any_entry(), newer in any_entry()) {
        prop_assume!(newer.is_user_pin());
        let change = fallback(&before, "home/m", "a/b");
        if let (Some(_), PersistOutcome::Written(rollback)) = persist_fallback(&before, &change, at(2000)) {
            prop_assert_eq!(roll_back(&newer, &rollback, at(2000)), None);
        }
        let mut stale = change;
        stale.read = newer.selection();
        prop_assert_eq!(persist_fallback(&newer, &stale, at(2000)).0, None);
    }
}

#[test]
fn s_4_5_what_is_outside_the_selection_group_is_not_restored() {
    let before = entry(r#""fallbackNoticeReason": "old", "model": "m", "notes": 1"#);
    let (mut during, rollback) = persisted(&before, "a/f1");
    during.notice.reason = Some("new".to_owned());
    during.last_answer.model = Some("n".parse().unwrap());
    during.unknown_members_mut().insert("notes".to_owned(), 2.into());
    let after = roll_back(&during, &rollback, at(3000)).unwrap();
    assert_eq!(after.selection(), before.selection());
    assert_eq!(
        (&after.notice, &after.last_answer, after.unknown_members()),
        (&during.notice, &during.last_answer, during.unknown_members())
    );
}
