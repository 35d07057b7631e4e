//! Prints rows that do not agree, counts all of them, and says how far a long run has come.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::judge::{Explanation, RowStatus, Verdict};
use crate::row::Row;

/// Which rows are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Those that differ.
    Differing,
    /// Disputed and decided ones too.
    Everything,
}

/// What the last lines are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Counts for people.
    Counts,
    /// The counts, and after them one JSON object.
    Json,
}

/// Parts of one row that are printed before the rest is only counted.
const SHOWN_PATHS: usize = 8;

/// The counts so far.
#[derive(Debug)]
pub(crate) struct Report {
    kind: &'static str,
    agree: usize,
    disputed: usize,
    decided: usize,
    differ: usize,
    by_decision: BTreeMap<&'static str, usize>,
}

impl Report {
    pub(crate) fn new(kind: &'static str) -> Self {
        Self {
            kind,
            agree: 0,
            disputed: 0,
            decided: 0,
            differ: 0,
            by_decision: BTreeMap::new(),
        }
    }

    pub(crate) fn differing(&self) -> usize {
        self.differ
    }

    /// Counts a row, and prints it when it is one to look at.
    pub(crate) fn add(&mut self, row: &Row, verdict: &Verdict, detail: Detail) {
        let label = match &verdict.standing {
            RowStatus::Agree => {
                self.agree += 1;
                return;
            }
            RowStatus::Disputed => {
                self.disputed += 1;
                format!("disputed {}", row.member("dispute").as_str().unwrap_or_default())
            }
            RowStatus::Decided(ids) => {
                self.decided += 1;
                for id in ids {
                    *self.by_decision.entry(id).or_default() += 1;
                }
                format!("decided {}", ids.join(" "))
            }
            RowStatus::Differ => {
                self.differ += 1;
                "differ".to_owned()
            }
        };
        if verdict.standing == RowStatus::Differ || detail == Detail::Everything {
            println!("{}", described(&label, row, verdict));
        }
    }

    pub(crate) fn print(&self, ending: Ending) {
        println!("{}", self.counts());
        if ending == Ending::Json {
            println!("{}", self.json());
        }
    }

    fn rows(&self) -> usize {
        self.agree + self.disputed + self.decided + self.differ
    }

    fn counts(&self) -> String {
        let mut lines = vec![
            format!("{}: {} rows", self.kind, self.rows()),
            format!("  agree    {:>5}", self.agree),
            format!("  disputed {:>5}", self.disputed),
            format!("  decided  {:>5}", self.decided),
        ];
        // A row that needs two decisions stands under both.
        lines.extend(
            self.by_decision
                .iter()
                .map(|(id, rows)| format!("    {id:<6} {rows:>5}")),
        );
        lines.push(format!("  differ   {:>5}", self.differ));
        lines.join("\n")
    }

    fn json(&self) -> Value {
        json!({
            "kind": self.kind,
            "rows": self.rows(),
            "agree": self.agree,
            "disputed": self.disputed,
            "decided": self.decided,
            "differ": self.differ,
        })
    }
}

/// The row's id and, for each part that changed, what was expected and what came.
fn described(label: &str, row: &Row, verdict: &Verdict) -> String {
    let shown = |value: Option<&Value>| value.map_or_else(|| "(absent)".to_owned(), Value::to_string);
    let mut lines = vec![format!("{label}: {}", row.id)];
    for change in verdict.changed.iter().take(SHOWN_PATHS) {
        let (expected, actual) = (change.path.of(row.expected()), change.path.of(&verdict.actual));
        let note = match &change.by {
            Explanation::Decisions(ids) => format!(" ({})", ids.join(" ")),
            Explanation::Otherwise(value) => format!(" (the decisions make it {})", shown(value.as_ref())),
            Explanation::Unreproduced(value) => {
                format!(" (without any decision it would be {})", shown(value.as_ref()))
            }
            Explanation::Nothing => String::new(),
        };
        lines.push(format!(
            "  {}: expected {}, came {}{note}",
            change.path,
            shown(expected),
            shown(actual)
        ));
    }
    if let Some(more) = verdict
        .changed
        .len()
        .checked_sub(SHOWN_PATHS)
        .filter(|more| *more > 0)
    {
        lines.push(format!("  and {more} more parts"));
    }
    lines.join("\n")
}

/// Says once a second how far a file has come.
pub(crate) struct Progress<'f> {
    file: &'f Path,
    rows: usize,
    done: usize,
    last: Instant,
}

impl<'f> Progress<'f> {
    pub(crate) fn new(file: &'f Path, rows: usize) -> Self {
        Self {
            file,
            rows,
            done: 0,
            last: now(),
        }
    }

    pub(crate) fn step(&mut self) {
        self.done += 1;
        if self.last.elapsed() >= Duration::from_secs(1) {
            eprintln!("{}: {} of {} rows", self.file.display(), self.done, self.rows);
            self.last = now();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long to stay silent is for the reader, nothing depends on it"
)]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difference::differences;
    use crate::judge::Change;

    fn verdict(row: &Row, actual: Value, standing: RowStatus) -> Verdict {
        let changed = differences(row.expected(), &actual);
        let changed = changed
            .into_iter()
            .map(|path| Change {
                path,
                by: Explanation::Nothing,
            })
            .collect();
        Verdict {
            standing,
            actual,
            changed,
        }
    }

    #[test]
    fn every_row_is_in_exactly_one_count() {
        let row = Row::of(&json!({"id": "x", "expected": 1}));
        let mut report = Report::new("test");
        for standing in [
            RowStatus::Agree,
            RowStatus::Agree,
            RowStatus::Disputed,
            RowStatus::Decided(vec!["D1"]),
            RowStatus::Decided(vec!["D1", "D2"]),
            RowStatus::Differ,
        ] {
            report.add(&row, &verdict(&row, json!(2), standing), Detail::Differing);
        }
        assert_eq!(
            report.json(),
            json!({"kind": "test", "rows": 6, "agree": 2, "disputed": 1, "decided": 2, "differ": 1})
        );
        let counts = report.counts();
        assert!(
            counts.contains("    D1         2\n    D2         1\n"),
            "{counts}"
        );
    }

    #[test]
    fn a_row_is_described_by_its_changed_parts_only() {
        let row = Row::of(&json!({"id": "x", "expected": {"a": 1, "b": 2, "c": 3}}));
        let text = described(
            "differ",
            &row,
            &verdict(&row, json!({"a": 1, "b": 5}), RowStatus::Differ),
        );
        assert_eq!(
            text,
            "differ: x\n  $.b: expected 2, came 5\n  $.c: expected 3, came (absent)"
        );
    }

    #[test]
    fn what_the_decisions_say_stands_beside_what_came() {
        let row = Row::of(&json!({"id": "x", "expected": {"a": 1, "b": 2}}));
        let mut verdict = verdict(&row, json!({"a": 5, "b": 6}), RowStatus::Differ);
        verdict.changed[0].by = Explanation::Otherwise(Some(json!(4)));
        verdict.changed[1].by = Explanation::Decisions(vec!["D1", "D2"]);
        let text = described("differ", &row, &verdict);
        assert_eq!(
            text,
            "differ: x\n  $.a: expected 1, came 5 (the decisions make it 4)\n  $.b: expected 2, came 6 (D1 D2)"
        );
    }

    #[test]
    fn a_row_with_many_changes_is_cut_short() {
        let row = Row::of(&json!({"id": "x", "expected": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}));
        let actual = json!([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let text = described("differ", &row, &verdict(&row, actual, RowStatus::Differ));
        assert!(text.ends_with("\n  and 2 more parts"), "{text}");
    }
}
