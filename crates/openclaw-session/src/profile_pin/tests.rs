//! The table of pins, and what no turn does to a person's.

use proptest::prelude::*;

use super::*;
use crate::testing::{at, entry, pin, profile};
use SessionAge::{Continuing, New};

/// The profiles `a b c` in this order; `cooling` names those in cooldown.
fn decide(entry: &SessionEntry, cooling: &str, session: SessionAge, origin: OrderOrigin) -> PinDecision {
    let order = ["a", "b", "c"].map(profile);
    let availability = |id: &ProfileId| match id.as_str() {
        "gone" => ProfileAvailability::Missing,
        "foreign" => ProfileAvailability::Incompatible,
        id if cooling.contains(id) => ProfileAvailability::CoolingDown,
        _ => ProfileAvailability::Usable,
    };
    let facts = PinFacts {
        order: &order,
        origin,
        availability: &availability,
        session,
    };
    choose_pin(entry, &facts)
}

fn automatic_pin(id: &str, count: u64) -> String {
    format!(
        r#""authProfileOverride": "{id}", "authProfileOverrideSource": "auto", "authProfileOverrideCompactionCount": {count}"#
    )
}

fn user_pin(id: &str) -> String {
    format!(r#""authProfileOverride": "{id}", "authProfileOverrideSource": "user""#)
}

/// How a decision reads: the run's profile, `!` when it is a person's, `>` and the stored profile when it is written.
fn shown(decision: &PinDecision) -> String {
    let mut text = String::new();
    match &decision.run {
        Some(ProfilePin { profile, source }) => {
            text.push_str(profile.as_str());
            text.push_str(if *source == PinSource::User { "!" } else { "" });
        }
        None => text.push('-'),
    }
    if let Some(stored) = &decision.stored {
        text.push('>');
        text.push_str(stored.profile.as_ref().map_or("-", ProfileId::as_str));
    }
    text
}

/// The same table is auth-store.md S3 to S10.
#[test]
fn s_5_3_in_the_decided_order() {
    let compacted = |members: String| format!(r#"{members}, "compactionCount": 1"#);
    #[rustfmt::skip]
    let rows = [
        // name, entry, cooling, session, decision
        ("row 5: no pin",                                String::new(),                    "",    Continuing, "a>a"),
        ("row 5: no pin, the first cools down",               String::new(),                    "a",   Continuing, "b>b"),
        ("row 5: no pin, all cool down (S-5.3b)",             String::new(),                    "abc", Continuing, "a>a"),
        ("row 6: unchanged",                             automatic_pin("b", 0),            "",    Continuing, "b"),
        ("row 6: the triple is completed (S-5.3a)",
            r#""authProfileOverride": "b", "authProfileOverrideSource": "auto""#.into(),   "",    Continuing, "b>b"),
        ("row 1, R6: for this run only",                 automatic_pin("b", 0),            "b",   Continuing, "a"),
        ("row 1, R6: the next usable one",               automatic_pin("a", 0),            "ab",  Continuing, "c"),
        ("row 5: the pin and all others cool down",           automatic_pin("b", 0),            "abc", Continuing, "a>a"),
        ("row 4: compacted",                             compacted(automatic_pin("b", 0)), "",    Continuing, "c>c"),
        ("row 4: round the end",                         compacted(automatic_pin("c", 0)), "",    Continuing, "a>a"),
        ("row 4: the only usable one is itself",         compacted(automatic_pin("b", 0)), "ac",  Continuing, "b>b"),
        ("row 4 after row 1: cooling and compacted",     compacted(automatic_pin("b", 0)), "b",   Continuing, "a"),
        ("row 4, S-5.3b: all cool down",                      compacted(automatic_pin("b", 0)), "abc", Continuing, "b>b"),
        ("row 4: no count counts as now",
            compacted(r#""authProfileOverride": "b", "authProfileOverrideSource": "auto""#.into()), "", Continuing, "b>b"),
        ("row 2: a new session moves on",                automatic_pin("a", 0),            "",    New,        "b>b"),
        ("row 2: over a cooling one",                    automatic_pin("a", 0),            "b",   New,        "c>c"),
        ("row 2: no pin",                                String::new(),                    "",    New,        "a>a"),
        ("row 2: all cool down (S-5.3b)",                     automatic_pin("b", 0),            "abc", New,        "b"),
        ("row 3: a person's",                            user_pin("b"),                    "",    Continuing, "b!"),
        ("row 3 before row 1 (R5)",                      user_pin("b"),                    "b",   Continuing, "b!"),
        ("row 3 before row 4",                           compacted(user_pin("b")),         "",    Continuing, "b!"),
        ("row 3: outside the order",                     user_pin("z"),                    "",    Continuing, "z!"),
        ("row 3: unmarked is a person's",                r#""authProfileOverride": "b""#.into(), "b", Continuing, "b!"),
        ("row 3: taken before the first turn (R5)",      user_pin("b"),                    "",    New,        "b!"),
        ("S-5.2 item 1",                                 user_pin("gone"),                 "",    Continuing, "a>a"),
        ("S-5.2 item 2",                                 user_pin("foreign"),              "",    Continuing, "a>a"),
        ("S-5.2 item 3",                                 automatic_pin("z", 0),            "",    Continuing, "a>a"),
    ];
    for (name, members, cooling, session, expected) in rows {
        let found = decide(&entry(&members), cooling, session, OrderOrigin::Derived);
        assert_eq!(shown(&found), expected, "{name}");
    }
}

#[test]
fn r6_an_automatic_pin_never_outranks_an_explicit_order() {
    let compacted = |members: String| format!(r#"{members}, "compactionCount": 1"#);
    #[rustfmt::skip]
    let rows = [
        ("recovered",             automatic_pin("b", 0),            "",    Continuing, "a>a"),
        ("the front cools down",       automatic_pin("a", 0),            "a",   Continuing, "b"),
        ("the second is best",    automatic_pin("b", 0),            "a",   Continuing, "b"),
        ("all cool down",              automatic_pin("b", 0),            "abc", Continuing, "a>a"),
        ("compacted",             compacted(automatic_pin("a", 0)), "",    Continuing, "a>a"),
        ("new session",           automatic_pin("a", 0),            "",    New,        "a"),
        ("a person's stays",      user_pin("b"),                    "",    Continuing, "b!"),
    ];
    for (name, members, cooling, session, expected) in rows {
        let found = decide(&entry(&members), cooling, session, OrderOrigin::Explicit);
        assert_eq!(shown(&found), expected, "{name}");
    }
}

#[test]
fn s_5_2_without_an_order_there_is_no_profile() {
    for (members, standing, expected) in [
        (String::new(), ProfileAvailability::Missing, "-"),
        (user_pin("a"), ProfileAvailability::Missing, "->-"),
        (user_pin("a"), ProfileAvailability::Usable, "-"),
    ] {
        let facts = PinFacts {
            order: &[],
            origin: OrderOrigin::Derived,
            availability: &|_| standing,
            session: Continuing,
        };
        assert_eq!(
            shown(&choose_pin(&entry(&members), &facts)),
            expected,
            "{members}"
        );
    }
}

/// Also auth-store.md S11.
#[test]
fn s_5_3c_storing_a_pin_writes_the_triple_and_nothing_else() {
    let before = entry(r#""modelOverride": "m", "liveModelSwitchPending": true, "compactionCount": 2"#);
    let decision = decide(&before, "", Continuing, OrderOrigin::Derived);
    let mut after = store_pin(&before, &decision, at(2000)).unwrap();
    assert_eq!(after.pin, entry(&automatic_pin("a", 2)).pin);
    // BL-76: the second of two turns finds the pin moved and has nothing to do.
    assert_eq!(
        store_pin(
            &after,
            &decide(&after, "", Continuing, OrderOrigin::Derived),
            at(2000)
        ),
        None
    );
    assert_eq!(after.updated_at, at(2000));
    after.pin = StoredPin::default();
    after.updated_at = before.updated_at;
    assert_eq!(after, before);
}

proptest! {
    #[test]
    fn r5_a_persons_pin_is_never_written_during_its_session(
        id in "[abcz]",
        cooling in "[abcz]{0,4}",
        compactions in 0_u64..3,
        explicit: bool,
    ) {
        let session = entry(&format!(r#"{}, "compactionCount": {compactions}"#, user_pin(&id)));
        let origin = if explicit { OrderOrigin::Explicit } else { OrderOrigin::Derived };
        let found = decide(&session, &cooling, Continuing, origin);
        prop_assert_eq!(found, PinDecision { run: Some(pin(&id, PinSource::User)), stored: None });
    }

    #[test]
    fn a_usable_profile_is_never_passed_over_for_a_cooling_one(
        id in "[abc]",
        cooling in "[abc]{0,3}",
        compactions in 0_u64..2,
        new: bool,
        explicit: bool,
    ) {
        let session = entry(&format!(r#"{}, "compactionCount": {compactions}"#, automatic_pin(&id, 0)));
        let origin = if explicit { OrderOrigin::Explicit } else { OrderOrigin::Derived };
        let found = decide(&session, &cooling, if new { New } else { Continuing }, origin);
        let all_cooling = ["a", "b", "c"].iter().all(|id| cooling.contains(id));
        let chosen = found.run.unwrap().profile;
        prop_assert!(all_cooling || !cooling.contains(chosen.as_str()));
    }
}

#[test]
fn s_5_1a_a_second_evaluation_in_one_turn_changes_nothing() {
    for members in [String::new(), automatic_pin("b", 0), user_pin("b")] {
        let before = entry(&members);
        let first = decide(&before, "", Continuing, OrderOrigin::Derived);
        let stored = store_pin(&before, &first, at(2000)).unwrap_or(before);
        let second = decide(&stored, "", Continuing, OrderOrigin::Derived);
        assert_eq!((second.run, second.stored), (first.run, None), "{members}");
    }
}

#[test]
fn s_5_1b_without_profiles_nothing_is_pinned() {
    let facts = PinFacts {
        order: &[],
        origin: OrderOrigin::Derived,
        availability: &|_| ProfileAvailability::Missing,
        session: New,
    };
    assert_eq!(shown(&choose_pin(&entry(""), &facts)), "-");
}

#[test]
fn s_5_4_and_r6_a_rested_profile_is_preferred_again() {
    let session = entry(&automatic_pin("a", 0));
    let during = decide(&session, "a", Continuing, OrderOrigin::Derived);
    assert_eq!(shown(&during), "b");
    assert_eq!(store_pin(&session, &during, at(2000)), None);
    assert_eq!(
        shown(&decide(&session, "", Continuing, OrderOrigin::Derived)),
        "a"
    );
}

/// Also auth-store.md S2 and S12.
#[test]
fn s_5_5b_and_s_5_5c_a_persons_profile_is_locked_whatever_happens_to_it() {
    for cooling in ["", "b", "abc"] {
        let found = decide(&entry(&user_pin("b")), cooling, Continuing, OrderOrigin::Derived);
        assert_eq!(found.run, Some(pin("b", PinSource::User)), "{cooling}");
        assert_eq!(found.stored, None, "{cooling}");
    }
}
