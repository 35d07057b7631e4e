//! Streams from bytes in any pieces, as their clients would see them: what the fuzz targets look at.

use bytes::Bytes;
use futures_util::stream;
use openclaw_classify::{Failure, describe};
use openclaw_wire::{SseParser, WireFormat};
use tokio::time::Instant;

use super::arrival::first_content;
use super::deadlines::End;
use super::facts::AttemptFacts;
use super::live::{ByteStream, SentAnswer};
use super::{AnswerStep, Deadlines, Endpoint, LiveAnswer};

/// A format that streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's chat completions.
    ChatCompletions,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
}

impl Format {
    pub fn wire(self) -> WireFormat {
        match self {
            Self::ChatCompletions => WireFormat::ChatCompletions,
            Self::Messages => WireFormat::Messages,
            Self::Responses => WireFormat::Responses,
        }
    }
}

/// What a client saw of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Everything but the last event of a complete answer.
    pub bytes: Vec<u8>,
    /// Events that were left out because nobody can read them.
    pub skipped: u64,
    /// How it ended.
    pub end: Ending,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Nothing was shown; why.
    Refused(String),
    /// It broke off; why.
    Cut(String),
    /// It was to take over from another one, and says something else.
    Mismatch,
    /// It is complete, with its last event.
    Finished(Vec<u8>),
    /// It is complete by its form and shows no answer.
    Hollow(Vec<u8>),
}

/// An event's name and data, of those that have data.
pub type Parsed = (Option<Vec<u8>>, Vec<u8>);

/// The events of a stream that arrives in `chunks`.
pub fn events(chunks: &[Bytes]) -> Vec<Parsed> {
    let mut parser = SseParser::new(usize::MAX);
    let mut found = Vec::new();
    for chunk in chunks {
        parser.push(chunk);
        while let Ok(Some(event)) = parser.next_event() {
            found.extend(event.data.map(|data| (event.name.map(Into::into), data.into())));
        }
    }
    let last = parser.finish();
    found.extend(last.and_then(|event| Some((event.name.map(Into::into), event.data?.into()))));
    found
}

/// What a client sees of a stream that arrives in `chunks` and then ends.
pub async fn see(format: Format, chunks: Vec<Bytes>) -> Seen {
    see_after(format, chunks, None, &mut None).await
}

/// What a client sees of a first stream and, when that breaks off, of the `second` one that takes over; whether it did.
pub async fn see_spliced(format: Format, first: Vec<Bytes>, second: Vec<Bytes>) -> (Seen, Option<Seen>) {
    let mut baton = None;
    let first = see_after(format, first, None, &mut baton).await;
    match (&first.end, baton) {
        (Ending::Cut(_), Some(baton)) => {
            let then = see_after(format, second, Some(baton), &mut None).await;
            (first, Some(then))
        }
        _ => (first, None),
    }
}

async fn see_after(
    format: Format,
    chunks: Vec<Bytes>,
    after: Option<SentAnswer>,
    left: &mut Option<SentAnswer>,
) -> Seen {
    let mut seen = Seen {
        bytes: Vec::new(),
        skipped: 0,
        end: Ending::Mismatch,
    };
    let mut live = match begin(format.wire(), chunks).await {
        Ok(live) => live,
        Err(failure) => {
            seen.end = Ending::Refused(words(&failure));
            return seen;
        }
    };
    match after {
        Some(baton) => live.take_over(baton),
        None => live.remember(),
    }
    seen.end = loop {
        match live.next().await {
            AnswerStep::Events(events) => seen.bytes.extend_from_slice(&events),
            AnswerStep::Cut(failure) => break Ending::Cut(words(&failure)),
            AnswerStep::Mismatch => break Ending::Mismatch,
            AnswerStep::Finished(end) => break Ending::Finished(end.into()),
            AnswerStep::Hollow(end, _) => break Ending::Hollow(end.into()),
        }
    };
    seen.skipped = live.skipped();
    *left = live.baton();
    seen
}

async fn begin(wire: WireFormat, chunks: Vec<Bytes>) -> Result<LiveAnswer, Failure> {
    let endpoint = "relay"
        .parse()
        .ok()
        .and_then(|provider| Endpoint::try_new(provider, "http://127.0.0.1:1").ok());
    let Some(endpoint) = endpoint else {
        return Err(Failure::default());
    };
    let source: ByteStream = Box::pin(stream::iter(chunks.into_iter().map(Ok)));
    let deadlines = Deadlines::DEFAULT;
    let end = End::after(deadlines.total);
    first_content(
        wire,
        source,
        &deadlines,
        Instant::now(),
        end,
        &AttemptFacts::new(&endpoint, None),
    )
    .await
}

/// A failure in words and numbers, enough to tell two apart.
fn words(failure: &Failure) -> String {
    format!(
        "{} {:?} {:?} {:?} {:?}",
        describe(failure),
        failure.status,
        failure.code,
        failure.transport,
        failure.phase
    )
}
