//! A client's request body, read once and sent to each candidate with only `model` changed.

use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;

/// Room for the quotes around a model's name, and for what has to be escaped in it.
const QUOTED: usize = 16;

/// A request as the client wrote it.
#[derive(Debug, Clone)]
pub struct RequestBody {
    bytes: Bytes,
    /// Where the value of the top-level `model` stands.
    model_at: Range<usize>,
    model: String,
    stream: bool,
    user: Option<String>,
}

/// Why a body is no request, in words for its client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// A member has a value of another kind.
    #[error("`{name}` must be {expected}, not {found}")]
    Member {
        /// Its name.
        name: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// No model is named.
    #[error("the request names no model; set `model`, for example to `openclaw`")]
    NoModel,
    /// JSON of another kind.
    #[error(
        "the request body must be a JSON object such as {{\"model\": \"openclaw\", \"messages\": [...]}}, not {0}"
    )]
    NotAnObject(&'static str),
    /// Not JSON.
    #[error("the request body is not JSON: {what} at line {line}, column {column}")]
    Syntax {
        /// From 1.
        line: usize,
        /// From 1, in bytes.
        column: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A member that matters stands in it several times.
    #[error("`model`, `stream`, `user` and `metadata` may each stand in the request only once")]
    Twice,
}

impl BodyError {
    /// The member that is wrong, if one is.
    pub fn member(&self) -> Option<&'static str> {
        match self {
            Self::Member { name, .. } => Some(name),
            Self::NoModel => Some("model"),
            Self::NotAnObject(_) | Self::Syntax { .. } | Self::Twice => None,
        }
    }
}

/// The members that are read, as any values, so that a wrong one is explained here and not by the parser.
#[derive(Deserialize)]
struct KnownMembers {
    #[serde(default)]
    model: Value,
    #[serde(default)]
    stream: Value,
    /// Passed on whatever it is, and used here only when it is a text.
    #[serde(default)]
    user: Value,
    #[serde(default)]
    metadata: Value,
}

impl KnownMembers {
    /// The user as OpenAI's formats name it, else as Anthropic's does.
    fn user(&self) -> Option<String> {
        let named = self
            .user
            .as_str()
            .or_else(|| self.metadata.get("user_id")?.as_str());
        named.map(str::to_owned)
    }
}

impl RequestBody {
    /// Reads `bytes`.
    ///
    /// # Errors
    /// When it is no JSON object, or names no model.
    pub fn try_new(bytes: Bytes) -> Result<Self, BodyError> {
        let known = read(&bytes)?;
        let user = known.user();
        let wrong = |name, expected, value: &Value| BodyError::Member {
            name,
            expected,
            found: kind(value),
        };
        let model = match known.model {
            Value::Null => None,
            Value::String(model) => Some(model).filter(|model| !model.trim().is_empty()),
            other => return Err(wrong("model", "a text such as \"openclaw\"", &other)),
        };
        let stream = match known.stream {
            Value::Null => false,
            Value::Bool(stream) => stream,
            other => return Err(wrong("stream", "true or false", &other)),
        };
        let (Some(model), Some(model_at)) = (model, value_of("model", &bytes)) else {
            return Err(BodyError::NoModel);
        };
        Ok(Self {
            bytes,
            model_at,
            model,
            stream,
            user,
        })
    }

    /// The model the client asked for, as written.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The whole body as it came.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether the client wants server-sent events.
    pub fn wants_stream(&self) -> bool {
        self.stream
    }

    /// What the client calls its user.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The body with `model` in place of the client's, every other byte as it came.
    pub fn with_model(&self, model: &str) -> Bytes {
        let mut body = Vec::with_capacity(self.bytes.len() + model.len() + QUOTED);
        body.extend_from_slice(&self.bytes[..self.model_at.start]);
        // A list of bytes takes any text.
        let _ = serde_json::to_writer(&mut body, model);
        body.extend_from_slice(&self.bytes[self.model_at.end..]);
        Bytes::from(body)
    }
}

/// The members of an object that are read. Messages of the parser are replaced by plain ones.
fn read(bytes: &[u8]) -> Result<KnownMembers, BodyError> {
    let is_object = bytes.trim_ascii_start().first() == Some(&b'{');
    let error = if is_object {
        match serde_json::from_slice(bytes) {
            Ok(known) => return Ok(known),
            Err(error) => error,
        }
    } else {
        match serde_json::from_slice::<Value>(bytes) {
            Ok(value) => return Err(BodyError::NotAnObject(kind(&value))),
            Err(error) => error,
        }
    };
    let what = match error.classify() {
        // Members of any kind are read, so only a second one is left to be refused.
        Category::Data => return Err(BodyError::Twice),
        Category::Eof | Category::Io => "it ends too early",
        Category::Syntax => "there is something unexpected",
    };
    Err(BodyError::Syntax {
        line: error.line(),
        column: error.column(),
        what,
    })
}

/// The kind of a value in plain words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The span of the string value of the top-level member `name` in `json`, which must be valid JSON.
fn value_of(name: &str, json: &[u8]) -> Option<Range<usize>> {
    let (mut depth, mut at) = (0_usize, 0);
    let mut key_matches = false;
    let mut expects_value = false;
    while at < json.len() {
        match json[at] {
            b'{' | b'[' => {
                depth += 1;
                expects_value = false;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 => expects_value = true,
            b',' if depth == 1 => expects_value = false,
            b'"' => {
                let span = at..string_end(json, at);
                if depth == 1 && !expects_value {
                    let key = serde_json::from_slice::<String>(&json[span.clone()]);
                    key_matches = key.is_ok_and(|key| key == name);
                } else if depth == 1 && key_matches {
                    return Some(span);
                }
                at = span.end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The offset after the closing quote of the string that begins at `start`.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() {
        match json[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests;
