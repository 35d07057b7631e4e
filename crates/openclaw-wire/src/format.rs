//! The wire formats that are passed on: what each calls content, an end, an error.

mod chat_completions;
mod embeddings;
mod messages;
mod responses;

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use crate::partial_json::PartialJson;
use crate::surrogates::value_of;

/// A wire format. Requests and answers are passed on in it; nothing is translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFormat {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// Anthropic's token counts of a message request.
    CountTokens,
    /// OpenAI's embeddings.
    Embeddings,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

/// What one event of a stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// A delta for each choice named.
    Deltas(Vec<Delta>),
    /// The last event of a complete answer, and what it shows by itself.
    End(ContentKind),
    /// An error.
    Error,
    /// Something that no client could read.
    Malformed,
    /// Usage, a ping, or another piece without content.
    Other,
}

/// What an event adds to one choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Which choice; 0 in formats that have only one.
    pub choice: u64,
    /// What is new.
    pub shows: ContentKind,
    /// Pieces of tool-call arguments: index of the call and text.
    pub arguments: Vec<(u64, String)>,
    /// Whether this is the choice's last piece.
    pub finished: bool,
}

/// What a message or delta lets a person see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentKind {
    /// Nothing: a role, an empty text.
    Nothing,
    /// The model's thinking only.
    Thinking,
    /// An answer: text, a tool call, a refusal.
    Answer,
}

/// What a whole (not streamed) body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseBody {
    /// An answer with something in it.
    Answer,
    /// An answer without text, tool call or refusal.
    Empty,
    /// An error object under a success status.
    Error,
    /// No answer at all, for example a HTML page.
    Unreadable,
}

impl WireFormat {
    /// The path below a provider's base URL.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat/completions",
            Self::CountTokens => "messages/count_tokens",
            Self::Embeddings => "embeddings",
            Self::Messages => "messages",
            Self::Responses => "responses",
        }
    }

    /// What people call the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::ChatCompletions => "OpenAI chat completions",
            Self::CountTokens | Self::Messages => "Anthropic messages",
            Self::Embeddings => "OpenAI embeddings",
            Self::Responses => "OpenAI responses",
        }
    }

    /// The operation that it asks for, in the words of the semantic conventions.
    pub fn operation(self) -> &'static str {
        match self {
            Self::Embeddings => "embeddings",
            Self::ChatCompletions | Self::CountTokens | Self::Messages | Self::Responses => "chat",
        }
    }

    /// Its name in metrics and traces.
    pub fn label(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat_completions",
            Self::CountTokens => "count_tokens",
            Self::Embeddings => "embeddings",
            Self::Messages => "messages",
            Self::Responses => "responses",
        }
    }

    /// Whether `stream: true` means something in it.
    pub fn streams(self) -> bool {
        match self {
            Self::ChatCompletions | Self::Messages | Self::Responses => true,
            Self::CountTokens | Self::Embeddings => false,
        }
    }

    /// Whether it is Anthropic's: errors and headers have that shape.
    pub fn is_anthropic(self) -> bool {
        match self {
            Self::CountTokens | Self::Messages => true,
            Self::ChatCompletions | Self::Embeddings | Self::Responses => false,
        }
    }

    /// Reads one event of a stream.
    pub fn read_event(self, name: Option<&[u8]>, data: &[u8]) -> StreamEvent {
        match self {
            Self::ChatCompletions | Self::Embeddings => chat_completions::read_event(name, data),
            Self::CountTokens | Self::Messages => messages::read_event(name, data),
            Self::Responses => responses::read_event(name, data),
        }
    }

    /// Whether an answer may end with the last bracket of its tool calls, because some servers send nothing after it.
    pub fn may_end_with_calls(self) -> bool {
        match self {
            Self::ChatCompletions => true,
            Self::CountTokens | Self::Embeddings | Self::Messages | Self::Responses => false,
        }
    }

    /// Whether an object that stands in a stream without being an event of it is an error.
    pub fn is_stray_error(self, text: &[u8]) -> bool {
        self.read_event(None, text) == StreamEvent::Error
    }

    /// Reads a whole body.
    pub fn read_response(self, body: &[u8]) -> ResponseBody {
        match self {
            Self::ChatCompletions => chat_completions::read_response(body),
            Self::CountTokens => messages::read_count(body),
            Self::Embeddings => embeddings::read_response(body),
            Self::Messages => messages::read_response(body),
            Self::Responses => responses::read_response(body),
        }
    }

    /// The events that say what the whole `body` says, the last of which ends the stream; none of a body that is not
    /// over, and in formats that do not stream.
    pub fn events_of_whole(self, body: &[u8]) -> Option<Vec<Bytes>> {
        let answer = value_of(body)?;
        let events = match self {
            Self::ChatCompletions => {
                let chunk = self.event(&chat_completions::chunk_of_whole(answer)?);
                return Some(vec![chunk, self.own_end()]);
            }
            Self::CountTokens | Self::Embeddings => return None,
            Self::Messages => messages::events_of_whole(answer)?,
            Self::Responses => responses::events_of_whole(&answer)?,
        };
        Some(events.iter().map(|event| self.event(event)).collect())
    }

    /// An event as it is written.
    pub fn event(self, event: &Value) -> Bytes {
        let name = event.get("type").and_then(Value::as_str);
        Bytes::from(match name.filter(|_| self != Self::ChatCompletions) {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
    }

    /// The event that ends a complete answer whose upstream did not send one.
    pub fn own_end(self) -> Bytes {
        match self {
            Self::ChatCompletions | Self::Embeddings => Bytes::from_static(b"data: [DONE]\n\n"),
            Self::CountTokens | Self::Messages => messages::STOP,
            // Its last event is the whole answer, and without it no answer is complete.
            Self::Responses => Bytes::new(),
        }
    }

    /// The data of an error event as an error body, the way classification reads it.
    pub fn error_body(self, data: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Responses => responses::error_body(data),
            Self::ChatCompletions | Self::CountTokens | Self::Embeddings | Self::Messages => {
                Cow::Borrowed(data)
            }
        }
    }
}

/// Whether a body, or a part of one, is an error; a member of that name with nothing in it says that there is none.
fn is_error(body: &PartialJson<'_>) -> bool {
    body.get("error") == Some(&PartialJson::Bool(true))
        || body.get("type").and_then(PartialJson::as_str) == Some("error")
}

/// Whether an event is an error, or would be one if it said which: it lacks the member that all events have.
fn is_error_event(event: &PartialJson<'_>, usual: &str) -> bool {
    is_error(event)
        || (event.get(usual).is_none()
            && event
                .get("error")
                .is_some_and(|error| *error != PartialJson::Null))
}

fn is_filled(value: Option<&PartialJson<'_>>) -> bool {
    value.is_some_and(PartialJson::is_filled)
}

/// What is no JSON: an error if it is called one, else an event to skip.
fn unreadable(name: Option<&[u8]>) -> StreamEvent {
    if name == Some(b"error") {
        StreamEvent::Error
    } else {
        StreamEvent::Malformed
    }
}

/// A piece of the only choice.
fn shown(shows: ContentKind) -> StreamEvent {
    StreamEvent::Deltas(vec![Delta {
        choice: 0,
        shows,
        arguments: Vec::new(),
        finished: false,
    }])
}
