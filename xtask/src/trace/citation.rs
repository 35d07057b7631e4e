//! Finds the ids that a file names, and who names them.

use std::fmt;

use super::catalogue::AREAS;

/// One place that names a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Citation {
    pub(super) id: String,
    /// From the root of the workspace.
    pub(super) file: String,
    /// The area that stands before the id (`chain G6`); without one the file's crate says which area is meant.
    pub(super) area: Option<&'static str>,
    /// The crate it counts for, without its prefix.
    pub(super) home: String,
    pub(super) kind: Kind,
}

/// Who names the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// What keeps it.
    Code,
    /// What proves it: the test's name.
    Test(String),
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Code => write!(f, "code {}", self.file),
            Kind::Test(name) => write!(f, "test {} {name}", self.file),
        }
    }
}

/// Every rule that the file names, in order.
pub(super) fn citations(file: &str, text: &str) -> Vec<Citation> {
    let home = home(file);
    let cite = |Id { area, id }: Id, kind: Kind| Citation {
        id,
        area,
        file: file.to_owned(),
        home: home.clone(),
        kind,
    };
    if std::path::Path::new(file)
        .extension()
        .is_some_and(|kind| kind == "json5")
    {
        let name = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".json5");
        let lines = text
            .lines()
            .filter(|line| line.trim_start().starts_with("rules:"));
        return lines
            .flat_map(ids_in_text)
            .map(|id| cite(id, Kind::Test(format!("scenario {name}"))))
            .collect();
    }
    let lines: Vec<&str> = text.lines().collect();
    let tests_begin = if is_test_file(file) {
        0
    } else {
        lines
            .iter()
            .position(|line| line.trim() == "mod tests {")
            .unwrap_or(lines.len())
    };
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let kind = |tests| {
            if tests {
                Kind::Test(test_around(&lines, at).unwrap_or_else(|| stem(file)))
            } else {
                Kind::Code
            }
        };
        let mut ids = ids_in_text(line);
        if at >= tests_begin
            && let Some(name) = function_name(line)
        {
            ids.extend(ids_in_name(name).into_iter().map(Id::bare));
        }
        found.extend(ids.into_iter().map(|id| cite(id, kind(at >= tests_begin))));
    }
    found
}

fn home(file: &str) -> String {
    let mut parts = file.split('/');
    match (parts.next(), parts.next()) {
        (Some("crates"), Some(name)) => name.trim_start_matches("openclaw-").to_owned(),
        (Some("fixtures"), _) => "runner".to_owned(),
        _ => "xtask".to_owned(),
    }
}

fn is_test_file(file: &str) -> bool {
    file.contains("/tests/") || file.ends_with("/tests.rs") || file.contains("/fuzz/")
}

fn stem(file: &str) -> String {
    file.rsplit('/')
        .next()
        .unwrap_or(file)
        .trim_end_matches(".rs")
        .to_owned()
}

/// The function that a line belongs to: the next one when only comments and attributes lie between, else the last one.
fn test_around(lines: &[&str], at: usize) -> Option<String> {
    let loose = |line: &&str| {
        let line = line.trim();
        line.is_empty() || line.starts_with("//") || line.starts_with("#[")
    };
    let next = lines[at..].iter().find(|line| !loose(line));
    let before = || lines[..at].iter().rev().find_map(|line| function_name(line));
    let after = || lines[at..].iter().find_map(|line| function_name(line));
    next.and_then(|line| function_name(line))
        .or_else(before)
        .or_else(after)
        .map(str::to_owned)
}

fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let words = ["pub", "pub(crate)", "pub(super)", "async", "const"];
    if !before.split_whitespace().all(|word| words.contains(&word)) {
        return None;
    }
    let name = after
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .next()?;
    (!name.is_empty()).then_some(name)
}

/// An id and the area that stands before it.
#[derive(Debug, PartialEq, Eq)]
struct Id {
    area: Option<&'static str>,
    id: String,
}

impl Id {
    fn bare(id: String) -> Self {
        Self { area: None, id }
    }
}

/// `BL-01`, `R-4.4a`, `D9`, and ranges of them such as `L10-L12`, `D30–33` and `R-9.5a-f`.
fn ids_in_text(text: &str) -> Vec<Id> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = text[at..].chars().next() {
        let is_start = !before.is_ascii_alphanumeric() && before != '_' && before != '-';
        let Some(id) = is_start.then(|| id_at(&text[at..])).flatten() else {
            at += c.len_utf8();
            before = c;
            continue;
        };
        at += id.len();
        let (more, length) = range_after(id, &text[at..]);
        let area = area_before(&text[..at - id.len()]);
        let ids = std::iter::once(id.to_owned()).chain(more);
        found.extend(ids.map(|id| Id { area, id }));
        at += length;
        before = '0';
    }
    found
}

fn area_before(text: &str) -> Option<&'static str> {
    let word = text.strip_suffix(' ')?.rsplit([' ', '(', '"', '`']).next()?;
    AREAS.iter().map(|(area, _)| *area).find(|area| *area == word)
}

/// The id that the text begins with.
fn id_at(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    if letters == 0 || letters > 2 {
        return None;
    }
    let mut end = letters + usize::from(bytes.get(letters) == Some(&b'-'));
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    let first = digits(end);
    if first == 0 || first > 3 {
        return None;
    }
    end += first;
    while bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let letter = bytes.get(end).is_some_and(u8::is_ascii_lowercase);
    end += usize::from(letter);
    let follows = bytes
        .get(end)
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    (!follows).then(|| &text[..end])
}

/// What a range names beyond its first id, and how long its rest is.
fn range_after(first: &str, rest: &str) -> (Vec<String>, usize) {
    let none = (Vec::new(), 0);
    let Some(dash) = ["..", "–", "-"].into_iter().find(|dash| rest.starts_with(dash)) else {
        return none;
    };
    let tail = &rest[dash.len()..];
    let word_end = tail
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '.'))
        .unwrap_or(tail.len());
    let word = tail[..word_end].trim_end_matches(['.', '-']);
    let length = dash.len() + word.len();
    let letter = |text: &str| text.chars().next_back().filter(char::is_ascii_lowercase);
    if let Some(from) = letter(first) {
        let stem = &first[..first.len() - 1];
        let to = match word.strip_prefix(stem).unwrap_or(word) {
            end if end.len() == 1 => letter(end),
            _ => None,
        };
        return match to {
            Some(to) if to > from => (
                (from..=to).skip(1).map(|c| format!("{stem}{c}")).collect(),
                length,
            ),
            _ => none,
        };
    }
    let stem = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let from: Option<u32> = first[stem.len()..].parse().ok();
    let to: Option<u32> = word.strip_prefix(stem).unwrap_or(word).parse().ok();
    match (from, to) {
        (Some(from), Some(to)) if to > from && to - from < 40 => {
            ((from + 1..=to).map(|n| format!("{stem}{n}")).collect(), length)
        }
        _ => none,
    }
}

/// `s_4_1_and_s7_x` names `S-4.1` and `S7`: a dash of the id stands as `_`, and so does a dot.
fn ids_in_name(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let parts: Vec<&str> = name.split('_').collect();
    let mut at = 0;
    while at < parts.len() {
        let part = parts[at];
        let letters = part.bytes().take_while(u8::is_ascii_lowercase).count();
        if letters == 0 || letters > 2 {
            at += 1;
            continue;
        }
        let stem = part[..letters].to_ascii_uppercase();
        let mut id = if letters == part.len() {
            String::new()
        } else {
            part[letters..].to_owned()
        };
        let dashed = id.is_empty();
        let mut next = at + 1;
        while let Some(number) = parts.get(next).filter(|part| is_number(part)) {
            if !id.is_empty() {
                id.push('.');
            }
            id.push_str(number);
            next += 1;
        }
        if !id.is_empty() && id.split('.').all(is_number) {
            found.push(format!("{stem}{}{id}", if dashed { "-" } else { "" }));
        }
        at = next;
    }
    found
}

/// `12` or `12a`.
fn is_number(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &text[digits..];
    (1..=3).contains(&digits)
        && (rest.is_empty() || rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_prose() {
        let rows: &[(&str, &[&str])] = &[
            (
                "keeps the window (D3, R-4.4a) and BL-01.",
                &["D3", "R-4.4a", "BL-01"],
            ),
            (
                "L10-L12 and D30–33",
                &["L10", "L11", "L12", "D30", "D31", "D32", "D33"],
            ),
            ("R-9.5a-c", &["R-9.5a", "R-9.5b", "R-9.5c"]),
            ("S-3.1 to S-3.3.", &["S-3.1", "S-3.3"]),
            ("C-5: the text", &["C-5"]),
            ("GPT-5.5 SHA256 utf-8 ABC1 x-S1 A_B1 S1_x", &[]),
            ("M1-level", &["M1"]),
        ];
        for (text, ids) in rows {
            let found: Vec<_> = ids_in_text(text).into_iter().map(|id| id.id).collect();
            assert_eq!(found, *ids, "{text}");
        }
    }

    #[test]
    fn an_area_before_an_id_says_whose_it_is() {
        let found: Vec<_> = ids_in_text("(chain G6, G6), keep L1")
            .into_iter()
            .map(|id| id.area)
            .collect();
        assert_eq!(found, [Some("chain"), None, None]);
    }

    #[test]
    fn ids_are_found_in_names() {
        let rows: &[(&str, &[&str])] = &[
            ("s_4_1_and_s_4_3_a_second_rollback", &["S-4.1", "S-4.3"]),
            ("s_6_3a_and_s3_a_changed_primary", &["S-6.3a", "S3"]),
            ("bl_81_a_success", &["BL-81"]),
            ("d9_a_new_key", &["D9"]),
            ("c_1_3_the_document", &["C-1.3"]),
            ("a_run_ends_at_its_end", &[]),
        ];
        for (name, ids) in rows {
            assert_eq!(ids_in_name(name), *ids, "{name}");
        }
    }

    #[test]
    fn code_and_tests_are_told_apart() {
        let text = "//! Windows (D1).\nfn open() {}\nmod tests {\n    // D2\n    #[test]\n    fn waits() {\n        // D3\n    }\n}\n";
        let found: Vec<_> = citations("crates/openclaw-cooldown/src/a.rs", text)
            .into_iter()
            .map(|c| (c.id, c.kind))
            .collect();
        let test = || Kind::Test("waits".to_owned());
        assert_eq!(
            found,
            [
                ("D1".into(), Kind::Code),
                ("D2".into(), test()),
                ("D3".into(), test())
            ]
        );
    }

    #[test]
    fn a_scenario_counts_for_the_runner() {
        let text = "{\n  about: \"D9 in prose\",\n  rules: [\"M1\"],\n}";
        let found = citations("fixtures/scenarios/all-unpaid.json5", text);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].id.as_str(), found[0].home.as_str()), ("M1", "runner"));
    }
}
