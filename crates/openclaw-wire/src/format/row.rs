//! The descriptor of one format: every question about it that the rest of the workspace asks, as one row.

use std::borrow::Cow;

use serde_json::Value;

use super::event::{ResponseBody, StreamEvent};
use super::family::ApiFamily;
use super::synthetic::SyntheticAnswer;
use super::user_text::UserTextPath;
use crate::overlap::AnswerTracker;

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The next turn of a conversation.
    Conversation,
    /// Vectors of texts. Those of different models cannot be compared.
    Embeddings,
    /// The length of a request, which is not about the conversation in it.
    TokenCount,
}

/// One format. Each has a file of its own below this module, which holds its row and the functions in it.
pub(super) struct FormatRow {
    /// Its name in messages to people.
    pub(super) name: &'static str,
    /// Its name in metrics and traces.
    pub(super) label: &'static str,
    /// The operation in the words of the semantic conventions of OpenTelemetry.
    pub(super) operation: &'static str,
    /// The path below a base URL.
    pub(super) path: &'static str,
    pub(super) kind: RequestKind,
    pub(super) family: ApiFamily,
    /// What a whole body of an answer is.
    pub(super) read_response: fn(&[u8]) -> ResponseBody,
    /// An error event or body as an error body, the way classification reads it.
    pub(super) error_body: fn(&[u8]) -> Cow<'_, [u8]>,
    /// The event that ends a stream with an error object; the number of events before it.
    pub(super) error_event: fn(&Value, u64) -> Value,
    /// Where the last message of the user is in a request; none in formats without conversations.
    pub(super) user_text: Option<UserTextPath>,
    /// The tool-call ids of a request, in order of appearance.
    pub(super) tool_call_ids: for<'r> fn(&'r Value) -> Vec<&'r str>,
    /// The smallest request that shows whether a model answers.
    pub(super) probe_request: fn(&str) -> Value,
    /// Its streams; none where `stream: true` means nothing.
    pub(super) stream: Option<StreamRow>,
}

/// The streams of one format, and what is made for them.
pub(super) struct StreamRow {
    /// What one event is, by its name and data.
    pub(super) read_event: fn(Option<&[u8]>, &[u8]) -> StreamEvent,
    pub(super) end: StreamEnd,
    /// Whether events carry their type as a name, too.
    pub(super) named_events: bool,
    /// Whether an answer may end with the last bracket of its tool calls, because some servers send nothing after it.
    pub(super) may_end_with_calls: bool,
    /// The events that say what a whole body says; none of a body that is not over.
    pub(super) events_of_response: fn(Value) -> Option<Vec<Value>>,
    /// Compares answers, so that one can take over from another.
    pub(super) tracker: fn() -> Box<dyn AnswerTracker>,
    pub(super) synthetic: SyntheticRow,
    /// How a line for people is put before an answer's text; none where this is not done.
    pub(super) notice: Option<NoticeRow>,
}

/// How a stream ends.
pub(super) enum StreamEnd {
    /// With an event like this one.
    Event(&'static [u8]),
    /// With an event that holds the whole answer. Without it no answer is complete.
    FullAnswer,
    /// With this mark, which is no JSON and the same in every answer.
    Mark(&'static [u8]),
}

/// Answers that no model gave.
pub(super) struct SyntheticRow {
    pub(super) whole: fn(&SyntheticAnswer<'_>) -> Value,
    /// The same as a stream, without a mark at its end.
    pub(super) events: fn(&SyntheticAnswer<'_>) -> Vec<Value>,
}

/// A line for people before an answer's text.
pub(super) struct NoticeRow {
    /// A whole answer with the line; none when it has no text.
    pub(super) in_response: fn(Value, &str) -> Option<Value>,
    /// The event to send before this one, if this is the first with text.
    pub(super) event_before: fn(&Value, &str) -> Option<Value>,
}
