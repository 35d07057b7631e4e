//! JSON of which only some members are read: those that tell content, ends and errors apart. The rest is skipped without a
//! copy, so that reading an answer costs little more than finding its end.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::surrogates::replace_lone_surrogates;

macro_rules! retained_names {
    ($($name:literal)*) => {
        /// `name`, if members of that name are read.
        fn retained(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some($name),)*
                _ => None,
            }
        }
    };
}

retained_names! {
    "arguments" "audio" "choices" "content" "content_block" "data"
    "delta" "embedding" "error" "finish_reason" "function" "function_call"
    "images" "index" "input_tokens" "item" "message" "output"
    "partial_image_b64" "partial_json" "reasoning" "reasoning_content" "reasoning_details" "refusal"
    "response" "status" "stop_reason" "summary" "text" "thinking"
    "tool_calls" "transcript" "type"
}

/// The member that holds an error. Only whether there is one is retained: some servers send it with nothing in it.
const ERROR: &str = "error";

/// A value, which borrows its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartialJson<'a> {
    Null,
    Bool(bool),
    /// A number, if it is a whole one from 0 on.
    Number(Option<u64>),
    Text(Cow<'a, str>),
    List(Vec<PartialJson<'a>>),
    Object {
        /// The members of [`retained`] names.
        members: Vec<(&'static str, PartialJson<'a>)>,
        /// Whether it has any member at all.
        filled: bool,
    },
}

impl<'a> PartialJson<'a> {
    /// Reads a whole text; `None` when it is no JSON.
    pub(crate) fn read(json: &'a [u8]) -> Option<Self> {
        // UTF-8 is checked once for all, which is faster than text by text.
        let text = std::str::from_utf8(json).ok()?;
        let read = serde_json::from_str(text).ok();
        read.or_else(|| {
            let whole = replace_lone_surrogates(text)?;
            let partial: PartialJson<'_> = serde_json::from_str(&whole).ok()?;
            Some(partial.owned())
        })
    }

    /// The same with texts of its own.
    fn owned<'b>(self) -> PartialJson<'b> {
        match self {
            Self::Null => PartialJson::Null,
            Self::Bool(is) => PartialJson::Bool(is),
            Self::Number(number) => PartialJson::Number(number),
            Self::Text(text) => PartialJson::Text(Cow::Owned(text.into_owned())),
            Self::List(items) => PartialJson::List(items.into_iter().map(PartialJson::owned).collect()),
            Self::Object { members, filled } => PartialJson::Object {
                members: members
                    .into_iter()
                    .map(|(name, value)| (name, value.owned()))
                    .collect(),
                filled,
            },
        }
    }

    /// The member of a [`retained`] name; the last one where there are several.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object { members, .. } => {
                let found = members.iter().rev().find(|(own, _)| *own == name);
                found.map(|(_, value)| value)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::List(_) => None,
        }
    }

    /// The text, where it is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::List(_) | Self::Object { .. } => None,
        }
    }

    /// The items, where it is a list.
    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Object { .. } => None,
        }
    }

    /// The number, where it is a whole one from 0 on.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => *number,
            Self::Null | Self::Bool(_) | Self::Text(_) | Self::List(_) | Self::Object { .. } => None,
        }
    }

    /// Whether it is a text, a list or an object with something in it.
    pub(crate) fn is_filled(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Object { filled, .. } => *filled,
            Self::Null | Self::Bool(_) | Self::Number(_) => false,
        }
    }
}

impl<'de> Deserialize<'de> for PartialJson<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartialJsonVisitor)
    }
}

struct PartialJsonVisitor;

impl<'de> Visitor<'de> for PartialJsonVisitor {
    type Value = PartialJson<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Bool(is))
    }

    fn visit_u64<E>(self, number: u64) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Number(Some(number)))
    }

    fn visit_i64<E>(self, _: i64) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Number(None))
    }

    fn visit_f64<E>(self, _: f64) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Number(None))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<PartialJson<'de>, E> {
        Ok(PartialJson::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<PartialJson<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            // A vector of an embedding has thousands of numbers; whether there is one is all that is asked.
            if matches!(item, PartialJson::Number(_)) {
                list.push(item);
                while items.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            list.push(item);
        }
        Ok(PartialJson::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<PartialJson<'de>, A::Error> {
        let (mut retained, mut filled) = (Vec::new(), false);
        while let Some(name) = members.next_key_seed(RetainedName)? {
            filled = true;
            match name {
                Some(ERROR) => retained.push((ERROR, members.next_value::<ErrorMember>()?.partial())),
                Some(name) => retained.push((name, members.next_value()?)),
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(PartialJson::Object {
            members: retained,
            filled,
        })
    }
}

/// Reads a name as one of the [`retained`], without a copy.
struct RetainedName;

impl<'de> DeserializeSeed<'de> for RetainedName {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for RetainedName {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(retained(name))
    }
}

/// Whether an `error` member holds an error, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorMember {
    /// Null or false: there is no error.
    Absent,
    /// Zeros, blanks, empty lists and objects.
    Empty,
    /// Something is wrong.
    Filled,
}

impl ErrorMember {
    fn partial<'a>(self) -> PartialJson<'a> {
        match self {
            Self::Absent => PartialJson::Null,
            Self::Empty => PartialJson::Bool(false),
            Self::Filled => PartialJson::Bool(true),
        }
    }

    fn filled_if(is_filled: bool) -> Self {
        if is_filled { Self::Filled } else { Self::Empty }
    }
}

impl<'de> Deserialize<'de> for ErrorMember {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ErrorMemberVisitor)
    }
}

struct ErrorMemberVisitor;

impl<'de> Visitor<'de> for ErrorMemberVisitor {
    type Value = ErrorMember;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<ErrorMember, E> {
        Ok(ErrorMember::Absent)
    }

    fn visit_bool<E>(self, is: bool) -> Result<ErrorMember, E> {
        Ok(if is {
            ErrorMember::Filled
        } else {
            ErrorMember::Absent
        })
    }

    fn visit_u64<E>(self, number: u64) -> Result<ErrorMember, E> {
        Ok(ErrorMember::filled_if(number != 0))
    }

    fn visit_i64<E>(self, _: i64) -> Result<ErrorMember, E> {
        Ok(ErrorMember::Filled)
    }

    fn visit_f64<E>(self, _: f64) -> Result<ErrorMember, E> {
        Ok(ErrorMember::Filled)
    }

    fn visit_str<E>(self, text: &str) -> Result<ErrorMember, E> {
        Ok(ErrorMember::filled_if(!text.trim().is_empty()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ErrorMember, A::Error> {
        let mut found = ErrorMember::Empty;
        while let Some(item) = items.next_element()? {
            found = found.max(item);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<ErrorMember, A::Error> {
        let mut found = ErrorMember::Empty;
        while let Some((_, member)) = members.next_entry::<IgnoredAny, _>()? {
            found = found.max(member);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_an_error_says_anything() {
        for (json, says) in [
            ("null", PartialJson::Null),
            ("false", PartialJson::Null),
            ("true", PartialJson::Bool(true)),
            ("0", PartialJson::Bool(false)),
            ("-1", PartialJson::Bool(true)),
            ("0.5", PartialJson::Bool(true)),
            (r#""""#, PartialJson::Bool(false)),
            (r#"" ""#, PartialJson::Bool(false)),
            (r#""\u0062usy""#, PartialJson::Bool(true)),
            ("[]", PartialJson::Bool(false)),
            ("[0,[1]]", PartialJson::Bool(true)),
            ("{}", PartialJson::Bool(false)),
            (
                r#"{"message":"","code":0,"param":null}"#,
                PartialJson::Bool(false),
            ),
            (r#"{"message":"","code":500}"#, PartialJson::Bool(true)),
            (r#"{"inner":{"type":"busy"}}"#, PartialJson::Bool(true)),
        ] {
            let text = format!(r#"{{"error":{json}}}"#);
            let sketch = PartialJson::read(text.as_bytes()).unwrap();
            assert_eq!(sketch.get("error"), Some(&says), "{json}");
        }
    }

    #[test]
    fn what_is_kept_and_what_is_skipped() {
        let json = r#"{"id":[1,{"text":"x"}],"type":"a","type":"\u00e9","index":3,"data":[-1],"error":null,
            "content":{"other":1},"delta":{},"output":["t",{"text":""}]}"#;
        let sketch = PartialJson::read(json.as_bytes()).unwrap();
        assert_eq!(sketch.get("id"), None);
        assert_eq!(
            sketch.get("type").unwrap().as_str(),
            Some("é"),
            "the last one counts"
        );
        assert_eq!(sketch.get("index").unwrap().as_u64(), Some(3));
        assert_eq!(sketch.get("error"), Some(&PartialJson::Null));
        for (name, is_filled) in [
            ("content", true),
            ("data", true),
            ("delta", false),
            ("error", false),
            ("index", false),
            ("output", true),
        ] {
            assert_eq!(sketch.get(name).unwrap().is_filled(), is_filled, "{name}");
        }
        let items = sketch.get("output").unwrap().as_list().unwrap();
        assert_eq!(items.len(), 2);
        assert_eq!(items[1].get("text").unwrap().as_str(), Some(""));
    }

    #[test]
    fn half_a_character_is_a_text() {
        let sketch = PartialJson::read(br#"{"delta":{"content":"hi \ud83d"},"index":1}"#).unwrap();
        let content = sketch.get("delta").unwrap().get("content").unwrap();
        assert_eq!(content.as_str(), Some("hi \u{fffd}"));
        assert_eq!(sketch.get("index").unwrap().as_u64(), Some(1));
    }

    #[test]
    fn what_is_no_json() {
        for json in [
            &b"{"[..],
            b"",
            b"{} x",
            b"\"\xff\"",
            b"{\"id\":\"\xff\"}",
            b"[1,]",
        ] {
            assert_eq!(PartialJson::read(json), None, "{json:?}");
        }
    }
}
