//! Limits on the size and nesting of a configuration file, so that an absurd file is an error and not a crash.

use std::io::{self, Read};

/// The largest file, in bytes.
pub(super) const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The deepest nesting of objects and lists. The parser calls itself once per level.
pub(super) const MAX_DEPTH: usize = 64;

/// Up to [`MAX_BYTES`] of text; `None` when there is more. Nothing beyond that is read, whatever the file is.
pub(super) fn read_bounded(source: impl Read) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_BYTES {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Some(text))
}

/// Where `text` opens an object or list below [`MAX_DEPTH`] others: line and column from 1.
///
/// Brackets in strings and comments do not count. Whether the text is JSON5 at all is for the parser to say, which
/// stops at the first fault and so never gets deeper than this saw.
pub(super) fn too_deep(text: &str) -> Option<(usize, usize)> {
    let (mut line, mut column, mut depth) = (1, 0, 0_usize);
    let mut inside = Inside::Structure;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        column += 1;
        if character == '\n' {
            (line, column) = (line + 1, 0);
        }
        inside = match (inside, character) {
            (Inside::Structure, '{' | '[') => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Some((line, column));
                }
                Inside::Structure
            }
            (Inside::Structure, '}' | ']') => {
                depth = depth.saturating_sub(1);
                Inside::Structure
            }
            (Inside::Structure, '"' | '\'') => Inside::Text(character),
            (Inside::Structure, '/') => match characters.peek() {
                Some('/') => Inside::Line,
                Some('*') => {
                    // The star that opens a comment does not close it.
                    characters.next();
                    column += 1;
                    Inside::Comment
                }
                _ => Inside::Structure,
            },
            (Inside::Text(quote), '\\') => Inside::Escape(quote),
            (Inside::Text(quote), end) if end == quote => Inside::Structure,
            (Inside::Escape(quote), _) => Inside::Text(quote),
            (Inside::Comment, '*') if characters.peek() == Some(&'/') => {
                characters.next();
                column += 1;
                Inside::Structure
            }
            (Inside::Line, '\n' | '\r' | '\u{2028}' | '\u{2029}') => Inside::Structure,
            (state @ (Inside::Comment | Inside::Line | Inside::Structure | Inside::Text(_)), _) => state,
        };
    }
    None
}

/// What the next character belongs to.
#[derive(Clone, Copy)]
enum Inside {
    Comment,
    /// After a backslash, in a text that this quote ends.
    Escape(char),
    Line,
    Structure,
    /// In a text that this quote ends.
    Text(char),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn the_deepest_level_is_the_last_one_that_is_read() {
        assert_eq!(too_deep(&nested(MAX_DEPTH)), None);
        assert!(json5::from_str::<serde_json::Value>(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(too_deep(&nested(MAX_DEPTH + 1)), Some((1, MAX_DEPTH + 1)));
        let objects = format!("{{\n{}", "a:{".repeat(1_000_000));
        assert_eq!(too_deep(&objects), Some((2, MAX_DEPTH * 3)));
        let flat = "[],{},".repeat(1_000);
        assert_eq!(too_deep(&flat), None);
    }

    #[test]
    fn brackets_in_texts_and_comments_do_not_count() {
        let many = "[".repeat(1_000);
        for text in [
            format!("\"{many}\""),
            format!("'\\'{many}'"),
            format!("'\\\\{}'", "\"".to_owned() + &many),
            format!("// {many}"),
            format!("/*{many}*/"),
            format!("/*/{many}*/"),
        ] {
            assert_eq!(too_deep(&text), None, "{}", &text[..8]);
        }
        for before in ["'\\\\'", "// a\n", "/* a */", "/**/", "'\"'", "/ "] {
            assert!(too_deep(&format!("{before}{many}")).is_some(), "{before:?}");
        }
    }

    #[test]
    fn no_more_than_the_limit_is_read() {
        let read = |bytes: u64| read_bounded(io::repeat(b'a').take(bytes)).unwrap();
        assert_eq!(read(MAX_BYTES as u64).map(|text| text.len()), Some(MAX_BYTES));
        assert_eq!(read(MAX_BYTES as u64 + 1), None);
        assert!(
            read_bounded(io::repeat(b'a')).unwrap().is_none(),
            "an endless file"
        );
        assert!(read_bounded(&[0xff_u8][..]).is_err());
    }

    proptest! {
        #[test]
        fn the_parser_never_gets_deeper(text in "[\\[\\]{}'\"/*\\\\\n,:a1 ]{0,300}") {
            prop_assume!(too_deep(&text).is_none());
            if let Ok(value) = json5::from_str::<serde_json::Value>(&text) {
                prop_assert!(depth(&value) <= MAX_DEPTH);
            }
        }
    }

    fn depth(value: &serde_json::Value) -> usize {
        match value {
            serde_json::Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
            serde_json::Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
            _ => 0,
        }
    }
}
