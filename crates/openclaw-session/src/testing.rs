//! Builders for tests: ids, instants, entries, overrides.

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId, SessionKey};

use crate::{FallbackChoice, PinSource, ProfilePin, SessionEntry};

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap()
}

pub(crate) fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

pub(crate) fn provider(text: &str) -> ProviderId {
    text.parse().unwrap()
}

pub(crate) fn profile(text: &str) -> ProfileId {
    text.parse().unwrap()
}

pub(crate) fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

pub(crate) fn key(text: &str) -> SessionKey {
    text.parse().unwrap()
}

pub(crate) fn pin(profile_id: &str, source: PinSource) -> ProfilePin {
    ProfilePin {
        profile: profile(profile_id),
        source,
    }
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
