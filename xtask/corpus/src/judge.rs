//! Each row counts once: it agrees; else it is disputed; else decided; else it differs.

use serde_json::Value;

use crate::difference::{Path, differences, same};
use crate::kind::{Decision, Kind, OverrulePolicy, Switches};
use crate::row::Row;

/// What became of a row.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) standing: RowStatus,
    pub(crate) actual: Value,
    /// Where the answer leaves the recorded one, what no decision explains first; empty when it agrees.
    pub(crate) changed: Vec<Change>,
}

/// One part of an answer that is not the recorded one.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: Path,
    pub(crate) by: Explanation,
}

/// What explains a change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Explanation {
    /// These decisions reach it, and the oracle finds the same value.
    Decisions(Vec<&'static str>),
    /// Decisions reach it, and the oracle finds this instead; `None` for nothing.
    Otherwise(Option<Value>),
    /// The oracle, without any decision, finds this and not what was recorded; `None` for nothing.
    Unreproduced(Option<Value>),
    /// No decision reaches it.
    Nothing,
}

/// How a row is counted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RowStatus {
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
            standing: RowStatus::Agree,
            actual,
            changed: Vec::new(),
        };
    }
    let mut changed = match &kind.overruled {
        OverrulePolicy::ByReach { decisions, oracle } => {
            let changed = differences(row.expected(), &actual);
            reached(decisions, &oracle(row.input()), row.input(), &actual, changed)
        }
        OverrulePolicy::ByReplay { decisions, oracle } => {
            let replay = |switches: &Switches| oracle(row.input(), switches);
            replayed(decisions, replay, row.expected(), &actual)
        }
    };
    changed.sort_by_key(|change| matches!(change.by, Explanation::Decisions(_)));
    let standing = if row.is_disputed() {
        RowStatus::Disputed
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
fn standing(changed: &[Change]) -> RowStatus {
    let mut ids = Vec::new();
    for change in changed {
        match &change.by {
            Explanation::Decisions(by) => ids.extend(by),
            Explanation::Otherwise(_) | Explanation::Unreproduced(_) | Explanation::Nothing => {
                return RowStatus::Differ;
            }
        }
    }
    ids.sort_unstable();
    ids.dedup();
    RowStatus::Decided(ids)
}

/// What the decisions that reach a change make of it.
fn reached(
    decisions: &[Decision],
    oracle: &Value,
    input: &Value,
    actual: &Value,
    changed: Vec<Path>,
) -> Vec<Change> {
    let reaching: Vec<_> = decisions
        .iter()
        .map(|decision| (decision.id, (decision.reach)(input)))
        .collect();
    let explain = |path: Path| {
        let by = reaching
            .iter()
            .filter(|(_, patterns)| patterns.iter().any(|pattern| path.is_within(pattern)));
        let by: Vec<_> = by.map(|(id, _)| *id).collect();
        let confirmed = match (path.of(actual), path.of(oracle)) {
            (Some(actual), Some(oracle)) => same(actual, oracle),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let by = match (by.is_empty(), confirmed) {
            (true, _) => Explanation::Nothing,
            (false, true) => Explanation::Decisions(by),
            (false, false) => Explanation::Otherwise(path.of(oracle).cloned()),
        };
        Change { path, by }
    };
    changed.into_iter().map(explain).collect()
}

/// Whether the oracle finds what was recorded with no decision, what came with all of them, and with how few already.
fn replayed(
    decisions: &[&'static str],
    oracle: impl Fn(&Switches) -> Value,
    expected: &Value,
    actual: &Value,
) -> Vec<Change> {
    let mut needed = Switches::of(decisions);
    let (before, after) = (oracle(&Switches::of(&[])), oracle(&needed));
    let missed = |wanted: &Value, found: &Value, by: fn(Option<Value>) -> Explanation| -> Vec<Change> {
        let paths = differences(wanted, found).into_iter();
        let change = |path: Path| Change {
            by: by(path.of(found).cloned()),
            path,
        };
        paths.map(change).collect()
    };
    let mut wrong = missed(actual, &after, Explanation::Otherwise);
    wrong.extend(missed(expected, &before, Explanation::Unreproduced));
    if !wrong.is_empty() {
        return wrong;
    }
    for decision in decisions {
        let fewer = needed.without(decision);
        if differences(actual, &oracle(&fewer)).is_empty() {
            needed = fewer;
        }
    }
    let by: Vec<_> = decisions.iter().copied().filter(|id| needed.holds(id)).collect();
    let explain = |path| Change {
        path,
        by: Explanation::Decisions(by.clone()),
    };
    differences(expected, actual).into_iter().map(explain).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kind::recorded;

    /// Answers with the row's own `actual`, so that a test says both sides.
    const KIND: Kind = Kind {
        name: "test",
        answer: |row| row.member("actual").clone(),
        accepted: recorded,
        overruled: OverrulePolicy::ByReach {
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
        },
    };

    fn reach(input: &Value, member: &str, path: &str) -> Vec<Vec<String>> {
        if input[member] == true {
            vec![vec![path.to_owned()]]
        } else {
            Vec::new()
        }
    }

    fn standing(expected: &Value, actual: &Value, input: &Value, disputed: bool) -> RowStatus {
        let row =
            json!({"id": "x", "expected": expected, "actual": actual, "input": input, "disputed": disputed});
        judge(&KIND, &Row::of(&row)).standing
    }

    #[test]
    fn a_row_counts_once_in_the_stated_order() {
        let (old, new) = (json!({"a": 1, "b": 1}), json!({"a": 2, "b": 1}));
        let explained = json!({"d1": true, "oracle": {"a": 2, "b": 1}});
        assert_eq!(standing(&old, &old, &explained, true), RowStatus::Agree);
        assert_eq!(standing(&old, &new, &explained, true), RowStatus::Disputed);
        assert_eq!(
            standing(&old, &new, &explained, false),
            RowStatus::Decided(vec!["D1"])
        );
        assert_eq!(
            standing(&old, &new, &json!({"oracle": {"a": 2, "b": 1}}), false),
            RowStatus::Differ
        );
    }

    #[test]
    fn a_change_outside_the_reach_of_the_decision_differs() {
        let (old, new) = (json!({"a": 1, "b": 1}), json!({"a": 2, "b": 2}));
        let oracle = json!({"a": 2, "b": 2});
        assert_eq!(
            standing(&old, &new, &json!({"d1": true, "oracle": oracle}), false),
            RowStatus::Differ
        );
        let both = json!({"d1": true, "d2": true, "oracle": oracle});
        assert_eq!(
            standing(&old, &new, &both, false),
            RowStatus::Decided(vec!["D1", "D2"])
        );
    }

    #[test]
    fn a_value_that_the_oracle_does_not_find_differs() {
        let (old, new) = (json!({"a": 1}), json!({"a": 2}));
        for oracle in [json!({"a": 3}), json!({"a": 1}), json!({}), json!(null)] {
            assert_eq!(
                standing(&old, &new, &json!({"d1": true, "oracle": oracle}), false),
                RowStatus::Differ,
                "{oracle}"
            );
        }
        // A member that the decision takes away is confirmed by its absence.
        let gone = json!({"d1": true, "oracle": {}});
        assert_eq!(
            standing(&old, &json!({}), &gone, false),
            RowStatus::Decided(vec!["D1"])
        );
    }

    /// Decisions of `input.of` add their letter to what was recorded; the oracle knows `input.knows` of them.
    const REPLAYED: Kind = Kind {
        name: "test",
        answer: |row| row.member("actual").clone(),
        accepted: recorded,
        overruled: OverrulePolicy::ByReplay {
            decisions: &["A", "B", "C"],
            oracle: |input, on| {
                let known = ["A", "B", "C"].iter().filter(|id| on.holds(id));
                let known = known.filter(|id| input["knows"].as_str().unwrap().contains(**id));
                let letters: String = known.copied().collect();
                json!(format!("{}{letters}", input["before"].as_str().unwrap()))
            },
        },
    };

    fn replayed(expected: &str, actual: &str, knows: &str, before: &str) -> RowStatus {
        let input = json!({"knows": knows, "before": before});
        let row = json!({"id": "x", "expected": expected, "actual": actual, "input": input});
        judge(&REPLAYED, &Row::of(&row)).standing
    }

    #[test]
    fn a_replayed_row_names_the_fewest_decisions_that_lead_from_one_answer_to_the_other() {
        assert_eq!(
            replayed("x", "xAC", "AC", "x"),
            RowStatus::Decided(vec!["A", "C"])
        );
        assert_eq!(replayed("x", "x", "A", "x"), RowStatus::Agree);
        // Ours is not what the decisions make of it.
        assert_eq!(replayed("x", "xA", "AB", "x"), RowStatus::Differ);
        // The oracle does not even find what was recorded.
        assert_eq!(replayed("x", "yA", "A", "y"), RowStatus::Differ);
    }
}
