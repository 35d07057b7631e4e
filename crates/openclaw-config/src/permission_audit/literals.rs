//! Tells whether a configuration holds a secret itself and not only a pointer to one.

use serde_json::Value;

/// Endings of the names of members with secrets, in lowercase and without `-` and `_`: members of this program and of
/// OpenClaw, and variables that a configuration sets.
const ENDINGS: &[&str] = &[
    "accesskey",
    "apikey",
    "authorization",
    "cookie",
    "password",
    "privatekey",
    "secret",
    "token",
];

/// Whether anything below `value` is a literal secret.
pub(super) fn holds_one(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| is_literal(name, value) || holds_one(value)),
        Value::Array(items) => items.iter().any(holds_one),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => false,
    }
}

/// Whether a member is a secret: by its name, and by a text that is neither blank nor the name of a variable.
fn is_literal(name: &str, value: &Value) -> bool {
    let Some(text) = value.as_str().map(str::trim) else {
        return false;
    };
    let name: String = name.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let name = name.to_ascii_lowercase();
    ENDINGS.iter().any(|ending| name.ends_with(ending)) && !text.is_empty() && !is_pointer(text)
}

/// Whether a text names a variable.
fn is_pointer(text: &str) -> bool {
    text.starts_with('$') || text.contains("${")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_is_told_from_the_place_of_one() {
        for (root, expected) in [
            (json!({}), false),
            (json!({"models": {"providers": {"a": {"apiKey": "sk-1"}}}}), true),
            (
                json!({"models": {"providers": {"a": {"apiKey": "${A_KEY}"}}}}),
                false,
            ),
            (
                json!({"models": {"providers": {"a": {"apiKey": "$A_KEY"}}}}),
                false,
            ),
            (
                json!({"models": {"providers": {"a": {"apiKey": {"source": "env", "id": "A_KEY"}}}}}),
                false,
            ),
            (
                json!({"models": {"providers": {"a": {"headers": {"X-Api-Key": "k"}}}}}),
                true,
            ),
            (
                json!({"models": {"providers": {"a": {"headers": {"Authorization": "Bearer ${TOKEN}"}}}}}),
                false,
            ),
            (json!({"gateway": {"auth": {"token": "pa$$word"}}}), true),
            (json!({"gateway": {"auth": {"mode": "token"}}}), false),
            (json!({"channels": {"telegram": [{"botToken": "1:a"}]}}), true),
            (json!({"env": {"OPENAI_API_KEY": "sk"}}), true),
            (json!({"env": {"OPENAI_API_KEY": " "}}), false),
            (
                json!({"logins": {"a": {"clientSecret": "s", "tokenUrl": "https://h"}}}),
                true,
            ),
            (
                json!({"logins": {"a": {"tokenUrl": "https://h"}}, "maxTokens": 5}),
                false,
            ),
        ] {
            assert_eq!(holds_one(&root), expected, "{root}");
        }
    }
}
