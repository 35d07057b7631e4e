//! The formats that are spoken, and what an answer looks like in each.

mod chat_completions;
mod messages;
mod responses;

use serde_json::Value;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

/// A streamed answer in pieces, each of them whole events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Events {
    /// Before any content.
    pub(crate) opening: String,
    /// One per token.
    pub(crate) tokens: Vec<String>,
    /// What marks the end.
    pub(crate) closing: String,
}

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::ChatCompletions, Self::Messages, Self::Responses];

    /// The path below a base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat/completions",
            Self::Messages => "messages",
            Self::Responses => "responses",
        }
    }

    /// What a configuration calls it (`models.providers.<id>.api`).
    pub fn api(self) -> &'static str {
        match self {
            Self::ChatCompletions => "openai-completions",
            Self::Messages => "anthropic-messages",
            Self::Responses => "openai-responses",
        }
    }

    pub(crate) fn events(self, model: &str, tokens: &[String]) -> Events {
        match self {
            Self::ChatCompletions => chat_completions::events(model, tokens),
            Self::Messages => messages::events(model, tokens),
            Self::Responses => responses::events(model, tokens),
        }
    }

    pub(crate) fn whole(self, model: &str, tokens: &[String]) -> Value {
        match self {
            Self::ChatCompletions => chat_completions::whole(model, tokens),
            Self::Messages => messages::whole(model, tokens),
            Self::Responses => responses::whole(model, tokens),
        }
    }

    /// An error as a body.
    pub(crate) fn error(self, kind: &str, message: &str) -> Value {
        match self {
            Self::ChatCompletions | Self::Responses => {
                serde_json::json!({"error": {"message": message, "type": kind, "code": kind, "param": null}})
            }
            Self::Messages => messages::error(kind, message),
        }
    }

    /// An error as an event of a stream.
    pub(crate) fn error_event(self, model: &str, kind: &str, message: &str) -> String {
        match self {
            Self::ChatCompletions => data(&self.error(kind, message)),
            Self::Messages => event("error", &messages::error(kind, message)),
            Self::Responses => responses::error_event(model, kind, message),
        }
    }

    /// The text of a whole answer or of a streamed one, as a client of this format puts it together.
    ///
    /// # Errors
    /// What came instead of an answer that is complete.
    pub fn text_of(self, body: &str, is_stream: bool) -> Result<String, String> {
        match self {
            Self::ChatCompletions => chat_completions::text_of(body, is_stream),
            Self::Messages => messages::text_of(body, is_stream),
            Self::Responses => responses::text_of(body, is_stream),
        }
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn event(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

/// The JSON of every event of a stream; `[DONE]` is a text.
///
/// # Errors
/// When an event is no JSON.
fn parsed(stream: &str) -> Result<Vec<Value>, String> {
    let lines = stream.lines().filter_map(|line| line.strip_prefix("data:"));
    lines
        .map(|data| match data.trim() {
            "[DONE]" => Ok(Value::from("[DONE]")),
            data => serde_json::from_str(data).map_err(|error| format!("{error}: {data}")),
        })
        .collect()
}

fn whole_value(body: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(value.to_string());
    }
    Ok(value)
}

#[cfg(test)]
mod tests;
