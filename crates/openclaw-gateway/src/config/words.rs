//! What a reader of types says about a wrong value, in words for the person who wrote the file.

/// How values are called in the reader's messages, and by people.
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

/// How types are called in the reader's messages, and by people.
const EXPECTED: &[(&str, &str)] = &[
    ("u8", "a whole number, 0 or above"),
    ("u16", "a whole number, 0 or above"),
    ("u32", "a whole number, 0 or above"),
    ("u64", "a whole number, 0 or above"),
    ("usize", "a whole number, 0 or above"),
    ("a nonzero u64", "a whole number above 0"),
    ("a nonzero usize", "a whole number above 0"),
    ("i64", "a whole number"),
    ("f64", "a number"),
    ("a string", "a text in quotes"),
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a map", "an object"),
];

/// The longest word that is repeated; a key is longer.
const LONGEST: usize = 16;

/// `text` in plain words. A text that somebody wrote is repeated only when it is a short word: it may be a secret in
/// the wrong place.
pub(super) fn plain(text: &str) -> String {
    let wrong = text
        .strip_prefix("invalid type: ")
        .or_else(|| text.strip_prefix("invalid value: "));
    if let Some((found, expected)) = wrong.and_then(|rest| rest.split_once(", expected ")) {
        return format!("{} stands here; expected {}", noun(found), type_name(expected));
    }
    if let Some((word, expected)) = text
        .strip_prefix("unknown variant `")
        .and_then(|rest| rest.split_once("`, expected "))
    {
        return format!("{} is not known here; expected {expected}", quoted(word));
    }
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("{name} is missing; add it");
    }
    text.to_owned()
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
            ("missing field `mode`", "`mode` is missing; add it"),
            ("provider is empty; give a name", "provider is empty; give a name"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
