//! What the stored fields mean, together and one by one.

use super::*;
use crate::entry::PinSource;
use crate::testing::{at, auto, entry, id, model, pin, provider, user};
use serde_json::json;

#[test]
fn s_1_1_every_name_is_read_and_written_back() {
    let document = json!({
        "sessionId": "s1",
        "updatedAt": 1_700_000_000_000_i64,
        "providerOverride": "anthropic",
        "modelOverride": "claude",
        "modelOverrideSource": "auto",
        "modelOverrideFallbackOriginProvider": "openai",
        "modelOverrideFallbackOriginModel": "gpt",
        "authProfileOverride": "anthropic:work",
        "authProfileOverrideSource": "auto",
        "authProfileOverrideCompactionCount": 2,
        "agentRuntimeOverride": "codex",
        "thinkingLevel": "high",
        "liveModelSwitchPending": true,
        "compactionCount": 3,
        "modelProvider": "anthropic",
        "model": "claude",
        "contextTokens": 200_000,
        "contextBudgetStatus": {"left": 5},
        "fallbackNoticeSelectedModel": "openai/gpt",
        "fallbackNoticeActiveModel": "anthropic/claude",
        "fallbackNoticeReason": "rate limit",
        "quotaSuspension": {"until": 9},
        "channel": {"deep": ["kept"]},
    });
    let entry: SessionEntry = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(
        entry.override_ref(&provider("x")),
        Some(model("anthropic/claude"))
    );
    assert_eq!(entry.origin(), Some(model("openai/gpt")));
    assert_eq!(entry.profile_pin(), Some(pin("anthropic:work", PinSource::Auto)));
    assert_eq!(entry.unknown_member("channel"), Some(&json!({"deep": ["kept"]})));
    assert_eq!(serde_json::to_value(&entry).unwrap(), document);
}

#[test]
fn s_1_2b_absent_fields_are_not_written() {
    let bare = SessionEntry::new(id("s1"), at(5));
    assert_eq!(
        serde_json::to_string(&bare).unwrap(),
        r#"{"sessionId":"s1","updatedAt":5}"#
    );
}

#[test]
fn blank_null_and_mistyped_members_are_absent() {
    for members in [
        r#""modelOverride": " ", "providerOverride": null"#,
        r#""modelOverride": 5, "providerOverride": {}"#,
        r#""modelOverrideSource": "robot", "authProfileOverrideSource": "AUTO""#,
        r#""authProfileOverrideCompactionCount": -1, "compactionCount": 1.5"#,
        r#""liveModelSwitchPending": "true""#,
        r#""failover": "not ours""#,
    ] {
        assert_eq!(entry(members), entry(""), "{members}");
    }
}

#[test]
fn an_entry_without_a_session_id_is_an_error() {
    assert!(serde_json::from_str::<SessionEntry>(r#"{"updatedAt": 1}"#).is_err());
}

#[test]
fn s_1_3_predicates() {
    let origin =
        r#""modelOverrideFallbackOriginProvider": "openai", "modelOverrideFallbackOriginModel": "gpt""#;
    #[rustfmt::skip]
    let rows: &[(&str, String, [bool; 6])] = &[
        // name, members, [has override, auto provenance, auto, active fallback, legacy auto, user pin]
        ("nothing",              String::new(),                                    [false, false, false, false, false, false]),
        ("automatic",            auto("a/m", "openai/gpt"),                        [true,  true,  true,  true,  false, false]),
        ("self origin (S-1.3a)", auto("openai/gpt", "openai/gpt"),                 [true,  true,  true,  false, false, false]),
        ("user",                 user("a/m"),                                      [true,  false, false, false, false, true]),
        ("user with an origin",  format!("{}, {origin}", user("a/m")),             [true,  true,  false, false, false, true]),
        ("legacy",               r#""modelOverride": "a/m""#.into(),               [true,  false, false, false, false, true]),
        ("no source, an origin", format!(r#""modelOverride": "m", {origin}"#),     [true,  true,  true,  true,  false, false]),
        ("provider, an origin",  format!(r#""providerOverride": "a", {origin}"#),  [true,  true,  true,  true,  false, false]),
        ("provider alone",       r#""providerOverride": "a""#.into(),              [true,  false, false, false, false, false]),
        ("automatic, no origin", r#""modelOverride": "m", "modelOverrideSource": "auto""#.into(),
                                                                                   [true,  false, true,  false, true,  false]),
        ("automatic, half an origin",
            r#""modelOverride": "m", "modelOverrideSource": "auto", "modelOverrideFallbackOriginModel": "gpt""#.into(),
                                                                                   [true,  false, true,  false, true,  false]),
        ("an origin alone",      origin.into(),                                    [false, false, false, false, false, false]),
    ];
    for (name, members, expected) in rows {
        let entry = entry(members);
        let found = [
            entry.has_override(),
            entry.has_auto_provenance(),
            entry.is_auto(),
            entry.is_active_fallback(),
            entry.is_legacy_auto(),
            entry.is_user_pin(),
        ];
        assert_eq!(found, *expected, "{name}");
    }
}

#[test]
fn s_1_3_profile_source() {
    for (members, source) in [
        (r#""authProfileOverrideSource": "user""#, None),
        (r#""authProfileOverride": "p""#, Some(PinSource::User)),
        (
            r#""authProfileOverride": "p", "authProfileOverrideCompactionCount": 0"#,
            Some(PinSource::Auto),
        ),
        (
            r#""authProfileOverride": "p", "authProfileOverrideSource": "auto""#,
            Some(PinSource::Auto),
        ),
        (
            r#""authProfileOverride": "p", "authProfileOverrideSource": "user", "authProfileOverrideCompactionCount": 1"#,
            Some(PinSource::User),
        ),
    ] {
        assert_eq!(
            entry(members).profile_pin().map(|pin| pin.source),
            source,
            "{members}"
        );
    }
}

#[test]
fn s_1_4a_and_s_1_4b_a_stored_override_becomes_a_model() {
    for (members, expected) in [
        (
            r#""providerOverride": "OpenAI", "modelOverride": "openai/gpt""#,
            Some("openai/gpt"),
        ),
        (
            r#""providerOverride": "relay", "modelOverride": "openai/gpt""#,
            Some("relay/openai/gpt"),
        ),
        (r#""modelOverride": "anthropic/claude""#, Some("anthropic/claude")),
        (r#""modelOverride": "claude""#, Some("home/claude")),
        (r#""providerOverride": "openai""#, None),
        (r#""modelOverride": "/x""#, None),
    ] {
        assert_eq!(
            entry(members).override_ref(&provider("home")),
            expected.map(model),
            "{members}"
        );
    }
}

#[test]
fn activity_never_moves_backwards() {
    let mut session = entry("");
    session.touch(at(500));
    assert_eq!(session.updated_at, at(1000));
    session.touch(at(1500));
    assert_eq!(session.updated_at, at(1500));
}

/// BL-68: what a person chose is strict, what a fallback wrote is not.
#[test]
fn s_2_1_rows_d_to_f_and_s_2_2d_what_the_override_means_for_the_chain() {
    for (members, expected) in [
        (String::new(), StoredOverride::None),
        (auto("a/m", "b/m"), StoredOverride::Auto(model("a/m"))),
        (user("a/m"), StoredOverride::User(model("a/m"))),
        (
            r#""modelOverride": "m""#.to_owned(),
            StoredOverride::Legacy(model("home/m")),
        ),
        (
            r#""modelOverride": "m", "modelOverrideSource": "auto""#.to_owned(),
            StoredOverride::LegacyAuto,
        ),
        (r#""providerOverride": "a""#.to_owned(), StoredOverride::None),
    ] {
        assert_eq!(
            entry(&members).stored_override(&provider("home")),
            expected,
            "{members}"
        );
    }
}

#[test]
fn a_damaged_own_member_costs_the_others_nothing() {
    let found = entry(
        r#""failover": {
            "probes": {"openai/gpt": "yesterday"},
            "recentRuns": [{"runId": "r1", "at": 5, "steps": []}, {"runId": "r2", "at": 6, "steps": [{"outcome": "new"}]}],
            "parkedPin": {"authProfileOverride": "work", "authProfileOverrideSource": "user"},
            "notices": -3,
            "pendingNotice": "hello"
        }"#,
    );
    let parked = StoredPin::from(Some(pin("work", PinSource::User)));
    assert_eq!(found.failover.parked_pin, Some(parked));
    assert_eq!(found.recent_runs().len(), 1);
    assert_eq!((found.failover.notices, found.pending_notice()), (0, None));
    assert!(found.failover.probes.is_empty());
}

#[test]
fn own_members_of_a_newer_version_are_kept() {
    let document =
        json!({"sessionId": "s1", "updatedAt": 5, "failover": {"notices": 2, "novelty": {"deep": [1]}}});
    let found: SessionEntry = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(&found).unwrap(), document);
}

#[test]
fn s_1_2_and_s_1_2a_the_groups_have_these_members() {
    fn names(group: &impl Serialize) -> Vec<String> {
        let Ok(Value::Object(members)) = serde_json::to_value(group) else {
            panic!("a group is an object");
        };
        members.keys().cloned().collect()
    }
    let full = entry(&format!(
        r#"{}, "authProfileOverride": "p", "authProfileOverrideSource": "auto", "authProfileOverrideCompactionCount": 0,
           "modelProvider": "a", "model": "m", "contextTokens": 5, "contextBudgetStatus": {{}},
           "fallbackNoticeSelectedModel": "o/g", "fallbackNoticeActiveModel": "a/m", "fallbackNoticeReason": "r""#,
        auto("a/m", "o/g")
    ));
    let selection = full.selection();
    let groups = [
        names(&selection.model_override),
        names(&selection.pin),
        names(&full.notice),
        names(&full.last_answer),
    ];
    insta::assert_snapshot!("groups", groups.map(|group| group.join(" ")).join("\n"));
}

#[test]
fn s_5_5_who_pinned_the_profile() {
    for (members, source) in [
        (
            r#""authProfileOverride": "p", "authProfileOverrideSource": "user""#,
            PinSource::User,
        ),
        (r#""authProfileOverride": "p""#, PinSource::User),
        (
            r#""authProfileOverride": "p", "authProfileOverrideCompactionCount": 0"#,
            PinSource::Auto,
        ),
    ] {
        assert_eq!(entry(members).profile_pin(), Some(pin("p", source)), "{members}");
    }
}
