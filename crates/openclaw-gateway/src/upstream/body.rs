//! A client's request body: read once, sent to each candidate with only `model` changed.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Deserialize;
use serde_json::Value;

/// A request as the client wrote it.
#[derive(Debug, Clone)]
pub(crate) struct RequestBody {
    bytes: Bytes,
    /// Where the value of the last top-level `model` stands.
    model_at: Range<usize>,
    model: String,
    stream: bool,
    user: Option<String>,
}

/// Why a body is no request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    /// Not JSON, or a member that matters has the wrong type.
    #[error("the request body is no JSON object with a model: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// No model is named.
    #[error("the request names no model; set `model`, for example to `openclaw`")]
    NoModel,
}

#[derive(Deserialize)]
struct Known {
    model: Option<String>,
    #[serde(default)]
    stream: Option<bool>,
    /// Passed on whatever it is, and only of use to us when it is a text.
    #[serde(default)]
    user: Value,
    #[serde(default)]
    metadata: Value,
}

impl Known {
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
    pub(crate) fn try_new(bytes: Bytes) -> Result<Self, BodyError> {
        let known: Known = serde_json::from_slice(&bytes)?;
        let user = known.user();
        let model = known.model.filter(|model| !model.trim().is_empty());
        let (Some(model), Some(model_at)) = (model, value_of("model", &bytes)) else {
            return Err(BodyError::NoModel);
        };
        Ok(Self {
            bytes,
            model_at,
            model,
            stream: known.stream.unwrap_or_default(),
            user,
        })
    }

    /// The model the client asked for, as written.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// Whether the client wants server-sent events.
    pub(crate) fn wants_stream(&self) -> bool {
        self.stream
    }

    /// What the client calls its user.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The body with `model` in place of the client's, every other byte as it came.
    pub(crate) fn with_model(&self, model: &str) -> Bytes {
        let model = serde_json::Value::from(model).to_string();
        let mut body = BytesMut::with_capacity(self.bytes.len() + model.len());
        body.put_slice(&self.bytes[..self.model_at.start]);
        body.put_slice(model.as_bytes());
        body.put_slice(&self.bytes[self.model_at.end..]);
        body.freeze()
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
