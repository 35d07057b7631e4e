//! Where two JSON values differ, as paths.

use std::fmt;

use serde_json::Value;

/// The way from the root of a value to a part of it; member names and list positions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(Vec<String>);

impl Path {
    pub(crate) fn root() -> Self {
        Self(Vec::new())
    }

    fn child(&self, segment: &str) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment.to_owned());
        Self(segments)
    }

    /// The part of `value` there; `None` when it is absent.
    pub(crate) fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, segment| match value {
            Value::Array(items) => segment.parse::<usize>().ok().and_then(|at| items.get(at)),
            Value::Object(members) => members.get(segment),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        })
    }

    /// Whether this path lies at or below `pattern`, whose `*` stands for any one segment.
    pub(crate) fn is_within(&self, pattern: &[String]) -> bool {
        self.0.len() >= pattern.len()
            && pattern
                .iter()
                .zip(&self.0)
                .all(|(wanted, segment)| wanted == "*" || wanted == segment)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|segment| write!(f, ".{segment}"))
    }
}

/// The smallest parts that differ, in the order of `expected`. Member order does not count, a member that is absent
/// differs from one that is null, and numbers are compared by value.
pub(crate) fn differences(expected: &Value, actual: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(&Path::root(), expected, actual, &mut found);
    found
}

fn collect(at: &Path, expected: &Value, actual: &Value, found: &mut Vec<Path>) {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            for (name, value) in expected {
                match actual.get(name) {
                    Some(other) => collect(&at.child(name), value, other, found),
                    None => found.push(at.child(name)),
                }
            }
            found.extend(
                actual
                    .keys()
                    .filter(|name| !expected.contains_key(*name))
                    .map(|name| at.child(name)),
            );
        }
        (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
            for (position, (value, other)) in expected.iter().zip(actual).enumerate() {
                collect(&at.child(&position.to_string()), value, other, found);
            }
        }
        _ if same(expected, actual) => {}
        _ => found.push(at.clone()),
    }
}

/// Equality in which `1` and `1.0` are one number.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(expected: &Value, actual: &Value) -> Vec<String> {
        differences(expected, actual)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_smallest_differing_parts_are_named() {
        for (expected, actual, paths) in [
            (
                json!({"a": 1, "b": [1, 2]}),
                json!({"b": [1, 2], "a": 1.0}),
                vec![],
            ),
            (
                json!({"a": {"b": 1, "c": 2}}),
                json!({"a": {"b": 1, "c": 3}}),
                vec!["$.a.c"],
            ),
            (
                json!({"a": [1, {"x": 1}]}),
                json!({"a": [1, {"x": 2}]}),
                vec!["$.a.1.x"],
            ),
            (json!({"a": [1]}), json!({"a": [1, 2]}), vec!["$.a"]),
            (json!({"a": null}), json!({}), vec!["$.a"]),
            (json!({}), json!({"z": 0}), vec!["$.z"]),
            (json!("x"), json!(null), vec!["$"]),
        ] {
            assert_eq!(shown(&expected, &actual), paths, "{expected} {actual}");
        }
    }

    #[test]
    fn a_path_finds_its_part_again() {
        let value = json!({"a": [1, {"x": 2}]});
        let [path] = &differences(&value, &json!({"a": [1, {"x": 3}]}))[..] else {
            panic!("one path")
        };
        assert_eq!(path.of(&value), Some(&json!(2)));
        assert_eq!(path.of(&json!({"a": []})), None);
    }

    #[test]
    fn a_pattern_covers_what_lies_below_it() {
        let [path] = &differences(&json!({"a": [{"x": 2}]}), &json!({"a": [{"x": 3}]}))[..] else {
            panic!("one path")
        };
        let within =
            |pattern: &[&str]| path.is_within(&pattern.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
        assert!(within(&["a", "0", "x"]) && within(&["a", "*"]) && within(&["*", "0"]) && within(&[]));
        assert!(!within(&["a", "1"]) && !within(&["a", "0", "x", "y"]) && !within(&["a", "0", "y"]));
    }
}
