//! Finds misspelt keys of `openclaw.json` in the sections where an ignored key costs the most: providers and cooldowns.
//!
//! OpenClaw refuses such a file. This crate ignores unknown keys, because a later version of OpenClaw may have more of
//! them, and reports one that is nearly a known key.

use serde_json::{Map, Value};

use crate::file::plain_words::edits;

/// A key that this crate does not read, and that is nearly one it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MisspeltKey {
    /// Where it is, such as `models.providers.relay.apikey`.
    pub path: String,
    /// The known key that is nearly the same.
    pub nearest: &'static str,
}

/// A path in the file, and the keys that an object at this path may have. `*` stands for any key, `[]` for any item.
struct ObjectKeys {
    path: &'static [&'static str],
    keys: &'static [&'static str],
}

#[rustfmt::skip]
static KNOWN_KEYS: &[ObjectKeys] = &[
    ObjectKeys { path: &["agents"], keys: &["defaults", "list"] },
    ObjectKeys { path: &["auth"], keys: &["cooldowns", "order", "profiles"] },
    ObjectKeys { path: &["auth", "cooldowns"], keys: &[
        "authPermanentBackoffMinutes", "authPermanentMaxMinutes", "billingBackoffHours", "billingBackoffHoursByProvider",
        "billingMaxHours", "failureWindowHours", "overloadedBackoffMs", "overloadedProfileRotations",
        "rateLimitedProfileRotations",
    ] },
    ObjectKeys { path: &["models"], keys: &["mode", "providers"] },
    ObjectKeys { path: &["models", "providers", "*"], keys: &[
        "agentRuntime", "api", "apiKey", "auth", "authHeader", "baseUrl", "contextTokens", "contextWindow", "headers",
        "injectNumCtxForOpenAICompat", "localService", "maxTokens", "models", "params", "region", "request",
        "timeoutSeconds",
    ] },
    ObjectKeys { path: &["models", "providers", "*", "models", "[]"], keys: &[
        "api", "baseUrl", "compat", "contextTokens", "contextWindow", "cost", "headers", "id", "input", "maxTokens",
        "name", "params", "reasoning",
    ] },
];

/// The misspelt keys of a configuration, in the order of the table.
pub(crate) fn misspelt_keys(root: &Value) -> Vec<MisspeltKey> {
    let mut found = Vec::new();
    for object_keys in KNOWN_KEYS {
        visit(root, object_keys.path, "", &mut |object, path| {
            let unknown = object
                .keys()
                .filter(|key| !object_keys.keys.contains(&key.as_str()));
            found.extend(unknown.filter_map(|key| {
                let nearest = nearest_key(key, object_keys.keys)?;
                Some(MisspeltKey {
                    path: format!("{path}.{key}"),
                    nearest,
                })
            }));
        });
    }
    found
}

fn visit(value: &Value, path: &[&str], walked: &str, work: &mut dyn FnMut(&Map<String, Value>, &str)) {
    let Some((step, rest)) = path.split_first() else {
        if let Some(object) = value.as_object() {
            work(object, walked);
        }
        return;
    };
    let below = |key: &str| match walked {
        "" => key.to_owned(),
        walked => format!("{walked}.{key}"),
    };
    match (*step, value) {
        ("*", Value::Object(members)) => {
            for (key, value) in members {
                visit(value, rest, &below(key), work);
            }
        }
        ("[]", Value::Array(items)) => {
            for (index, value) in items.iter().enumerate() {
                visit(value, rest, &format!("{walked}[{index}]"), work);
            }
        }
        (key, Value::Object(members)) => {
            if let Some(value) = members.get(key) {
                visit(value, rest, &below(key), work);
            }
        }
        (_, Value::Array(_) | Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_)) => {}
    }
}

/// The key with the fewest edits from `wrong`; none when every key is too far from it.
fn nearest_key(wrong: &str, keys: &[&'static str]) -> Option<&'static str> {
    let plain = |key: &str| -> String {
        let letters = key.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let far = |key: &str| {
        if plain(wrong) == plain(key) {
            0
        } else {
            edits(wrong, key)
        }
    };
    let near = keys.iter().map(|key| (far(key), *key));
    let near = near.filter(|(far, key)| *far <= (key.len() / 4).min(2));
    near.min().map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_nearly_a_known_key_is_told_and_what_is_foreign_is_not() {
        let root = json!({
            "agent": {}, "agents": {"default": {}},
            "auth": {"cooldown": {}, "cooldowns": {"billingBackoffHour": 1, "billing_max_hours": 2, "later": 3},
                     "orders": {}, "keychain": {}},
            "models": {"provider": {}, "pricing": {}, "providers": {
                "relay": {"apikey": "sk-1", "api_key": "sk-2", "baseURL": "u", "base_url": "u", "header": {},
                          "region": "r", "newSetting": 1, "models": [{"ID": "m", "contextwindow": 1, "extra": 2}]},
                "fine": {"apiKey": "k", "baseUrl": "u", "auth": "oauth", "models": []}}},
            "channels": {"apikey": 1},
        });
        let told: Vec<(String, &str)> = misspelt_keys(&root)
            .into_iter()
            .map(|key| (key.path, key.nearest))
            .collect();
        let told: Vec<(&str, &str)> = told
            .iter()
            .map(|(path, nearest)| (path.as_str(), *nearest))
            .collect();
        assert_eq!(
            told,
            [
                ("agents.default", "defaults"),
                ("auth.cooldown", "cooldowns"),
                ("auth.orders", "order"),
                ("auth.cooldowns.billingBackoffHour", "billingBackoffHours"),
                ("auth.cooldowns.billing_max_hours", "billingMaxHours"),
                ("models.provider", "providers"),
                ("models.providers.relay.apikey", "apiKey"),
                ("models.providers.relay.api_key", "apiKey"),
                ("models.providers.relay.baseURL", "baseUrl"),
                ("models.providers.relay.base_url", "baseUrl"),
                ("models.providers.relay.header", "headers"),
                ("models.providers.relay.models[0].ID", "id"),
                ("models.providers.relay.models[0].contextwindow", "contextWindow"),
            ]
        );
    }

    #[test]
    fn a_file_of_another_shape_has_no_such_keys() {
        for root in [
            json!([]),
            json!({"auth": 1, "models": {"providers": [1]}}),
            json!(null),
        ] {
            assert_eq!(misspelt_keys(&root), []);
        }
    }
}
