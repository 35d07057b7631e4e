//! Rewrites the messages of `serde` about a wrong value in words for the author of the file.

/// Names of found values: in the messages of `serde`, and in plain words.
const FOUND: &[(&str, &str)] = &[
    ("string ", "a text"),
    ("a string", "a text"),
    ("boolean ", "true or false"),
    ("sequence", "a list"),
    ("map", "an object"),
    ("null", "null"),
    ("unit", "null"),
    ("Option", "null"),
];

/// Names of expected types: in the messages of `serde`, and in plain words.
const EXPECTED: &[(&str, &str)] = &[
    ("u8", "a whole number, 0 or above"),
    ("u16", "a whole number, 0 or above"),
    ("u32", "a whole number, 0 or above"),
    ("u64", "a whole number, 0 or above"),
    ("usize", "a whole number, 0 or above"),
    ("a nonzero u32", "a whole number above 0"),
    ("a nonzero u64", "a whole number above 0"),
    ("a nonzero usize", "a whole number above 0"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a string", "a text in quotes"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "an object"),
];

/// The longest word that is repeated, in bytes; an API key is longer.
const LONGEST: usize = 16;

/// `text` in plain words. A value from the file is repeated only when it is a short word: it may be a secret under the
/// wrong key.
pub(super) fn plain(text: &str) -> String {
    let between = |start: &str, middle: &str| text.strip_prefix(start)?.split_once(middle);
    let wrong =
        between("invalid type: ", ", expected ").or_else(|| between("invalid value: ", ", expected "));
    if let Some((found, expected)) = wrong {
        return format!("{} stands here; expected {}", noun(found), type_name(expected));
    }
    if let Some((word, expected)) = between("unknown variant `", "`, expected ") {
        return format!("{} is not known here; expected {expected}", quoted(word));
    }
    if let Some((key, known)) = between("unknown field `", "`, expected ") {
        return unknown_key(key, known);
    }
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("{name} is missing; add it");
    }
    text.to_owned()
}

/// `known` is the list of keys in the message of `serde`, each in backticks.
fn unknown_key(key: &str, known: &str) -> String {
    let names = known.split('`').skip(1).step_by(2);
    let nearest = names
        .map(|name| (edits(key, name), name))
        .filter(|(edits, name)| *edits <= name.len() / 2)
        .min();
    nearest.map_or_else(
        || format!("there is no such key here; remove it, or use {known}"),
        |(_, name)| format!("there is no such key here; write `{name}`, or remove it"),
    )
}

/// How many letters are to be added, removed or replaced to make `right` of `wrong`, whatever their case.
pub(crate) fn edits(wrong: &str, right: &str) -> usize {
    let right = right.as_bytes();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in wrong.bytes().enumerate() {
        let mut before = line;
        let mut left = line + 1;
        for (column, other) in right.iter().enumerate() {
            let same = letter.eq_ignore_ascii_case(other);
            let replaced = before + usize::from(!same);
            before = row[column + 1];
            row[column] = left;
            left = replaced.min(before + 1).min(left + 1);
        }
        row[right.len()] = left;
    }
    row[right.len()]
}

fn noun(found: &str) -> String {
    let number = found
        .strip_prefix("integer ")
        .or_else(|| found.strip_prefix("floating point "));
    if let Some(number) = number {
        return format!("the number {}", number.trim_matches('`'));
    }
    let row = FOUND.iter().find(|(name, _)| found.starts_with(name));
    row.map_or_else(|| found.to_owned(), |(_, words)| (*words).to_owned())
}

fn type_name(expected: &str) -> &str {
    if expected.starts_with("struct ") {
        return "an object";
    }
    let row = EXPECTED.iter().find(|(name, _)| expected == *name);
    row.map_or(expected, |(_, words)| words)
}

fn quoted(word: &str) -> String {
    let is_word = word
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_' | b' '));
    if is_word && word.len() <= LONGEST {
        format!("`{word}`")
    } else {
        "this text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_reader_in_plain_words() {
        for (text, expected) in [
            (
                "invalid type: string \"soon\", expected u64",
                "a text stands here; expected a whole number, 0 or above",
            ),
            (
                "invalid value: integer `-1`, expected u64",
                "the number -1 stands here; expected a whole number, 0 or above",
            ),
            (
                "invalid type: floating point `1.5`, expected u64",
                "the number 1.5 stands here; expected a whole number, 0 or above",
            ),
            (
                "invalid value: integer `0`, expected a nonzero usize",
                "the number 0 stands here; expected a whole number above 0",
            ),
            (
                "invalid type: sequence, expected struct Known",
                "a list stands here; expected an object",
            ),
            (
                "invalid type: a list, expected a key",
                "a list stands here; expected a key",
            ),
            (
                "unknown variant `maybe`, expected `a` or `b`",
                "`maybe` is not known here; expected `a` or `b`",
            ),
            (
                "unknown variant `sk-live-0123456789`, expected one of `a`, `b`",
                "this text is not known here; expected one of `a`, `b`",
            ),
            (
                "unknown field `inlineWaitMS`, expected one of `inlineWait`, `inlineWaitMs`, `logins`",
                "there is no such key here; write `inlineWaitMs`, or remove it",
            ),
            (
                "unknown field `bodyPolicy`, expected one of `admin`, `bodyModelPolicy`",
                "there is no such key here; write `bodyModelPolicy`, or remove it",
            ),
            (
                "unknown field `sk-live-0123456789`, expected `a` or `b`",
                "there is no such key here; remove it, or use `a` or `b`",
            ),
            (
                "unknown field `rescues`, expected `rescue`",
                "there is no such key here; write `rescue`, or remove it",
            ),
            ("missing field `mode`", "`mode` is missing; add it"),
            ("provider is empty; give a name", "provider is empty; give a name"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn letters_that_differ_are_counted() {
        for (wrong, right, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("ABC", "abc", 0),
            ("kitten", "sitting", 3),
            ("historyy", "history", 1),
            ("ä", "a", 2),
        ] {
            assert_eq!(edits(wrong, right), expected, "{wrong} {right}");
        }
    }
}
