//! Entry points of the fuzz targets: streams of any bytes in any pieces, as their clients see them.

use bytes::Bytes;
use futures_util::stream;
use openclaw_classify::{Failure, describe};
use openclaw_wire::{SseParser, WireFormat};
use tokio::time::Instant;

use super::{AnswerStep, Deadlines, Endpoint, LiveAnswer};
use crate::arrival::first_content;
use crate::deadlines::AttemptDeadline;
use crate::facts::AttemptFacts;
use crate::streaming_answer::{ByteStream, SentAnswer};

/// What a client sees of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientView {
    /// Everything but the last event of a complete answer.
    pub bytes: Vec<u8>,
    /// Events that were left out because they cannot be read.
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
    /// It was to take over from another one, and differs from it.
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
pub async fn see(format: WireFormat, chunks: Vec<Bytes>) -> ClientView {
    see_after(format, chunks, None, &mut None).await
}

/// What a client sees of a first stream and, when that breaks off, of the `second` one that takes over; whether it did.
pub async fn see_spliced(
    format: WireFormat,
    first: Vec<Bytes>,
    second: Vec<Bytes>,
) -> (ClientView, Option<ClientView>) {
    let mut sent = None;
    let first = see_after(format, first, None, &mut sent).await;
    match (&first.end, sent) {
        (Ending::Cut(_), Some(sent)) => {
            let then = see_after(format, second, Some(sent), &mut None).await;
            (first, Some(then))
        }
        _ => (first, None),
    }
}

async fn see_after(
    format: WireFormat,
    chunks: Vec<Bytes>,
    after: Option<SentAnswer>,
    left: &mut Option<SentAnswer>,
) -> ClientView {
    let mut seen = ClientView {
        bytes: Vec::new(),
        skipped: 0,
        end: Ending::Mismatch,
    };
    let mut live = match begin(format, chunks).await {
        Ok(live) => live,
        Err(failure) => {
            seen.end = Ending::Refused(words(&failure));
            return seen;
        }
    };
    match after {
        Some(sent) => live.take_over(sent),
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
    *left = live.sent_answer();
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
    let end = AttemptDeadline::after(deadlines.total);
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
