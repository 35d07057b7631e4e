//! A tolerant reader for objects as they appear in error texts (classify.md C-2.1): JSON, Python and JavaScript
//! literals, truncated or followed by other text, with a bounded depth.

use serde_json::{Map, Number, Value};

/// Deeper nesting ends the reading; what was read up to there counts.
const MAX_DEPTH: usize = 32;
/// More members or items than this end the reading too.
const MAX_ITEMS: usize = 1024;
/// A key longer than this is prose after a brace, not a key. It also keeps a text full of braces linear.
const MAX_KEY: usize = 128;

/// A value and how many bytes of the text it took.
pub(crate) struct Read {
    pub(crate) value: Value,
    pub(crate) length: usize,
}

/// Reads the object, array or quoted string that `text` starts with; `None` when it starts with none of them.
///
/// A value that ends early is closed where the text ends, so that truncated bodies still tell what they know.
pub(crate) fn read(text: &str) -> Option<Read> {
    let mut reader = Reader {
        text,
        at: 0,
        ended: false,
    };
    let value = match text.as_bytes().first()? {
        b'{' => reader.object(0).filter(|map| !map.is_empty()).map(Value::Object),
        b'[' => Some(Value::Array(reader.array(0))),
        b'"' => Some(Value::String(reader.quoted(b'"'))),
        _ => None,
    }?;
    Some(Read {
        value,
        length: reader.at,
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Something unreadable was met: every open container closes here.
    ended: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// `None` when what follows the brace is no key, which only matters for the outermost object.
    fn object(&mut self, depth: usize) -> Option<Map<String, Value>> {
        self.at += 1;
        let mut map = Map::new();
        let mut members = 0;
        while !self.ended && !self.take(b'}') {
            let Some(key) = self.key() else {
                self.ended = true;
                return (!map.is_empty() || depth > 0).then_some(map);
            };
            let value = self.value(depth + 1);
            map.entry(key).or_insert(value);
            members += 1;
            if members == MAX_ITEMS || !self.take(b',') && self.peek() != Some(b'}') {
                self.ended = true;
            }
        }
        Some(map)
    }

    fn array(&mut self, depth: usize) -> Vec<Value> {
        self.at += 1;
        let mut items = Vec::new();
        while !self.ended && !self.take(b']') {
            if self.peek().is_none() {
                self.ended = true;
                break;
            }
            items.push(self.value(depth + 1));
            if items.len() == MAX_ITEMS || !self.take(b',') && self.peek() != Some(b']') {
                self.ended = true;
            }
        }
        items
    }

    fn key(&mut self) -> Option<String> {
        self.skip_blanks();
        let start = self.at;
        let key = if let quote @ (b'"' | b'\'') = self.peek()? {
            let end = self.key_end(start + 1, |byte| byte == quote)?;
            self.at = end + 1;
            &self.text[start + 1..end]
        } else {
            self.at = self.key_end(start, |byte| !is_word(byte))?;
            &self.text[start..self.at]
        };
        let key = key.to_owned();
        (!key.is_empty() && self.take(b':')).then_some(key)
    }

    fn key_end(&self, from: usize, is_end: impl Fn(u8) -> bool) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..)?;
        rest.iter()
            .take(MAX_KEY)
            .position(|byte| is_end(*byte))
            .map(|length| from + length)
    }

    fn value(&mut self, depth: usize) -> Value {
        self.skip_blanks();
        if depth > MAX_DEPTH {
            self.ended = true;
            self.at = self.text.len();
            return Value::Null;
        }
        match self.peek() {
            None => {
                self.ended = true;
                Value::Null
            }
            Some(b'{') => Value::Object(self.object(depth).unwrap_or_default()),
            Some(b'[') => Value::Array(self.array(depth)),
            Some(quote @ (b'"' | b'\'')) => Value::String(self.quoted(quote)),
            Some(_) => self.bare(),
        }
    }

    /// A number, a word such as `null` or `None`, or whatever stands there up to the next delimiter.
    fn bare(&mut self) -> Value {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', '\n']).unwrap_or(rest.len());
        let word = rest[..end].trim();
        self.at += end;
        match word {
            "" | "null" | "None" | "undefined" | "nil" | "NaN" => Value::Null,
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            _ => number(word).map_or_else(|| Value::String(word.to_owned()), Value::Number),
        }
    }

    fn quoted(&mut self, quote: u8) -> String {
        self.at += 1;
        let mut out = String::new();
        let mut plain = self.at;
        while let Some(length) = memchr::memchr2(quote, b'\\', &self.text.as_bytes()[self.at..]) {
            self.at += length;
            match self.text.as_bytes()[self.at] {
                b'\\' => {
                    out.push_str(&self.text[plain..self.at]);
                    self.escape(&mut out);
                    plain = self.at;
                }
                _ if self.closes(quote) => {
                    out.push_str(&self.text[plain..self.at]);
                    self.at += 1;
                    return out;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        out.push_str(&self.text[plain..]);
        self.ended = true;
        out
    }

    /// A single quote inside a single-quoted text is an apostrophe unless a delimiter follows it.
    fn closes(&self, quote: u8) -> bool {
        quote == b'"'
            || self.text.as_bytes()[self.at + 1..]
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
                .is_none_or(|byte| matches!(byte, b',' | b'}' | b']' | b':' | b')'))
    }

    fn escape(&mut self, out: &mut String) {
        let Some(next) = self.text[self.at + 1..].chars().next() else {
            self.at += 1;
            return;
        };
        self.at += 1 + next.len_utf8();
        match next {
            'n' | 'r' | 't' => out.push(if next == 't' { '\t' } else { '\n' }),
            'b' | 'f' => {}
            'u' => {
                let unit = self.hex();
                let low = unit
                    .filter(|unit| (0xD800..0xDC00).contains(unit))
                    .and_then(|_| self.text[self.at..].starts_with("\\u").then_some(()))
                    .and_then(|()| {
                        self.at += 2;
                        self.hex()
                    });
                let units = [unit.unwrap_or(0xFFFD), low.unwrap_or(0)];
                let used = &units[..=usize::from(low.is_some())];
                out.extend(char::decode_utf16(used.iter().copied()).map(|c| c.unwrap_or('\u{FFFD}')));
            }
            other => out.push(other),
        }
    }

    fn hex(&mut self) -> Option<u16> {
        let digits = self.text.get(self.at..self.at + 4)?;
        let unit = u16::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(unit)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@' | b'-' | b'.')
}

fn number(word: &str) -> Option<Number> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    word.parse::<i64>()
        .map(Number::from)
        .ok()
        .or_else(|| word.parse::<f64>().ok().and_then(Number::from_f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn c_2_1_reads_what_providers_and_their_clients_print() {
        for (text, expected, length) in [
            (r#"{"a":{"b":[1,2]}} tail"#, json!({"a":{"b":[1,2]}}), 17),
            (
                "{'a': None, 'b': \"it's\", 'c': 'it's'}",
                json!({"a":null,"b":"it's","c":"it's"}),
                37,
            ),
            ("{ code: 'bad', ok: True }", json!({"code":"bad","ok":true}), 25),
            (
                r#"{"error":{"message":"cut of"#,
                json!({"error":{"message":"cut of"}}),
                27,
            ),
            (r#"{"a":"\u00e9\ud83d\ude00\"\n"}"#, json!({"a":"é😀\"\n"}), 30),
            (r#""{\"a\":1}""#, json!("{\"a\":1}"), 11),
        ] {
            let read = read(text).unwrap();
            assert_eq!(read.value, expected, "{text}");
            assert_eq!(read.length, length, "{text}");
        }
    }

    #[test]
    fn braces_in_prose_are_no_object() {
        for text in ["{ } , x", "{not a key}", "{{{{", "{'", "{"] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn c_1_4_nesting_is_bounded() {
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            let deep = open.repeat(10_000);
            assert_eq!(read(&deep).unwrap().length, deep.len());
        }
    }
}
