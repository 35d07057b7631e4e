//! What a session inherits, and whose choice that is then.

use super::*;
use crate::testing::{at, auto, entry, model, pin, provider, user};

fn effective(own: &str, parent: &str) -> (StoredOverride, OverrideOwner) {
    effective_override(&entry(own), Some(&entry(parent)), &provider("home"))
}

#[test]
fn s_1_4c_and_a5_the_parents_override_keeps_its_source() {
    let legacy_auto = r#""modelOverride": "m", "modelOverrideSource": "auto""#;
    for (own, parent, stored, owner) in [
        ("", "", StoredOverride::None, OverrideOwner::Session),
        (
            "",
            &*user("a/m"),
            StoredOverride::User(model("a/m")),
            OverrideOwner::Parent,
        ),
        (
            "",
            r#""modelOverride": "m""#,
            StoredOverride::Legacy(model("home/m")),
            OverrideOwner::Parent,
        ),
        (
            "",
            &*auto("a/m", "b/m"),
            StoredOverride::Auto(model("a/m")),
            OverrideOwner::Parent,
        ),
        ("", legacy_auto, StoredOverride::None, OverrideOwner::Session),
        (
            &*user("c/m"),
            &*user("a/m"),
            StoredOverride::User(model("c/m")),
            OverrideOwner::Session,
        ),
        (
            legacy_auto,
            &*user("a/m"),
            StoredOverride::User(model("a/m")),
            OverrideOwner::Parent,
        ),
        (
            legacy_auto,
            "",
            StoredOverride::LegacyAuto,
            OverrideOwner::Session,
        ),
    ] {
        assert_eq!(effective(own, parent), (stored, owner), "{own} under {parent}");
    }
    let alone = effective_override(&entry(""), None, &provider("home"));
    assert_eq!(alone, (StoredOverride::None, OverrideOwner::Session));
}

#[test]
fn s_2_1_row_l_a_spawned_child_says_who_chose() {
    let explicit = spawn_with_model(&entry(""), &SpawnModel::Explicit(model("a/m")), at(2000));
    assert!(explicit.is_user_pin());
    let configured = spawn_with_model(&entry(""), &SpawnModel::Configured(model("a/m")), at(2000));
    assert!(configured.is_auto() && !configured.is_active_fallback() && !configured.is_legacy_auto());
    assert_eq!(configured.updated_at, at(2000));
}

#[test]
fn s_2_4a_a_cron_session_takes_over_what_a_person_chose() {
    let pinned = r#""authProfileOverride": "p", "authProfileOverrideSource""#;
    for (from, route_from, profile) in [
        (
            format!(r#"{}, {pinned}: "user""#, user("a/m")),
            user("a/m"),
            Some("p"),
        ),
        (
            format!(r#"{}, {pinned}: "auto""#, auto("a/m", "b/m")),
            String::new(),
            None,
        ),
        (
            r#""modelOverride": "m""#.to_owned(),
            r#""modelOverride": "m""#.to_owned(),
            None,
        ),
    ] {
        let copy = copy_user_selection(&entry(&from), &entry(""), at(2000));
        assert_eq!(copy.model_override, entry(&route_from).model_override, "{from}");
        assert_eq!(
            copy.profile_pin(),
            profile.map(|id| pin(id, PinSource::User)),
            "{from}"
        );
    }
}

#[test]
fn s_9_2_an_automatic_override_that_was_copied_without_its_origin_is_dropped_on_first_use() {
    let mut copy = entry(&auto("a/m", "o/g"));
    copy.model_override.origin_provider = None;
    copy.model_override.origin_model = None;
    assert_eq!(
        copy.stored_override(&provider("home")),
        StoredOverride::LegacyAuto
    );
    assert!(!crate::fallback_override::drop_override(&copy, at(2000)).has_override());
}
