//! Builders for the cases and for the tests of this crate: ids, instants, entries, overrides.
#![expect(clippy::unwrap_used, reason = "the texts are literals of tests")]

use jiff::Timestamp;
use openclaw_ids::{ModelRef, SessionId, SessionKey};

use crate::entry::SessionEntry;
use crate::fallback_override::FallbackChoice;

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

pub(crate) fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn key(text: &str) -> SessionKey {
    text.parse().unwrap()
}

/// The entry of session `s1` with these further members, for example `"modelOverride": "m"`.
pub(crate) fn entry(members: &str) -> SessionEntry {
    let comma = if members.is_empty() { "" } else { "," };
    serde_json::from_str(&format!(
        r#"{{"sessionId": "s1", "updatedAt": 1000{comma}{members}}}"#
    ))
    .unwrap()
}

/// Members of an automatic override to `over` from `origin`.
pub(crate) fn auto(over: &str, origin: &str) -> String {
    let (over, origin) = (model(over), model(origin));
    format!(
        r#""providerOverride": "{}", "modelOverride": "{}", "modelOverrideSource": "auto",
           "modelOverrideFallbackOriginProvider": "{}", "modelOverrideFallbackOriginModel": "{}""#,
        over.provider(),
        over.model(),
        origin.provider(),
        origin.model()
    )
}

/// Members of a person's override.
pub(crate) fn user(over: &str) -> String {
    let over = model(over);
    format!(
        r#""providerOverride": "{}", "modelOverride": "{}", "modelOverrideSource": "user""#,
        over.provider(),
        over.model()
    )
}

/// A run of session `s1` that read `entry` and is about to attempt `candidate` instead of `requested`.
pub(crate) fn fallback(entry: &SessionEntry, requested: &str, candidate: &str) -> FallbackChoice {
    FallbackChoice {
        session_id: id("s1"),
        candidate: model(candidate),
        requested: model(requested),
        origin: None,
        profile: None,
        read: entry.selection(),
    }
}
