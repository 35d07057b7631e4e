//! One line of a corpus file, and reading them so that an error names file and line.

use std::path::Path;

use serde_json::{Map, Value};

/// Why a comparison cannot be made, with the place.
#[derive(Debug)]
pub(crate) struct CannotRead(pub(crate) String);

/// A recorded question and answer.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) id: String,
    /// All members of the line; kinds read what they need.
    members: Map<String, Value>,
}

impl Row {
    /// The member, or null.
    pub(crate) fn member(&self, name: &str) -> &Value {
        self.members.get(name).unwrap_or(&Value::Null)
    }

    /// What to feed.
    pub(crate) fn input(&self) -> &Value {
        self.member("input")
    }

    /// The recorded answer.
    pub(crate) fn expected(&self) -> &Value {
        self.member("expected")
    }

    /// The corpus itself doubts the recorded answer.
    pub(crate) fn is_disputed(&self) -> bool {
        self.member("disputed") == &Value::Bool(true)
    }
}

/// Every row of a file. Lines end at `\n` only: texts hold other line separators.
pub(crate) fn read(file: &Path) -> Result<Vec<Row>, CannotRead> {
    let bytes = std::fs::read(file).map_err(|error| CannotRead(format!("{}: {error}", file.display())))?;
    parse(file, &bytes)
}

fn parse(file: &Path, bytes: &[u8]) -> Result<Vec<Row>, CannotRead> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    lines
        .filter(|(_, text)| !text.trim_ascii().is_empty())
        .map(|(at, text)| parse_row(file, at + 1, text))
        .collect()
}

fn parse_row(file: &Path, line: usize, text: &[u8]) -> Result<Row, CannotRead> {
    let wrong = |what: String| CannotRead(format!("{}:{line}: {what}", file.display()));
    let members: Map<String, Value> =
        serde_json::from_slice(text).map_err(|error| wrong(format!("not a JSON object: {error}")))?;
    let Some(id) = members.get("id").and_then(Value::as_str).map(str::to_owned) else {
        return Err(wrong("the row has no `id`".to_owned()));
    };
    if !members.contains_key("expected") {
        return Err(wrong(format!(
            "row {id} has no `expected`; is this a corpus file?"
        )));
    }
    Ok(Row { id, members })
}

#[cfg(test)]
impl Row {
    /// A row as a test writes it.
    pub(crate) fn of(value: &Value) -> Self {
        let text = serde_json::to_vec(value).unwrap();
        parse_row(Path::new("test"), 1, &text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Vec<Row>, String> {
        parse(Path::new("some.jsonl"), bytes).map_err(|CannotRead(message)| message)
    }

    #[test]
    fn rows_end_at_a_line_feed_and_nowhere_else() {
        let text = "{\"id\":\"a\",\"expected\":\"x\u{2028}y\u{85}z\"}\n{\"id\":\"b\",\"expected\":null,\"disputed\":true}\n\n";
        let rows = read(text.as_bytes()).unwrap();
        assert_eq!(
            rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(),
            ["a", "b"]
        );
        assert_eq!(
            rows.iter().map(Row::is_disputed).collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn an_error_names_file_and_line() {
        let good = "{\"id\":\"a\",\"expected\":1}\n";
        for bad in [
            "{",
            "[]",
            "{\"expected\":1}",
            "{\"id\":\"a\"}",
            "{\"id\":\"a\",\"expected\":1} x",
        ] {
            let message = read(format!("{good}{bad}\n").as_bytes()).unwrap_err();
            assert!(message.starts_with("some.jsonl:2: "), "{bad}: {message}");
        }
        let CannotRead(message) = super::read(Path::new("no-such-file.jsonl")).unwrap_err();
        assert!(message.starts_with("no-such-file.jsonl: "), "{message}");
    }
}
