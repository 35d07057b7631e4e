//! A lenient parser for objects in error texts (classify.md C-2.1): JSON, Python and JavaScript literals, truncated or
//! followed by other text, with a bounded depth.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Number;

/// Deeper nesting ends parsing; what was parsed before counts.
const MAX_DEPTH: usize = 32;
/// So do more members or items than this.
const MAX_ITEMS: usize = 1024;
/// A longer key is prose after a brace, not a key. The bound also keeps the time linear for texts full of braces.
const MAX_KEY: usize = 128;

/// The members that room is made for at first; most objects have no more.
const USUAL_MEMBERS: usize = 6;
/// Objects with fewer members are searched for a name linearly.
const MAX_LINEAR: usize = 16;

/// A parsed value. Texts without escapes and all names are borrowed from the parsed text.
#[derive(Debug, PartialEq)]
pub(crate) enum Json<'t> {
    Null,
    Bool,
    Number(Number),
    Text(Cow<'t, str>),
    List(Vec<Json<'t>>),
    /// In the order of the text, with the first of members with the same name.
    Object(Members<'t>),
}

/// The members of an object.
pub(crate) type Members<'t> = Vec<(&'t str, Json<'t>)>;

impl<'t> Json<'t> {
    /// A member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Json<'t>> {
        let Self::Object(members) = self else {
            return None;
        };
        members
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }
}

/// A value at the beginning of a text, and its length in bytes.
pub(crate) struct JsonPrefix<'t> {
    pub(crate) value: Json<'t>,
    pub(crate) length: usize,
}

/// Parses the object, array or quoted string that `text` starts with; `None` when it starts with none of them.
///
/// A truncated value is closed where the text ends, so that the facts of truncated bodies are found.
pub(crate) fn parse(text: &str) -> Option<JsonPrefix<'_>> {
    let mut parser = Parser {
        text,
        at: 0,
        ended: false,
    };
    let value = match text.as_bytes().first()? {
        b'{' => parser
            .object(0)
            .filter(|members| !members.is_empty())
            .map(Json::Object),
        b'[' => Some(Json::List(parser.list(0))),
        b'"' => Some(Json::Text(parser.quoted(b'"'))),
        _ => None,
    }?;
    Some(JsonPrefix {
        value,
        length: parser.at,
    })
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// Parsing ended early: every open object and list closes here.
    ended: bool,
}

impl<'t> Parser<'t> {
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

    /// `None` when no key follows the brace of the outermost object.
    fn object(&mut self, depth: usize) -> Option<Members<'t>> {
        self.at += 1;
        let mut members = Members::with_capacity(USUAL_MEMBERS);
        let mut names = HashSet::new();
        let mut count = 0;
        while !self.ended && !self.take(b'}') {
            let Some(key) = self.key() else {
                self.ended = true;
                return (!members.is_empty() || depth > 0).then_some(members);
            };
            let value = self.value(depth + 1);
            if is_new(&members, &mut names, key) {
                members.push((key, value));
            }
            count += 1;
            if count == MAX_ITEMS || !self.take(b',') && self.peek() != Some(b'}') {
                self.ended = true;
            }
        }
        Some(members)
    }

    fn list(&mut self, depth: usize) -> Vec<Json<'t>> {
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

    fn key(&mut self) -> Option<&'t str> {
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
        (!key.is_empty() && self.take(b':')).then_some(key)
    }

    fn key_end(&self, from: usize, is_end: impl Fn(u8) -> bool) -> Option<usize> {
        let rest = self.text.as_bytes().get(from..)?;
        rest.iter()
            .take(MAX_KEY)
            .position(|byte| is_end(*byte))
            .map(|length| from + length)
    }

    fn value(&mut self, depth: usize) -> Json<'t> {
        self.skip_blanks();
        if depth > MAX_DEPTH {
            self.ended = true;
            self.at = self.text.len();
            return Json::Null;
        }
        match self.peek() {
            None => {
                self.ended = true;
                Json::Null
            }
            Some(b'{') => Json::Object(self.object(depth).unwrap_or_default()),
            Some(b'[') => Json::List(self.list(depth)),
            Some(quote @ (b'"' | b'\'')) => Json::Text(self.quoted(quote)),
            Some(_) => self.literal(),
        }
    }

    /// A number, a word such as `null` or `None`, or the text up to the next delimiter.
    fn literal(&mut self) -> Json<'t> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '}', ']', '\n']).unwrap_or(rest.len());
        let word = rest[..end].trim();
        self.at += end;
        match word {
            "" | "null" | "None" | "undefined" | "nil" | "NaN" => Json::Null,
            "true" | "True" | "false" | "False" => Json::Bool,
            _ => number(word).map_or(Json::Text(Cow::Borrowed(word)), Json::Number),
        }
    }

    fn quoted(&mut self, quote: u8) -> Cow<'t, str> {
        self.at += 1;
        let text = self.text;
        let mut out = String::new();
        let mut plain = self.at;
        let ended = |out: String, rest: &'t str| {
            if out.is_empty() {
                return Cow::Borrowed(rest);
            }
            Cow::Owned(out + rest)
        };
        while let Some(length) = memchr::memchr2(quote, b'\\', &self.text.as_bytes()[self.at..]) {
            self.at += length;
            match self.text.as_bytes()[self.at] {
                b'\\' => {
                    out.push_str(&self.text[plain..self.at]);
                    self.escape(&mut out);
                    plain = self.at;
                }
                _ if self.closes(quote) => {
                    let rest = &text[plain..self.at];
                    self.at += 1;
                    return ended(out, rest);
                }
                _ => self.at += 1,
            }
        }
        self.at = text.len();
        self.ended = true;
        ended(out, &text[plain..])
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
            'n' | 'r' => out.push('\n'),
            't' => out.push('\t'),
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

/// Whether the object has no member of this name yet; `names` is filled once there are many.
fn is_new<'t>(members: &Members<'t>, names: &mut HashSet<&'t str>, name: &'t str) -> bool {
    if members.len() < MAX_LINEAR {
        return !members.iter().any(|(other, _)| *other == name);
    }
    if names.is_empty() {
        names.extend(members.iter().map(|(name, _)| *name));
    }
    names.insert(name)
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
    use serde_json::{Value, json};

    fn node(value: &Value) -> Json<'_> {
        match value {
            Value::Null => Json::Null,
            Value::Bool(_) => Json::Bool,
            Value::Number(number) => Json::Number(number.clone()),
            Value::String(text) => Json::Text(text.into()),
            Value::Array(items) => Json::List(items.iter().map(node).collect()),
            Value::Object(members) => {
                let members = members.iter().map(|(name, value)| (name.as_str(), node(value)));
                Json::Object(members.collect())
            }
        }
    }

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
            let parsed = parse(text).unwrap();
            assert_eq!(parsed.value, node(&expected), "{text}");
            assert_eq!(parsed.length, length, "{text}");
        }
    }

    #[test]
    fn of_members_with_one_name_the_first_counts_in_small_and_in_large_objects() {
        for others in [0, MAX_LINEAR - 1, MAX_LINEAR, 3 * MAX_LINEAR] {
            let others: Vec<String> = (0..others).map(|at| format!(r#""m{at}":{at},"#)).collect();
            let others = others.concat();
            let text = format!(r#"{{"a":1,{others}"a":2,"z":3,"z":4}}"#);
            let parsed = parse(&text).unwrap();
            assert_eq!(
                parsed.value,
                node(&serde_json::from_str(&text.replace(r#""a":2,"#, "").replace(r#","z":4"#, "")).unwrap()),
                "{text}"
            );
        }
    }

    #[test]
    fn braces_in_prose_are_no_object() {
        for text in ["{ } , x", "{not a key}", "{{{{", "{'", "{"] {
            assert!(parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn c_1_4_nesting_is_bounded() {
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            let deep = open.repeat(10_000);
            assert_eq!(parse(&deep).unwrap().length, deep.len());
        }
    }
}
