//! The wire formats: one row each, walked by small functions, so that a format is added in one file.

mod chat_completions;
mod count_tokens;
mod embeddings;
mod event;
mod family;
mod messages;
mod responses;
mod row;
mod synthetic;
mod user_text;

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

pub use event::{ContentKind, Delta, ResponseBody, StreamEvent};
pub use family::ApiFamily;
pub use row::RequestKind;
pub use synthetic::SyntheticAnswer;

use crate::overlap::AnswerTracker;
use crate::sse::SseParser;
use crate::surrogates::value_of;
use row::{FormatRow, NoticeRow, StreamEnd, StreamRow};

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

impl WireFormat {
    /// How many formats there are.
    pub const COUNT: usize = Self::ALL.len();
    /// All formats.
    pub const ALL: &[Self] = &[
        Self::ChatCompletions,
        Self::CountTokens,
        Self::Embeddings,
        Self::Messages,
        Self::Responses,
    ];

    fn row(self) -> &'static FormatRow {
        match self {
            Self::ChatCompletions => &chat_completions::ROW,
            Self::CountTokens => &count_tokens::ROW,
            Self::Embeddings => &embeddings::ROW,
            Self::Messages => &messages::ROW,
            Self::Responses => &responses::ROW,
        }
    }

    fn stream(self) -> Option<&'static StreamRow> {
        self.row().stream.as_ref()
    }

    fn notice(self) -> Option<&'static NoticeRow> {
        self.stream()?.notice.as_ref()
    }

    /// Its position in [`ALL`](Self::ALL).
    pub fn index(self) -> usize {
        self as usize
    }

    /// The format whose requests are posted to `path` below a base URL.
    pub fn of_path(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.path() == path)
    }

    /// The path below a provider's base URL.
    pub fn path(self) -> &'static str {
        self.row().path
    }

    /// Its name in messages to people.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The operation in the words of the semantic conventions of OpenTelemetry.
    pub fn operation(self) -> &'static str {
        self.row().operation
    }

    /// Its name in metrics and traces.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// What its requests ask for.
    pub fn kind(self) -> RequestKind {
        self.row().kind
    }

    /// The API that it belongs to, whose errors and headers it shares.
    pub fn family(self) -> ApiFamily {
        self.row().family
    }

    /// Whether `stream: true` means something in it.
    pub fn streams(self) -> bool {
        self.stream().is_some()
    }

    /// Reads one event of a stream.
    pub fn read_event(self, name: Option<&[u8]>, data: &[u8]) -> StreamEvent {
        self.stream()
            .map_or(StreamEvent::Other, |stream| (stream.read_event)(name, data))
    }

    /// Whether an answer may end with the last bracket of its tool calls, because some servers send nothing after it.
    pub fn may_end_with_calls(self) -> bool {
        self.stream().is_some_and(|stream| stream.may_end_with_calls)
    }

    /// Whether a complete answer says why each choice ended and, with an event of its own, that it is over. Where one
    /// event holds the whole answer, neither can be missing.
    pub fn states_its_end(self) -> bool {
        self.stream().is_some_and(|stream| match stream.end {
            StreamEnd::Event(_) | StreamEnd::Mark(_) => true,
            StreamEnd::FullAnswer => false,
        })
    }

    /// Whether an object that stands in a stream without being an event of it is an error.
    pub fn is_stray_error(self, text: &[u8]) -> bool {
        self.read_event(None, text) == StreamEvent::Error
    }

    /// Reads a whole body.
    pub fn read_response(self, body: &[u8]) -> ResponseBody {
        (self.row().read_response)(body)
    }

    /// The events that say what the whole `body` says, the last of which ends the stream; none of a body that is not
    /// over, and in formats that do not stream.
    pub fn events_of_response(self, body: &[u8]) -> Option<Vec<Bytes>> {
        let stream = self.stream()?;
        let events = (stream.events_of_response)(value_of(body)?)?;
        let mut events: Vec<Bytes> = events.iter().map(|event| self.event(event)).collect();
        events.extend(self.end_mark());
        Some(events)
    }

    /// An event as it is written.
    pub fn event(self, event: &Value) -> Bytes {
        let named = self.stream().is_some_and(|stream| stream.named_events);
        let name = event.get("type").and_then(Value::as_str);
        Bytes::from(match name.filter(|_| named) {
            Some(name) => format!("event: {name}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        })
    }

    /// The event that ends a complete answer whose upstream did not send one; empty where none can be made up.
    pub fn own_end(self) -> Bytes {
        match self.stream().map(|stream| &stream.end) {
            Some(StreamEnd::Event(end) | StreamEnd::Mark(end)) => Bytes::from_static(end),
            Some(StreamEnd::FullAnswer) | None => Bytes::new(),
        }
    }

    /// The mark that ends every stream, in formats that have one: it is no event of the answer.
    pub fn end_mark(self) -> Option<Bytes> {
        match self.stream()?.end {
            StreamEnd::Mark(end) => Some(Bytes::from_static(end)),
            StreamEnd::Event(_) | StreamEnd::FullAnswer => None,
        }
    }

    /// The data of an error event, or an error under a success status, as an error body, the way classification reads it.
    pub fn error_body(self, data: &[u8]) -> Cow<'_, [u8]> {
        (self.row().error_body)(data)
    }

    /// The event that ends a stream with `error`, an error object with `code`, `message` and `param`; `sent` events went
    /// before it.
    pub fn error_event(self, error: &Value, sent: u64) -> Bytes {
        self.event(&(self.row().error_event)(error, sent))
    }

    /// The text of the last message of a request, when it is one of the user's and nothing but one text.
    pub fn last_user_text(self, request: &Value) -> Option<&str> {
        self.row().user_text.as_ref()?.last(request)
    }

    /// The tool-call ids of a request, in order of appearance.
    pub fn tool_call_ids(self, request: &Value) -> Vec<&str> {
        (self.row().tool_call_ids)(request)
    }

    /// The smallest request that shows whether a model answers, as a stream.
    pub fn probe_request(self, model: &str) -> Value {
        (self.row().probe_request)(model)
    }

    /// An answer that no model gave, as one body; none in formats without conversations.
    pub fn synthetic_body(self, answer: &SyntheticAnswer<'_>) -> Option<String> {
        Some((self.stream()?.synthetic.whole)(answer).to_string())
    }

    /// An answer that no model gave, as a stream; none in formats without conversations.
    pub fn synthetic_stream(self, answer: &SyntheticAnswer<'_>) -> Option<Vec<u8>> {
        let mut stream = Vec::new();
        for event in (self.stream()?.synthetic.events)(answer) {
            stream.extend_from_slice(&self.event(&event));
        }
        stream.extend(self.end_mark().into_iter().flatten());
        Some(stream)
    }

    /// Whether a line for people can be put before the text of its answers (S-10.5).
    pub fn takes_notices(self) -> bool {
        self.notice().is_some()
    }

    /// A whole answer with `line` before its text (S-10.1, S-10.5); none when it has no text.
    pub fn response_with_notice(self, body: &[u8], line: &str) -> Option<Bytes> {
        let answer = (self.notice()?.in_response)(value_of(body)?, line)?;
        Some(Bytes::from(answer.to_string()))
    }

    /// The event to send before a stream's event to show `line`, if that event is the first with text for the first
    /// choice (S-10.5).
    pub fn notice_before(self, event: &[u8], line: &str) -> Option<Bytes> {
        let notice = self.notice()?;
        let mut parser = SseParser::within_stream(event.len());
        parser.push(event);
        let data = parser.next_event().ok()??.data?;
        Some(self.event(&(notice.event_before)(&value_of(&data)?, line)?))
    }

    /// What compares answers of this format; none where nothing streams.
    pub(crate) fn tracker(self) -> Option<Box<dyn AnswerTracker>> {
        Some((self.stream()?.tracker)())
    }
}

/// The items of a list in an object; none where there is no such list.
fn items<'v>(object: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    object.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// The texts of `values` that are there and are texts.
fn texts<'v>(values: impl Iterator<Item = Option<&'v Value>>) -> Vec<&'v str> {
    values.filter_map(|value| value?.as_str()).collect()
}

/// The question of a probe request.
const PROBE: &str = "Answer with the one word OK.";

#[cfg(test)]
mod tests;
