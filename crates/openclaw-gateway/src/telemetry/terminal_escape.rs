//! Text of others on a person's terminal: what would change how it is shown is written out.

use std::borrow::Cow;
use std::io::{self, Write};

/// `text` with control characters, and those that turn the direction of writing or are not seen, as `\u{…}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// The same for text of several lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && c != '\n')
}

/// The same for text of several lines that holds colours of our own.
pub fn visible_in_colour(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_hidden(c) && !matches!(c, '\n' | '\u{1b}'))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Control characters, and the invisible ones that move other text about.
fn is_hidden(c: char) -> bool {
    c.is_control() || turns(c)
}

fn turns(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Writes JSON lines in which no character turns the direction of writing; JSON itself escapes the control characters.
pub struct JsonLines<W>(pub W);

impl<W: Write> Write for JsonLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        if text.chars().any(turns) {
            let mut shown = String::with_capacity(text.len() + 8);
            for c in text.chars() {
                if turns(c) {
                    let mut units = [0; 2];
                    shown.extend(
                        c.encode_utf16(&mut units)
                            .iter()
                            .map(|unit| format!("\\u{unit:04x}")),
                    );
                } else {
                    shown.push(c);
                }
            }
            self.0.write_all(shown.as_bytes())?;
        } else {
            self.0.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_change_how_text_is_shown_is_written_out() {
        for (text, expected) in [
            ("käse 木", "käse 木"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
            ("a\nb\tc", "a\\u{a}b\\u{9}c"),
            ("\u{feff}\u{2066}x\u{200f}", "\\u{feff}\\u{2066}x\\u{200f}"),
        ] {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(visible_lines("a\nb\r"), "a\nb\\u{d}");
        assert_eq!(
            visible_in_colour("\u{1b}[1ma\u{1b}[0m\u{202e}"),
            "\u{1b}[1ma\u{1b}[0m\\u{202e}"
        );
    }

    #[test]
    fn json_lines_stay_json() {
        let mut written = Vec::new();
        let line = serde_json::json!({"name": "a\u{202e}b\u{e0001}"}).to_string();
        JsonLines(&mut written).write_all(line.as_bytes()).unwrap();
        let text = String::from_utf8(written).unwrap();
        assert_eq!(text, "{\"name\":\"a\\u202eb\\udb40\\udc01\"}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["name"], "a\u{202e}b\u{e0001}");
    }
}
