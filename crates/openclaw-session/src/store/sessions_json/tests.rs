//! Files as other programs wrote them, with their quirks.

use super::*;
use crate::MemorySessionStore;
use crate::notice::{FinishedTurn, record_notice};
use crate::store::update;
use crate::testing::{at, auto, entry, id, key, model};

fn import(text: &str) -> ImportedSessions {
    parse_sessions_json(text).unwrap()
}

#[test]
fn s7_quirks_of_old_files() {
    let found = import(
        r#"{
            "agent:main:main": {"sessionId": "s1", "updatedAt": 5, "modelOverride": "a/m"},
            "agent:main:thread": {"providerOverride": "a", "modelOverride": "m", "deep": {"kept": [1]}},
            "blank id": {"sessionId": " "},
            "number id": {"sessionId": 7},
            "not an object": "text",
            " ": {"sessionId": "s2"}
        }"#,
    );
    let names: Vec<_> = found
        .entries
        .iter()
        .map(|(key, entry)| (key.as_str(), entry.session_id.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("agent:main:main", "s1"),
            ("agent:main:thread", "agent:main:thread"),
            ("blank id", "blank id"),
            ("number id", "number id"),
        ]
    );
    assert_eq!(found.rejected, ["not an object", " "]);
    // BL-69: an override without a source is a person's.
    assert!(found.entries[..2].iter().all(|(_, entry)| entry.is_user_pin()));
    assert_eq!(
        found.entries[1].1.unknown_member("deep"),
        Some(&serde_json::json!({"kept": [1]}))
    );
}

#[test]
fn s7_an_empty_file_holds_nothing_and_a_broken_one_is_an_error() {
    for text in ["", " \n", "\u{feff}{}", "{}"] {
        assert_eq!(import(text), ImportedSessions::default(), "{text:?}");
    }
    for text in ["{", "[]", "null", r#"{"k": {}}{"k": {}}"#] {
        assert!(parse_sessions_json(text).is_err(), "{text:?}");
    }
}

#[tokio::test]
async fn s7_what_is_exported_can_be_imported_again() {
    let store = MemorySessionStore::default();
    let plain = entry(r#""channel": {"kept": true}"#);
    let turn = FinishedTurn {
        session_id: id("s1"),
        selected: model("o/g"),
        active: model("a/m"),
        reason: "timeout".to_owned(),
    };
    let sticky = entry(&auto("a/m", "o/g"));
    let (noticed, _) = record_notice(&sticky, &sticky.notice, &turn, at(2000));
    let noticed = noticed.unwrap();
    for (name, session) in [("b", &plain), ("a", &noticed)] {
        update(&store, &key(name), |_| (Some(session.clone()), ()))
            .await
            .unwrap();
    }
    let text = export_sessions_json(&store).await.unwrap();
    assert!(!text.contains(FAILOVER), "{text}");
    let mut without_ours = noticed;
    without_ours.failover = crate::FailoverState::default();
    assert_eq!(
        import(&text).entries,
        [(key("a"), without_ours), (key("b"), plain)]
    );
    assert_eq!(import(&text).entries[0].1.session_id, id("s1"));
}

#[test]
fn s7_half_a_character_costs_the_file_nothing() {
    let found =
        import(r#"{"k": {"sessionId": "s1", "label": "cut \ud83d"}, "l": {"label": "whole \ud83d\ude00"}}"#);
    let labels: Vec<_> = found
        .entries
        .iter()
        .map(|(_, entry)| entry.unknown_member("label"))
        .collect();
    let texts = ["cut \u{fffd}".into(), "whole \u{1f600}".into()];
    assert_eq!(labels, [Some(&texts[0]), Some(&texts[1])]);
}

#[test]
fn s7_keys_that_mean_one_session_never_overwrite_each_other_in_silence() {
    for (text, kept, rejected) in [
        (
            r#"{" k": {"sessionId": "blank"}, "k": {"sessionId": "exact"}}"#,
            "exact",
            vec![" k"],
        ),
        (
            r#"{"k": {"sessionId": "exact"}, "k ": {"sessionId": "blank"}}"#,
            "exact",
            vec!["k "],
        ),
        (
            r#"{" k": {"sessionId": "first"}, "k ": {"sessionId": "second"}}"#,
            "first",
            vec!["k "],
        ),
        (
            r#"{"k": {"sessionId": "first"}, "k": {"sessionId": "last"}}"#,
            "last",
            vec![],
        ),
    ] {
        let found = import(text);
        assert_eq!(found.entries.len(), 1, "{text}");
        assert_eq!(found.entries[0].1.session_id, id(kept), "{text}");
        assert_eq!(found.rejected, rejected, "{text}");
    }
}
