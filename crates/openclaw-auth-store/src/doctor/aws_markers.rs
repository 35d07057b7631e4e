//! Moves profiles that stand for the AWS credential chain to the configuration (9.5).

use serde_json::{Map, Value, json};

const MODE: &str = "aws-sdk";

/// Moves such entries from a document with `profiles` to `auth.profiles` of the configuration; their ids.
///
/// The configuration's own entry of that id stays as it is.
pub(super) fn move_aws_markers(document: &mut Value, config: &mut Value) -> Vec<String> {
    let Some(profiles) = document.get_mut("profiles").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let is_marker = |entry: &Value| {
        let kind = entry.get("type").or_else(|| entry.get("mode"));
        kind.and_then(Value::as_str) == Some(MODE)
    };
    let markers: Vec<(String, Value)> = profiles
        .iter()
        .filter(|(_, entry)| is_marker(entry) && entry.get("provider").is_some_and(Value::is_string))
        .map(|(id, entry)| (id.clone(), entry.clone()))
        .collect();
    for (id, entry) in &markers {
        let mut moved = Map::from_iter([
            ("provider".to_owned(), entry["provider"].clone()),
            ("mode".to_owned(), MODE.into()),
        ]);
        for name in ["email", "displayName"] {
            if let Some(text) = entry.get(name).filter(|value| value.is_string()) {
                moved.insert(name.to_owned(), text.clone());
            }
        }
        if let Some(configured) = object(object(config, "auth"), "profiles").as_object_mut() {
            configured.entry(id.clone()).or_insert(Value::Object(moved));
        }
        profiles.shift_remove(id);
    }
    markers.into_iter().map(|(id, _)| id).collect()
}

/// A member of an object as an object, created where it is missing.
fn object<'v>(value: &'v mut Value, name: &str) -> &'v mut Value {
    if !value.is_object() {
        *value = json!({});
    }
    let member = &mut value[name];
    if !member.is_object() {
        *member = json!({});
    }
    member
}
