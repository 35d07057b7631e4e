//! Each row counts once: it agrees; else it is disputed; else decided; else it differs.

use serde_json::Value;

use crate::difference::{Path, differences, same};
use crate::kind::Kind;
use crate::row::Row;

/// What became of a row.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) standing: Standing,
    pub(crate) actual: Value,
    /// Where the answer leaves the recorded one, what no decision explains first; empty when it agrees.
    pub(crate) changed: Vec<Change>,
}

/// One part of an answer that is not the recorded one.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: Path,
    pub(crate) by: Explained,
}

/// What explains a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Explained {
    /// These decisions reach it, and the oracle finds the same value.
    Decisions(Vec<&'static str>),
    /// Decisions reach it, and the oracle finds this instead; `None` for nothing.
    Otherwise(Option<Value>),
    /// No decision reaches it.
    Nothing,
}

/// How a row is counted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Agree,
    /// The corpus itself doubts the recorded answer.
    Disputed,
    /// These decisions apply by the row's input, cover every change, and the oracle finds the same values.
    Decided(Vec<&'static str>),
    Differ,
}

/// Asks the row and compares.
pub(crate) fn judge(kind: &Kind, row: &Row) -> Verdict {
    let actual = (kind.answer)(row);
    if (kind.accepted)(row)
        .iter()
        .any(|accepted| differences(accepted, &actual).is_empty())
    {
        return Verdict {
            standing: Standing::Agree,
            actual,
            changed: Vec::new(),
        };
    }
    let mut changed = explained(kind, row.input(), &actual, differences(row.expected(), &actual));
    changed.sort_by_key(|change| matches!(change.by, Explained::Decisions(_)));
    let standing = if row.is_disputed() {
        Standing::Disputed
    } else {
        standing(&changed)
    };
    Verdict {
        standing,
        actual,
        changed,
    }
}

/// Decided when every change is.
fn standing(changed: &[Change]) -> Standing {
    let mut ids = Vec::new();
    for change in changed {
        match &change.by {
            Explained::Decisions(by) => ids.extend(by),
            Explained::Otherwise(_) | Explained::Nothing => return Standing::Differ,
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Standing::Decided(ids)
}

fn explained(kind: &Kind, input: &Value, actual: &Value, changed: Vec<Path>) -> Vec<Change> {
    let reaching: Vec<_> = kind
        .decisions
        .iter()
        .map(|decision| (decision.id, (decision.reach)(input)))
        .collect();
    let oracle = (kind.oracle)(input);
    let explain = |path: Path| {
        let by = reaching
            .iter()
            .filter(|(_, patterns)| patterns.iter().any(|pattern| path.is_within(pattern)));
        let by: Vec<_> = by.map(|(id, _)| *id).collect();
        let confirmed = match (path.of(actual), path.of(&oracle)) {
            (Some(actual), Some(oracle)) => same(actual, oracle),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let by = match (by.is_empty(), confirmed) {
            (true, _) => Explained::Nothing,
            (false, true) => Explained::Decisions(by),
            (false, false) => Explained::Otherwise(path.of(&oracle).cloned()),
        };
        Change { path, by }
    };
    changed.into_iter().map(explain).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kind::{Decision, recorded};

    /// Answers with the row's own `actual`, so that a test says both sides.
    const KIND: Kind = Kind {
        name: "test",
        answer: |row| row.member("actual").clone(),
        accepted: recorded,
        decisions: &[
            Decision {
                id: "D1",
                reach: |input| reach(input, "d1", "a"),
            },
            Decision {
                id: "D2",
                reach: |input| reach(input, "d2", "b"),
            },
        ],
        oracle: |input| input["oracle"].clone(),
    };

    fn reach(input: &Value, member: &str, path: &str) -> Vec<Vec<String>> {
        if input[member] == true {
            vec![vec![path.to_owned()]]
        } else {
            Vec::new()
        }
    }

    fn standing(expected: &Value, actual: &Value, input: &Value, disputed: bool) -> Standing {
        let row =
            json!({"id": "x", "expected": expected, "actual": actual, "input": input, "disputed": disputed});
        judge(&KIND, &Row::of(&row)).standing
    }

    #[test]
    fn a_row_counts_once_in_the_stated_order() {
        let (old, new) = (json!({"a": 1, "b": 1}), json!({"a": 2, "b": 1}));
        let explained = json!({"d1": true, "oracle": {"a": 2, "b": 1}});
        assert_eq!(standing(&old, &old, &explained, true), Standing::Agree);
        assert_eq!(standing(&old, &new, &explained, true), Standing::Disputed);
        assert_eq!(
            standing(&old, &new, &explained, false),
            Standing::Decided(vec!["D1"])
        );
        assert_eq!(
            standing(&old, &new, &json!({"oracle": {"a": 2, "b": 1}}), false),
            Standing::Differ
        );
    }

    #[test]
    fn a_change_outside_the_reach_of_the_decision_differs() {
        let (old, new) = (json!({"a": 1, "b": 1}), json!({"a": 2, "b": 2}));
        let oracle = json!({"a": 2, "b": 2});
        assert_eq!(
            standing(&old, &new, &json!({"d1": true, "oracle": oracle}), false),
            Standing::Differ
        );
        let both = json!({"d1": true, "d2": true, "oracle": oracle});
        assert_eq!(
            standing(&old, &new, &both, false),
            Standing::Decided(vec!["D1", "D2"])
        );
    }

    #[test]
    fn a_value_that_the_oracle_does_not_find_differs() {
        let (old, new) = (json!({"a": 1}), json!({"a": 2}));
        for oracle in [json!({"a": 3}), json!({"a": 1}), json!({}), json!(null)] {
            assert_eq!(
                standing(&old, &new, &json!({"d1": true, "oracle": oracle}), false),
                Standing::Differ,
                "{oracle}"
            );
        }
        // A member that the decision takes away is confirmed by its absence.
        let gone = json!({"d1": true, "oracle": {}});
        assert_eq!(
            standing(&old, &json!({}), &gone, false),
            Standing::Decided(vec!["D1"])
        );
    }
}
