//! Moves secrets out of the configuration, which only names profiles (G25, G30).

use openclaw_ids::ProfileId;
use serde_json::{Map, Value};

use crate::{Credential, LegacyProfiles};

/// The members that show a secret: any of the first, or all of the last.
const SECRETS: &[&str] = &["key", "apiKey", "api_key", "keyRef", "token", "tokenRef"];
const LOGIN: &[&str] = &["access", "refresh", "expires"];
/// The members of an entry that the configuration keeps.
const KEPT: &[&str] = &["provider", "mode", "email", "displayName"];

/// Takes the secrets out of `auth.profiles`; the result is to be imported. A stored entry wins unless it holds no
/// secret (G25, G26).
///
/// An entry of an unknown provider, and one that makes no credential, stays as it is.
pub(super) fn take_config_credentials(config: &mut Value) -> LegacyProfiles {
    let hints = hints(config);
    let mut legacy = LegacyProfiles::default();
    legacy.fills_blanks = true;
    let profiles = config
        .pointer_mut("/auth/profiles")
        .and_then(Value::as_object_mut);
    for (key, entry) in profiles.into_iter().flatten() {
        let Some(members) = entry.as_object().filter(|members| holds_secret(members)) else {
            continue;
        };
        let Some(provider) = provider(key, members, &hints) else {
            continue;
        };
        let Some((id, credential)) = credential(key, &provider, members) else {
            continue;
        };
        let mode = credential.mode();
        legacy.profiles.entry(id).or_insert(credential);
        if let Some(members) = entry.as_object_mut() {
            members.entry("provider").or_insert_with(|| provider.into());
            members.entry("mode").or_insert_with(|| mode.into());
            members.retain(|name, _| KEPT.contains(&name.as_str()));
        }
    }
    legacy
}

fn holds_secret(members: &Map<String, Value>) -> bool {
    let has = |name: &&str| members.get(*name).is_some_and(|value| !value.is_null());
    SECRETS.iter().any(has) || LOGIN.iter().all(has)
}

/// The entry's own provider, else what its id begins with, else the only one that the configuration uses it for.
fn provider(key: &str, members: &Map<String, Value>, hints: &[(String, String)]) -> Option<String> {
    let own = members.get("provider").and_then(Value::as_str).map(str::trim);
    let own = own.filter(|provider| !provider.is_empty());
    let prefix = || key.split_once(':').map(|(provider, _)| provider.trim());
    if let Some(provider) = own.or_else(prefix).filter(|provider| !provider.is_empty()) {
        return Some(provider.to_owned());
    }
    let mut hinted = hints
        .iter()
        .filter(|(id, _)| id == key)
        .map(|(_, provider)| provider);
    let first = hinted.next()?;
    hinted.all(|other| other == first).then(|| first.clone())
}

fn credential(key: &str, provider: &str, members: &Map<String, Value>) -> Option<(ProfileId, Credential)> {
    let mut entry = members.clone();
    if let Some(alias) = entry.shift_remove("api_key") {
        entry.entry("key").or_insert(alias);
    }
    if !["type", "mode"].iter().any(|name| entry.contains_key(*name)) {
        let has = |name: &str| entry.contains_key(name);
        let kind = if has("token") || has("tokenRef") {
            "token"
        } else if has("access") {
            "oauth"
        } else {
            "api_key"
        };
        entry.insert("type".to_owned(), kind.into());
    }
    entry.insert("provider".to_owned(), provider.into());
    let credential = Credential::from_json(&Value::Object(entry)).ok()?;
    Some((ProfileId::try_new(key).ok()?, credential))
}

/// The provider that each profile is used for: in orders, and behind `@` or beside a model's name.
fn hints(config: &Value) -> Vec<(String, String)> {
    let mut hints = Vec::new();
    let orders = config.pointer("/auth/order").and_then(Value::as_object);
    for (provider, ids) in orders.into_iter().flatten() {
        let ids = ids.as_array().into_iter().flatten().filter_map(Value::as_str);
        hints.extend(ids.map(|id| (id.trim().to_owned(), provider.trim().to_lowercase())));
    }
    collect(config, &mut hints);
    hints
}

fn collect(value: &Value, hints: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, hints)),
        Value::Object(members) => {
            let text = |name: &str| members.get(name).and_then(Value::as_str);
            if let (Some(id), Some(model)) =
                (text("authProfileId"), text("model").or_else(|| text("primary")))
                && let Some((provider, _)) = model.split_once('/')
            {
                hints.push((id.trim().to_owned(), provider.trim().to_lowercase()));
            }
            members.values().for_each(|member| collect(member, hints));
        }
        Value::String(text) => {
            if let Some((provider, rest)) = text.split_once('/')
                && let Some((_, id)) = rest.rsplit_once('@')
            {
                hints.push((id.trim().to_owned(), provider.trim().to_lowercase()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
