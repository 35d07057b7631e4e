//! What events of a stream and whole bodies are, in words that all formats share.

use std::borrow::Cow;

use crate::partial_json::PartialJson;

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
    /// Usage, a ping, or another event without content.
    Other,
}

/// What an event adds to one choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// Which choice; 0 in formats that have only one.
    pub choice: u64,
    /// What is new.
    pub content: ContentKind,
    /// Pieces of tool-call arguments: index of the call and text.
    pub arguments: Vec<(u64, String)>,
    /// Whether this is the choice's last delta.
    pub finished: bool,
}

/// What a message or delta shows to its reader, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentKind {
    /// Nothing: a role, an empty text.
    Nothing,
    /// The model's thinking only.
    Thinking,
    /// An answer: text, a tool call, a refusal.
    Answer,
}

/// What a whole body (not streamed) of a successful answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseBody {
    /// An answer with content.
    Answer,
    /// An answer without text, tool call or refusal.
    Empty,
    /// An error object under a success status.
    Error,
    /// No answer at all, for example an HTML page.
    Unreadable,
}

/// Whether a body, or a part of one, is an error; a member of that name with nothing in it says that there is none.
pub(super) fn is_error(body: &PartialJson<'_>) -> bool {
    body.get("error") == Some(&PartialJson::Bool(true))
        || body.get("type").and_then(PartialJson::as_str) == Some("error")
}

/// Whether an event is an error, or would be one if it said which: it lacks the member that all events have.
pub(super) fn is_error_event(event: &PartialJson<'_>, usual: &str) -> bool {
    is_error(event)
        || (event.get(usual).is_none()
            && event
                .get("error")
                .is_some_and(|error| *error != PartialJson::Null))
}

/// Whether a member is there and holds something.
pub(super) fn is_filled(value: Option<&PartialJson<'_>>) -> bool {
    value.is_some_and(PartialJson::is_filled)
}

/// What is no JSON: an error if it is called one, else an event to skip.
pub(super) fn unreadable(name: Option<&[u8]>) -> StreamEvent {
    if name == Some(b"error") {
        StreamEvent::Error
    } else {
        StreamEvent::Malformed
    }
}

/// A delta of the only choice.
pub(super) fn only_delta(content: ContentKind) -> StreamEvent {
    StreamEvent::Deltas(vec![Delta {
        choice: 0,
        content,
        arguments: Vec::new(),
        finished: false,
    }])
}

/// An error that has the shape that classification reads.
pub(super) fn error_as_it_is(data: &[u8]) -> Cow<'_, [u8]> {
    Cow::Borrowed(data)
}
