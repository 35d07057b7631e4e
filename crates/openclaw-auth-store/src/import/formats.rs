//! The formats of older files (G3, G21 to G23).

use openclaw_ids::{ProfileId, ProviderId};
use serde_json::{Map, Value};

use crate::{Credential, SecretRef};

/// Keys that are artefacts of JavaScript objects, never a provider (G22).
const NEVER_PROVIDERS: &[&str] = &["__proto__", "constructor", "prototype"];

/// The members that `auth-profiles.json` without `profiles` may carry over (G22).
const FLAT: &[&str] = &[
    "key",
    "token",
    "expires",
    "access",
    "refresh",
    "enterpriseUrl",
    "projectId",
    "accountId",
    "email",
];

/// The members that `auth.json` may carry over, per type (G23).
const AUTH: &[(&str, &[&str])] = &[
    ("api_key", &["key", "email"]),
    ("token", &["token", "expires", "email"]),
    (
        "oauth",
        &[
            "access",
            "refresh",
            "expires",
            "enterpriseUrl",
            "projectId",
            "accountId",
            "email",
        ],
    ),
];

/// One credential per provider, its type given or inferred from its members (G22).
pub(super) fn flat(members: &Map<String, Value>) -> Vec<(ProfileId, Credential)> {
    let entries = members
        .iter()
        .filter(|(key, _)| !NEVER_PROVIDERS.contains(&key.trim()));
    let read = entries.filter_map(|(key, entry)| {
        let mut entry = entry.as_object()?.clone();
        let kind = written_kind(&entry).or_else(|| inferred_kind(&entry))?;
        if let Some(alias) = entry.shift_remove("apiKey") {
            entry.entry("key").or_insert(alias);
        }
        entry.retain(|name, _| FLAT.contains(&name.as_str()));
        by_default(key, key, kind, entry)
    });
    read.collect()
}

/// One credential per provider, its type given (G23).
pub(super) fn auth(members: &Map<String, Value>) -> Vec<(ProfileId, Credential)> {
    let read = members.iter().filter_map(|(key, entry)| {
        let mut entry = entry.as_object()?.clone();
        let kind = written_kind(&entry)?;
        let provider = entry
            .get("provider")
            .and_then(Value::as_str)
            .unwrap_or(key)
            .to_owned();
        let (_, kept) = AUTH.iter().find(|(name, _)| *name == kind)?;
        let is_end = |name: &str, value: &Value| name != "expires" || kind == "oauth" || value.is_number();
        // References to secrets were never part of this format.
        entry.retain(|name, value| {
            kept.contains(&name.as_str()) && is_end(name, value) && SecretRef::parse(value).is_none()
        });
        by_default(key, &provider, kind, entry)
    });
    read.collect()
}

/// One login per provider (G3).
pub(super) fn oauth(members: &Map<String, Value>) -> Vec<(ProfileId, Credential)> {
    let read = members.iter().filter_map(|(key, entry)| {
        let mut entry = entry.as_object()?.clone();
        for written in ["type", "mode", "provider"] {
            entry.shift_remove(written);
        }
        by_default(key, key, "oauth", entry)
    });
    read.collect()
}

/// Whether an entry is a login whose tokens are in a file of their own (G34).
pub(crate) fn awaits_sidecar(entry: &Value) -> bool {
    let pointer = entry.get("oauthRef");
    let named = |name: &str| {
        pointer
            .and_then(|pointer| pointer.get(name))
            .is_some_and(Value::is_string)
    };
    let held = |name: &str| {
        entry
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty())
    };
    named("id") && named("provider") && !(held("access") && held("refresh"))
}

/// Takes `api_key` for `key` where a key has neither text nor pointer (G21).
pub(super) fn adopt_key_alias(entry: &mut Value) {
    let Some(members) = entry.as_object_mut() else {
        return;
    };
    let is_key = written_kind(members) == Some("api_key");
    let usable = ["key", "apiKey", "keyRef"]
        .iter()
        .any(|name| match members.get(*name) {
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(value) => SecretRef::parse(value).is_some(),
            None => false,
        });
    if is_key
        && !usable
        && let Some(alias) = members.shift_remove("api_key")
    {
        members.insert("key".to_owned(), alias);
    }
}

fn written_kind(members: &Map<String, Value>) -> Option<&'static str> {
    let written = members.get("type").or_else(|| members.get("mode"))?.as_str()?;
    let written = if written == "apiKey" { "api_key" } else { written };
    AUTH.iter().map(|(name, _)| *name).find(|name| *name == written)
}

fn inferred_kind(members: &Map<String, Value>) -> Option<&'static str> {
    let has = |name: &str| members.contains_key(name);
    if has("key") || has("apiKey") {
        Some("api_key")
    } else if has("token") {
        Some("token")
    } else if has("access") && has("refresh") && members.get("expires").is_some_and(Value::is_number) {
        Some("oauth")
    } else {
        None
    }
}

/// The profile `<key>:default` of a provider.
fn by_default(
    key: &str,
    provider: &str,
    kind: &str,
    mut entry: Map<String, Value>,
) -> Option<(ProfileId, Credential)> {
    let provider = ProviderId::try_new(provider).ok()?;
    let id = ProfileId::compose(key, "default").ok()?;
    entry.insert("type".to_owned(), kind.into());
    entry.insert("provider".to_owned(), provider.as_str().into());
    Some((id, Credential::from_json(&Value::Object(entry)).ok()?))
}
