//! Reads the body of an answer: an excerpt of an error, a whole body, a stream up to its first content.

mod first_bytes;

pub(crate) use first_bytes::{declared_kind, first_bytes};

use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use openclaw_classify::{Failure, Phase, TimeoutPhase, Transport};
use openclaw_wire::{ContentKind, SseEvent, SseParser, StreamEvent, StreamProgress, WireFormat};
use tokio::time::{Instant, timeout};

use crate::client::transport_failure;
use crate::deadlines::AttemptDeadline;
use crate::deadlines::Deadlines;
use crate::facts::{AttemptFacts, MAX_EXCERPT};
use crate::streaming_answer::{ByteStream, LiveAnswer, StreamDeadlines};

/// The largest event of a stream, and the most that is buffered before the first content, in bytes.
const MAX_EVENT: usize = 16 * 1024 * 1024;
/// The largest whole answer, in bytes.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Up to 64 KiB of a body: as much as arrived before it broke off or `limit` was over.
pub(crate) async fn excerpt(mut source: Incoming, limit: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let reading = async {
        while let Some(Ok(frame)) = source.frame().await {
            let Ok(chunk) = frame.into_data() else { continue };
            let room = MAX_EXCERPT.saturating_sub(body.len());
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if room <= chunk.len() {
                break;
            }
        }
    };
    // A part is enough to classify by.
    let _ = timeout(limit, reading).await;
    body
}

/// Reads a whole body, with a deadline for each piece.
pub(crate) async fn whole(
    mut source: impl Stream<Item = hyper::Result<Bytes>> + Unpin,
    deadlines: &Deadlines,
    end: AttemptDeadline,
    facts: &AttemptFacts,
) -> Result<Bytes, Failure> {
    let mut body = BodyBuffer::default();
    loop {
        let limit = if body.is_empty() {
            deadlines.plain_body
        } else {
            deadlines.idle
        };
        match end.within(limit, TimeoutPhase::Idle, source.next()).await {
            Ok(Some(Ok(piece))) => body.add(piece),
            Ok(Some(Err(error))) => return Err(transport_failure::of_error(&error, PHASE)),
            Ok(None) => return Ok(body.whole()),
            Err(waited_for) => return Err(transport_failure::timeout(waited_for, PHASE)),
        }
        if body.len() > MAX_ANSWER {
            let message = format!("the answer is larger than {MAX_ANSWER} bytes");
            return Err(facts.complete(Failure {
                message: Some(message),
                ..Failure::default()
            }));
        }
    }
}

/// The pieces of a body. A single one is not copied.
#[derive(Default)]
struct BodyBuffer {
    first: Bytes,
    all: Option<BytesMut>,
}

impl BodyBuffer {
    fn add(&mut self, piece: Bytes) {
        match &mut self.all {
            Some(all) => all.extend_from_slice(&piece),
            None if self.first.is_empty() => self.first = piece,
            None => {
                let mut all = BytesMut::from(&self.first[..]);
                all.extend_from_slice(&piece);
                self.all = Some(all);
            }
        }
    }

    fn len(&self) -> usize {
        self.all.as_ref().map_or(self.first.len(), BytesMut::len)
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn whole(self) -> Bytes {
        self.all.map_or(self.first, BytesMut::freeze)
    }
}

/// Reads a stream, whose head came at `heard`, up to its first content, and buffers everything until then.
pub(crate) async fn first_content(
    wire: WireFormat,
    mut source: ByteStream,
    deadlines: &Deadlines,
    heard: Instant,
    end: AttemptDeadline,
    facts: &AttemptFacts,
) -> Result<LiveAnswer, Failure> {
    let deadline = heard + deadlines.first_content;
    let pace = StreamDeadlines {
        idle: deadlines.idle,
        end,
    };
    let mut parser = SseParser::new(MAX_EVENT);
    let mut opening = StreamOpening {
        wire,
        progress: StreamProgress::default(),
        buffered: VecDeque::new(),
        buffered_bytes: 0,
        first_unreadable: None,
    };
    loop {
        while let Some(event) = parser
            .next_event()
            .map_err(|too_large| failure_with(too_large.to_string()))?
        {
            opening.add(event, facts)?;
            if opening.progress.shown() > ContentKind::Nothing {
                return Ok(opening.live(source, parser, pace, facts));
            }
        }
        let next = end.until(deadline, TimeoutPhase::FirstContent, source.next());
        match next.await {
            Ok(Some(Ok(chunk))) => parser.push(&chunk),
            Ok(Some(Err(error))) => return Err(transport_failure::of_error(&error, PHASE)),
            Ok(None) => break,
            Err(waited_for) => return Err(transport_failure::timeout(waited_for, PHASE)),
        }
    }
    if let Some(event) = parser.finish().filter(SseEvent::is_whole) {
        opening.add(event, facts)?;
    }
    if opening.progress.shown() > ContentKind::Nothing {
        let nothing = Box::pin(futures_util::stream::empty());
        return Ok(opening.live(nothing, SseParser::new(MAX_EVENT), pace, facts));
    }
    if opening.progress.may_end(wire) {
        return Err(facts.empty(PHASE));
    }
    if let Some(first_unreadable) = opening.first_unreadable {
        return Err(facts.error_event(&first_unreadable, PHASE));
    }
    let broken = failure_with("stream ended before any content".to_owned());
    Err(Failure {
        transport: Some(Transport::Reset),
        ..broken
    })
}

const PHASE: Phase = Phase::BeforeFirstContent;

/// The beginning of a stream, up to its first content.
struct StreamOpening {
    wire: WireFormat,
    progress: StreamProgress,
    buffered: VecDeque<Bytes>,
    buffered_bytes: usize,
    /// The first event that cannot be read: when nothing else comes, the plain text of a proxy in it is the best error.
    first_unreadable: Option<Vec<u8>>,
}

impl StreamOpening {
    /// Buffers one more event.
    ///
    /// # Errors
    /// When it proves that no content will come.
    #[expect(
        clippy::result_large_err,
        reason = "a failure is made and moved once, off the fast path"
    )]
    fn add(&mut self, event: SseEvent, facts: &AttemptFacts) -> Result<(), Failure> {
        let stray = event.stray().filter(|text| self.wire.is_stray_error(text));
        let data = event.data.as_deref().or(stray).unwrap_or_default();
        match self.wire.read_event(event.name.as_deref(), data) {
            StreamEvent::Deltas(deltas) => self.progress.add(&deltas),
            StreamEvent::Malformed => {
                self.progress.skip();
                self.first_unreadable.get_or_insert_with(|| data.to_vec());
                return Ok(());
            }
            StreamEvent::Other => {}
            StreamEvent::End(ContentKind::Answer) => self.progress.end(ContentKind::Answer),
            StreamEvent::End(ContentKind::Nothing | ContentKind::Thinking) => return Err(facts.empty(PHASE)),
            StreamEvent::Error => return Err(facts.error_event(&self.wire.error_body(data), PHASE)),
        }
        self.buffered_bytes += event.raw.len();
        self.buffered.push_back(event.raw);
        if self.buffered_bytes > MAX_EVENT {
            return Err(failure_with(format!(
                "the stream sent {MAX_EVENT} bytes without content"
            )));
        }
        Ok(())
    }

    fn live(
        self,
        source: ByteStream,
        parser: SseParser,
        pace: StreamDeadlines,
        facts: &AttemptFacts,
    ) -> LiveAnswer {
        LiveAnswer::new(
            self.wire,
            (source, parser),
            (self.progress, self.buffered),
            pace,
            facts,
        )
    }
}

fn failure_with(message: String) -> Failure {
    Failure {
        message: Some(message),
        phase: Some(PHASE),
        ..Failure::default()
    }
}

#[cfg(test)]
mod tests;
