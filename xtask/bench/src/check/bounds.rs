//! The bounds as lines of a file, and what was counted beside them.

use std::collections::BTreeMap;
use std::fmt;

use super::measured::Counts;
use crate::Failure;

/// How much above a count its bound is set. Allocations do not vary; instructions do a little, by the seeds of hash
/// tables and the addresses that the system hands out.
const ROOM_FOR_INSTRUCTIONS: f64 = 1.03;
/// Below this share of its bound a count is good enough for a lower bound.
const SLACK: f64 = 0.9;

const HEAD: &str = "\
# Most that one operation may allocate and execute: `cargo xtask bench --check`, docs/performance.md.
# case\tallocations\tinstructions
";

/// Bounds by case.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Bounds(BTreeMap<String, Bound>);

/// The most that one operation may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    allocations: f64,
    instructions: f64,
}

impl Bounds {
    /// Reads a file; a line is a case, its allocations and its instructions, between tabs.
    pub(super) fn read(text: &str) -> Result<Self, Failure> {
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let bounds = lines.map(|(number, line)| {
            let words: Vec<&str> = line.split('\t').collect();
            let wrong = || {
                format!(
                    "line {} of the bounds is not `case<tab>allocations<tab>instructions`: {line}",
                    number + 1
                )
            };
            let &[name, allocations, instructions] = words.as_slice() else {
                return Err(wrong());
            };
            let bound = Bound {
                allocations: allocations.parse().map_err(|_| wrong())?,
                instructions: instructions.parse().map_err(|_| wrong())?,
            };
            Ok((name.to_owned(), bound))
        });
        Ok(Self(bounds.collect::<Result<_, _>>()?))
    }

    /// What was counted, with a little room, is the bound from now on.
    pub(super) fn accept(&mut self, name: &str, counts: Counts) {
        let bound = Bound {
            allocations: (counts.allocations * 10.0).ceil() / 10.0,
            instructions: (counts.instructions.unwrap_or(f64::INFINITY) * ROOM_FOR_INSTRUCTIONS).ceil(),
        };
        self.0.insert(name.to_owned(), bound);
    }

    /// Forgets cases that there are no more.
    pub(super) fn keep_only<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names: Vec<&str> = names.collect();
        self.0.retain(|name, _| names.contains(&name.as_str()));
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        for (name, bound) in &self.0 {
            writeln!(f, "{name}\t{}\t{}", bound.allocations, bound.instructions)?;
        }
        Ok(())
    }
}

/// What was counted beside its bounds.
#[derive(Debug)]
pub(super) struct Comparison {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    name: String,
    counts: Counts,
    bound: Option<Bound>,
}

/// How a count stands to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundStatus {
    /// So far below it that the bound should follow.
    Below,
    Within,
    Over,
    /// There is no bound, which is as bad as one that is passed: nothing would keep the case.
    Unbound,
}

impl Line {
    fn standing(&self) -> BoundStatus {
        let Some(bound) = self.bound else {
            return BoundStatus::Unbound;
        };
        let pairs = [
            Some((self.counts.allocations, bound.allocations)),
            self.counts.instructions.map(|count| (count, bound.instructions)),
        ];
        let pairs = || pairs.iter().flatten();
        if pairs().any(|(count, most)| count > most) {
            BoundStatus::Over
        } else if pairs().any(|(count, most)| *count < most * SLACK) {
            BoundStatus::Below
        } else {
            BoundStatus::Within
        }
    }
}

impl Comparison {
    pub(super) fn new(bounds: &Bounds, counted: &[(&str, Counts)]) -> Self {
        let line = |(name, counts): &(&str, Counts)| Line {
            name: (*name).to_owned(),
            counts: *counts,
            bound: bounds.0.get(*name).copied(),
        };
        Self {
            lines: counted.iter().map(line).collect(),
        }
    }

    /// Whether anything is above its bound or has none.
    pub(super) fn is_over(&self) -> bool {
        let bad = |line: &Line| matches!(line.standing(), BoundStatus::Over | BoundStatus::Unbound);
        self.lines.iter().any(bad)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<28} {:>12} {:>10} {:>14} {:>12}",
            "case", "allocations", "at most", "instructions", "at most"
        )?;
        for line in &self.lines {
            let most = |of: fn(Bound) -> f64| {
                line.bound
                    .map_or_else(|| "-".to_owned(), |bound| of(bound).to_string())
            };
            let instructions = line.counts.instructions;
            let standing = match line.standing() {
                BoundStatus::Below => "ok, and the bound can follow",
                BoundStatus::Within => "ok",
                BoundStatus::Over => "OVER",
                BoundStatus::Unbound => "NO BOUND; accept one with --write",
            };
            writeln!(
                f,
                "{:<28} {:>12.1} {:>10} {:>14} {:>12}  {standing}",
                line.name,
                line.counts.allocations,
                most(|bound| bound.allocations),
                instructions.map_or_else(|| "-".to_owned(), |count| format!("{count:.0}")),
                most(|bound| bound.instructions),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(allocations: f64, instructions: impl Into<Option<f64>>) -> Counts {
        Counts {
            allocations,
            instructions: instructions.into(),
        }
    }

    fn standing(bounds: &str, counts: Counts) -> BoundStatus {
        let bounds = Bounds::read(bounds).unwrap();
        Comparison::new(&bounds, &[("a", counts)]).lines[0].standing()
    }

    #[test]
    fn a_count_is_over_only_above_its_bound() {
        let bounds = "a\t10\t1000\n";
        for (counts, expected) in [
            (counts(10.0, 1000.0), BoundStatus::Within),
            (counts(9.0, 900.0), BoundStatus::Within),
            (counts(10.1, 1000.0), BoundStatus::Over),
            (counts(10.0, 1000.5), BoundStatus::Over),
            (counts(2.0, 1001.0), BoundStatus::Over),
            (counts(8.9, 1000.0), BoundStatus::Below),
            (counts(10.0, 899.0), BoundStatus::Below),
            (counts(10.0, None), BoundStatus::Within),
            (counts(10.1, None), BoundStatus::Over),
        ] {
            assert_eq!(standing(bounds, counts), expected, "{counts:?}");
        }
        assert_eq!(standing("b\t1\t1\n", counts(1.0, 1.0)), BoundStatus::Unbound);
        assert_eq!(standing("a\t0\t100\n", counts(0.0, 95.0)), BoundStatus::Within);
    }

    #[test]
    fn what_is_over_or_without_a_bound_is_a_finding() {
        let bounds = Bounds::read("a\t10\t1000\nb\t1\t10\n").unwrap();
        for (counted, over) in [
            (vec![("a", counts(10.0, 1000.0)), ("b", counts(1.0, 10.0))], false),
            (vec![("a", counts(10.0, 1000.0)), ("b", counts(2.0, 10.0))], true),
            (vec![("c", counts(0.0, 1.0))], true),
        ] {
            assert_eq!(Comparison::new(&bounds, &counted).is_over(), over, "{counted:?}");
        }
    }

    #[test]
    fn accepted_bounds_hold_what_was_counted_and_are_read_back() {
        let mut bounds = Bounds::read("old\t1\t1\n").unwrap();
        bounds.accept("a", counts(3.15, 1000.2));
        bounds.keep_only(["a"].into_iter());
        let text = bounds.to_string();
        assert_eq!(text, format!("{HEAD}a\t3.2\t1031\n"));
        assert_eq!(Bounds::read(&text).unwrap(), bounds);
        assert_eq!(standing(&text, counts(3.15, 1000.2)), BoundStatus::Within);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for line in ["a 1 2", "a\t1", "a\tone\t2", "a\t1\t2\t3"] {
            let error = Bounds::read(&format!("# head\n{line}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("line 2 of the bounds"), "{error}");
        }
    }

    #[test]
    fn the_table_shows_each_count_beside_its_bound() {
        let bounds = Bounds::read("a\t10\t1000\n").unwrap();
        let counted = [("a", counts(10.0, None)), ("b", counts(1.5, 12.0))];
        let shown = Comparison::new(&bounds, &counted).to_string();
        let rows: Vec<Vec<&str>> = shown
            .lines()
            .skip(1)
            .map(|line| line.split_whitespace().take(6).collect())
            .collect();
        assert_eq!(rows[0], ["a", "10.0", "10", "-", "1000", "ok"]);
        assert_eq!(rows[1], ["b", "1.5", "-", "12", "-", "NO"]);
    }
}
