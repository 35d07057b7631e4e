//! Finds `$include`, which this crate does not follow.

use std::fmt;

use serde_json::Value;

/// The remedy that every finding states.
pub const INCLUDE_REMEDY: &str =
    "write the `models`, `agents`, `auth` and `secrets` of what it includes into this file";
/// The key.
const INCLUDE: &str = "$include";

/// An object that includes another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// Where it is, such as `agents.defaults`; blank for the whole file.
    pub path: String,
}

impl fmt::Display for Include {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str("`$include` is not read"),
            path => write!(f, "`$include` in `{path}` is not read"),
        }?;
        write!(f, ": {INCLUDE_REMEDY}")
    }
}

/// All includes of a file; the recursion is bounded by the depth limit of the file.
pub(crate) fn all(root: &Value) -> Vec<Include> {
    let mut found = Vec::new();
    visit(root, "", &mut found);
    found
}

fn visit(value: &Value, path: &str, found: &mut Vec<Include>) {
    let Some(members) = value.as_object() else { return };
    if members.contains_key(INCLUDE) {
        let path = path.to_owned();
        found.push(Include { path });
    }
    for (key, value) in members {
        let below = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        visit(value, &below, found);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_is_named_by_its_place() {
        let root = json!({"$include": "./base.json5", "agents": {"defaults": {"$include": ["a", "b"]}}});
        let told: Vec<String> = all(&root).iter().map(ToString::to_string).collect();
        insta::assert_debug_snapshot!("includes", told);
        assert_eq!(all(&json!({"include": 1})), []);
    }
}
