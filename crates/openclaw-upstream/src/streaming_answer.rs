//! A streamed answer after its first content: events to forward, and whether its end is a complete one.

mod buffered;

pub use buffered::buffer_whole;

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use openclaw_classify::{Failure, Phase, TimeoutPhase, Transport};
use openclaw_wire::{
    ContentKind, Mismatch, MissingEnd, NewEvents, Splice, SseEvent, SseParser, StreamEvent, StreamProgress,
    WireFormat,
};

use crate::client::transport_failure;
use crate::deadlines::AttemptDeadline;
use crate::facts::AttemptFacts;

/// The bytes of an upstream's answer.
pub(crate) type ByteStream = Pin<Box<dyn Stream<Item = hyper::Result<Bytes>> + Send>>;

/// The next step of a live answer.
#[derive(Debug)]
pub enum AnswerStep {
    /// Whole events, to be forwarded as they are.
    Events(Bytes),
    /// The answer is complete, and this is its last event.
    Finished(Bytes),
    /// The answer ended properly but showed only thinking: its last event, and a failure to record and not to show.
    Hollow(Bytes, Box<Failure>),
    /// The answer broke off; it must not look finished (BL-88).
    Cut(Failure),
    /// The answer was to take over from another one, and differs from it.
    Mismatch,
}

/// What was sent of an answer that broke off.
pub struct SentAnswer {
    splice: Splice,
    sent: u64,
}

/// The deadlines of a stream after its first content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamDeadlines {
    /// The longest wait for the next piece.
    pub idle: Duration,
    /// The deadline of the whole attempt.
    pub end: AttemptDeadline,
}

/// A stream that has shown its first content. Reading it drives the upstream, so that a slow client slows the
/// provider down; dropping it closes the exchange.
pub struct LiveAnswer {
    wire: WireFormat,
    source: ByteStream,
    parser: SseParser,
    progress: StreamProgress,
    /// Events read so far and not yet forwarded.
    buffered: VecDeque<Bytes>,
    pace: StreamDeadlines,
    facts: AttemptFacts,
    /// A notice to send before the first text (S-10.5).
    notice: Option<String>,
    /// What was sent, so that another answer can take over; or what this one takes over from.
    splice: Option<Splice>,
    /// The last event, if it was read already.
    last: Option<Bytes>,
    /// Events returned so far.
    sent: u64,
}

impl LiveAnswer {
    /// A stream that was read up to its first content.
    pub(crate) fn new(
        wire: WireFormat,
        (source, parser): (ByteStream, SseParser),
        (progress, buffered): (StreamProgress, VecDeque<Bytes>),
        pace: StreamDeadlines,
        facts: &AttemptFacts,
    ) -> Self {
        Self {
            wire,
            source,
            parser,
            progress,
            buffered,
            pace,
            facts: facts.clone(),
            notice: None,
            splice: None,
            last: None,
            sent: 0,
        }
    }

    /// The whole answer `body` as the stream that it should have been; none where it cannot be written as one.
    pub(crate) fn of_whole(wire: WireFormat, body: &[u8], facts: &AttemptFacts) -> Option<Self> {
        let mut buffered = VecDeque::from(wire.events_of_response(body)?);
        let end = buffered.pop_back()?;
        let mut progress = StreamProgress::default();
        progress.end(ContentKind::Answer);
        let nothing = Box::pin(futures_util::stream::empty());
        // Nothing is awaited.
        let pace = StreamDeadlines {
            idle: Duration::ZERO,
            end: AttemptDeadline::after(Duration::ZERO),
        };
        let live = Self::new(
            wire,
            (nothing, SseParser::new(0)),
            (progress, buffered),
            pace,
            facts,
        );
        Some(Self {
            last: Some(end),
            ..live
        })
    }

    /// Sends a notice before the first text that comes (S-10.5).
    pub fn announce(&mut self, notice: String) {
        self.notice = Some(notice);
    }

    /// Remembers what is sent from here on, so that another answer can take over.
    pub fn remember(&mut self) {
        self.splice = Splice::new(self.wire);
    }

    /// What another answer needs to take over from this one, which broke off; none when nothing was remembered, or
    /// more was sent than is remembered.
    pub fn sent_answer(&mut self) -> Option<SentAnswer> {
        let splice = self.splice.take()?.take_over()?;
        Some(SentAnswer {
            splice,
            sent: self.sent,
        })
    }

    /// Takes over from another answer.
    pub fn take_over(&mut self, sent: SentAnswer) {
        self.splice = Some(sent.splice);
        self.sent = sent.sent;
    }

    /// The whole answer to be read once more: `buffered`, and `end` as its last event.
    fn replay(self, buffered: VecDeque<Bytes>, end: Bytes) -> Self {
        let mut progress = self.progress;
        progress.assume_end();
        Self {
            progress,
            buffered,
            last: Some(end),
            sent: 0,
            ..self
        }
    }

    /// `failure` with the facts of the attempt.
    fn failed(&self, failure: Failure) -> Failure {
        self.facts.complete(failure)
    }

    /// Events returned so far, by this answer and those it takes over from.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Events that could not be read, and were left out.
    pub fn skipped(&self) -> u64 {
        self.progress.skipped()
    }

    /// What a complete answer left out of its end.
    pub fn missing(&self) -> Option<MissingEnd> {
        // Where one event holds the whole answer, none is complete without it.
        self.progress.missing().filter(|_| self.wire.states_its_end())
    }

    /// The next events, or how the answer ended. Not to be called after an end.
    pub async fn next(&mut self) -> AnswerStep {
        loop {
            let step = self.next_of_upstream().await;
            match self.spliced(step) {
                AnswerStep::Events(events) if events.is_empty() => {}
                AnswerStep::Events(events) => return AnswerStep::Events(self.with_notice(events)),
                end @ (AnswerStep::Cut(_)
                | AnswerStep::Mismatch
                | AnswerStep::Finished(_)
                | AnswerStep::Hollow(..)) => return end,
            }
        }
    }

    /// What is new in `step` for a client that was sent events of another answer before.
    fn spliced(&mut self, step: AnswerStep) -> AnswerStep {
        let Some(splice) = &mut self.splice else {
            self.sent = self
                .sent
                .saturating_add(u64::from(matches!(step, AnswerStep::Events(_))));
            return step;
        };
        let mut count = |new: Result<NewEvents, Mismatch>, step: fn(Bytes) -> AnswerStep| match new {
            Ok(NewEvents { bytes, events }) => {
                self.sent = self.sent.saturating_add(events);
                step(bytes)
            }
            Err(Mismatch) => AnswerStep::Mismatch,
        };
        match step {
            AnswerStep::Events(events) => count(splice.push(events), AnswerStep::Events),
            AnswerStep::Finished(end) => count(splice.finish(end), AnswerStep::Finished),
            AnswerStep::Hollow(end, failure) => match count(splice.finish(end), AnswerStep::Finished) {
                AnswerStep::Finished(end) => AnswerStep::Hollow(end, failure),
                differs => differs,
            },
            AnswerStep::Cut(_) | AnswerStep::Mismatch => step,
        }
    }

    /// One event, with the notice before it if it is the first with text.
    fn with_notice(&mut self, event: Bytes) -> Bytes {
        let notice = self.notice.as_deref();
        match notice.and_then(|notice| self.wire.notice_before(&event, notice)) {
            Some(own) => {
                self.notice = None;
                Bytes::from([own, event].concat())
            }
            None => event,
        }
    }

    async fn next_of_upstream(&mut self) -> AnswerStep {
        if let Some(events) = self.buffered.pop_front() {
            return AnswerStep::Events(events);
        }
        if self.progress.has_ended() {
            let end = self.last.take();
            return self.finished(end.unwrap_or_else(|| self.wire.own_end()));
        }
        loop {
            match self.parser.next_event() {
                Ok(Some(event)) => match self.forward(event) {
                    Some(step) => return step,
                    None => continue,
                },
                Ok(None) => {}
                Err(too_large) => {
                    return self.cut(Failure {
                        message: Some(too_large.to_string()),
                        ..broken()
                    });
                }
            }
            let next = self
                .pace
                .end
                .within(self.pace.idle, TimeoutPhase::Idle, self.source.next());
            match next.await {
                Ok(Some(Ok(chunk))) => self.parser.push(&chunk),
                Ok(Some(Err(error))) => {
                    return self.end(transport_failure::of_error(&error, Phase::AfterContent));
                }
                Ok(None) => return self.end_of_bytes(),
                Err(waited_for) => {
                    return self.end(transport_failure::timeout(waited_for, Phase::AfterContent));
                }
            }
        }
    }

    /// The step that an event is; none when it cannot be read.
    fn forward(&mut self, event: SseEvent) -> Option<AnswerStep> {
        let Some(data) = &event.data else {
            let stray = event.stray().filter(|text| self.wire.is_stray_error(text));
            return Some(match stray {
                Some(error) => self.broken_by(error),
                None => AnswerStep::Events(event.raw),
            });
        };
        Some(match self.wire.read_event(event.name.as_deref(), data) {
            StreamEvent::Deltas(deltas) => {
                self.progress.add(&deltas);
                AnswerStep::Events(event.raw)
            }
            StreamEvent::Malformed => {
                self.progress.skip();
                return None;
            }
            StreamEvent::Other => AnswerStep::Events(event.raw),
            // An end without a reason does not complete the arguments of a call (BL-89).
            StreamEvent::End(_) if self.progress.breaks_off_in_a_call() => self.cut(broken()),
            StreamEvent::End(shows) => {
                self.progress.end(shows);
                self.finished(self.end_of(event.raw))
            }
            StreamEvent::Error => self.broken_by(data),
        })
    }

    /// The upstream sent an error.
    fn broken_by(&self, error: &[u8]) -> AnswerStep {
        let body = self.wire.error_body(error);
        self.cut(self.facts.error_event(&body, Phase::AfterContent))
    }

    /// The upstream closed its answer. Bytes without a closing line end may still be an event.
    fn end_of_bytes(&mut self) -> AnswerStep {
        let parser = std::mem::replace(&mut self.parser, SseParser::new(0));
        let rest = parser.finish().filter(SseEvent::is_whole);
        rest.and_then(|event| self.forward(event))
            .unwrap_or_else(|| self.end(broken()))
    }

    /// The bytes ended without the last event: the answer is complete all the same, or broken by `failure`.
    fn end(&self, failure: Failure) -> AnswerStep {
        if self.progress.may_end(self.wire) {
            self.finished(self.wire.own_end())
        } else {
            self.cut(failure)
        }
    }

    /// The last event as it is forwarded. A mark is the same in every answer.
    fn end_of(&self, event: Bytes) -> Bytes {
        self.wire.end_mark().unwrap_or(event)
    }

    fn finished(&self, end: Bytes) -> AnswerStep {
        match self.progress.shown() {
            ContentKind::Answer => AnswerStep::Finished(end),
            ContentKind::Nothing | ContentKind::Thinking => {
                AnswerStep::Hollow(end, Box::new(self.facts.empty(Phase::AfterContent)))
            }
        }
    }

    fn cut(&self, failure: Failure) -> AnswerStep {
        AnswerStep::Cut(self.facts.complete(failure))
    }
}

fn broken() -> Failure {
    Failure {
        message: Some("stream ended before completion".to_owned()),
        transport: Some(Transport::Reset),
        phase: Some(Phase::AfterContent),
        ..Failure::default()
    }
}
