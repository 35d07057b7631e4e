//! The rules, as rows of tab-separated text.

use std::collections::BTreeMap;

use super::citation::{Citation, Kind};
use crate::cli::CannotRun;

const RULES: &str = include_str!("../../rules/rules.tsv");
const BEYOND: &str = include_str!("../../rules/beyond.tsv");
const EXCEPTIONS: &str = include_str!("../../rules/exceptions.tsv");

/// The area of what users of such software met.
const BEYOND_AREA: &str = "beyond";

/// The areas in reading order, and what heads their tables; before an id its area says whose id it is.
pub(super) const AREAS: &[(&str, &str)] = &[
    (BEYOND_AREA, "What users of such software met"),
    ("decisions", "Decisions"),
    ("classify", "Classification"),
    ("cooldown", "Cooldown"),
    ("auth-store", "Auth store"),
    ("chain", "Chain"),
    ("session", "Session"),
    ("runner", "Runner"),
];

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) area: String,
    pub(super) id: String,
    pub(super) about: String,
    /// The crates whose tests count; empty for any.
    homes: Vec<String>,
}

impl Rule {
    /// Whether the citation speaks of this rule, and not of another area's of the same id.
    pub(super) fn is_cited_by(&self, citation: &Citation) -> bool {
        let ours = match citation.area {
            Some(area) => area == self.area,
            None => self.homes.is_empty() || self.homes.contains(&citation.home),
        };
        ours && citation.id == self.id
    }

    fn has_test(&self, citations: &[Citation]) -> bool {
        citations
            .iter()
            .any(|citation| matches!(citation.kind, Kind::Test(_)) && self.is_cited_by(citation))
    }
}

/// All rules, and the ones that need no test.
pub(super) struct Catalogue {
    rules: Vec<Rule>,
    /// Why, by area and id.
    exceptions: BTreeMap<(String, String), String>,
}

impl Catalogue {
    /// The rows of this workspace.
    pub(super) fn builtin() -> Result<Self, CannotRun> {
        Self::parse(RULES, BEYOND, EXCEPTIONS)
    }

    pub(super) fn parse(rules: &str, beyond: &str, exceptions: &str) -> Result<Self, CannotRun> {
        let mut all = Vec::new();
        for [area, homes, about, ids] in rows("rules.tsv", rules)? {
            for word in ids.split_whitespace() {
                for id in expand(word)? {
                    all.push(Rule {
                        area: area.to_owned(),
                        id,
                        about: about.to_owned(),
                        homes: homes.split_whitespace().map(str::to_owned).collect(),
                    });
                }
            }
        }
        for [id, about] in rows("beyond.tsv", beyond)? {
            all.push(Rule {
                area: BEYOND_AREA.to_owned(),
                id: id.to_owned(),
                about: about.to_owned(),
                homes: Vec::new(),
            });
        }
        let mut why = BTreeMap::new();
        for [area, id, reason] in rows("exceptions.tsv", exceptions)? {
            if !all.iter().any(|rule| rule.area == area && rule.id == id) {
                return Err(CannotRun(format!(
                    "exceptions.tsv names `{area} {id}`, which is no rule"
                )));
            }
            why.insert((area.to_owned(), id.to_owned()), reason.to_owned());
        }
        Ok(Self {
            rules: all,
            exceptions: why,
        })
    }

    pub(super) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    pub(super) fn exceptions(&self) -> usize {
        self.exceptions.len()
    }

    /// Why the rule has no test.
    pub(super) fn exception(&self, rule: &Rule) -> Option<&str> {
        let key = (rule.area.clone(), rule.id.clone());
        self.exceptions.get(&key).map(String::as_str)
    }

    /// The rules that no test names and no exception explains.
    pub(super) fn missing(&self, citations: &[Citation]) -> Vec<&Rule> {
        self.rules
            .iter()
            .filter(|rule| self.exception(rule).is_none() && !rule.has_test(citations))
            .collect()
    }

    /// The exceptions that are none any more.
    pub(super) fn idle_exceptions(&self, citations: &[Citation]) -> Vec<String> {
        self.rules
            .iter()
            .filter(|rule| self.exception(rule).is_some() && rule.has_test(citations))
            .map(|rule| format!("{} {}", rule.area, rule.id))
            .collect()
    }
}

/// The rows of a table whose first line says what the columns are.
fn rows<'a, const N: usize>(name: &str, text: &'a str) -> Result<Vec<[&'a str; N]>, CannotRun> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split('\t').collect();
            <[&str; N]>::try_from(cells)
                .map_err(|_| CannotRun(format!("{name}:{}: a row has {N} cells between tabs", number + 1)))
        })
        .collect()
}

/// `L1..L3` as `L1`, `L2`, `L3`; `R-4.4a..R-4.4c` likewise; any other word as itself.
fn expand(word: &str) -> Result<Vec<String>, CannotRun> {
    let Some((first, last)) = word.split_once("..") else {
        return Ok(vec![word.to_owned()]);
    };
    let no_range = || {
        CannotRun(format!(
            "`{word}` is no range: its ends differ in more than the last number or letter"
        ))
    };
    let (stem, from) = split_last(first).ok_or_else(no_range)?;
    let (end_stem, to) = split_last(last).ok_or_else(no_range)?;
    if stem != end_stem {
        return Err(no_range());
    }
    match (from, to) {
        (Last::Number(from), Last::Number(to)) => Ok((from..=to).map(|n| format!("{stem}{n}")).collect()),
        (Last::Letter(from), Last::Letter(to)) => Ok((from..=to).map(|c| format!("{stem}{c}")).collect()),
        (Last::Letter(_), Last::Number(_)) | (Last::Number(_), Last::Letter(_)) => Err(no_range()),
    }
}

enum Last {
    Number(u32),
    Letter(char),
}

fn split_last(id: &str) -> Option<(&str, Last)> {
    let last = id.chars().next_back()?;
    if last.is_ascii_lowercase() {
        return Some((&id[..id.len() - 1], Last::Letter(last)));
    }
    let stem = id.trim_end_matches(|c: char| c.is_ascii_digit());
    Some((stem, Last::Number(id[stem.len()..].parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_spelled_out() {
        assert_eq!(expand("L9..L11").unwrap(), ["L9", "L10", "L11"]);
        assert_eq!(expand("R-4.4a..R-4.4c").unwrap(), ["R-4.4a", "R-4.4b", "R-4.4c"]);
        assert_eq!(expand("C-3").unwrap(), ["C-3"]);
        assert!(expand("L1..M2").is_err());
        assert!(expand("L1..L1a").is_err());
    }

    #[test]
    fn a_row_with_other_cells_is_named_by_its_line() {
        let error = Catalogue::parse("# head\nchain\tchain\tV1\n", "", "")
            .err()
            .unwrap();
        assert!(error.to_string().starts_with("rules.tsv:2:"), "{error}");
    }

    #[test]
    fn an_exception_is_a_rule() {
        assert!(Catalogue::parse("", "BL-01\ttext\n", "beyond\tBL-02\twhy\n").is_err());
        assert!(Catalogue::parse("", "BL-01\ttext\n", "beyond\tBL-01\twhy\n").is_ok());
    }

    #[test]
    fn the_rows_of_this_workspace_can_be_read() {
        assert!(Catalogue::builtin().unwrap().rules().len() > 500);
    }
}
