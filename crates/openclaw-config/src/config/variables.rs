//! Variables that the configuration sets under `env`; those of the process win.

use std::collections::BTreeMap;

use secrecy::SecretString;
use serde_json::Value;

/// The texts under `env.vars`, then those under `env`, by name. Most of them are API keys.
pub(super) fn configured(root: &Value) -> BTreeMap<String, SecretString> {
    let env = root.get("env");
    let vars = env.and_then(|env| env.get("vars"));
    let mut variables = BTreeMap::new();
    for (name, value) in [vars, env]
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .flatten()
    {
        if let Some(value) = value.as_str() {
            let value = SecretString::from(value.to_owned());
            variables.entry(name.clone()).or_insert(value);
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_count_and_those_of_vars_first() {
        let root = json!({"env": {
            "A": "outer", "B": "b", "vars": {"A": "inner", "N": 5}, "shellEnv": {"enabled": true},
        }});
        let variables = configured(&root);
        let found: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.expose_secret()))
            .collect();
        assert_eq!(found, [("A", "inner"), ("B", "b")]);
        assert!(!format!("{variables:?}").contains("inner"));
        for odd in [
            json!({}),
            json!({"env": 5}),
            json!({"env": {"vars": "x"}}),
            json!([]),
        ] {
            assert!(configured(&odd).keys().all(|name| name == "vars"), "{odd}");
        }
    }
}
