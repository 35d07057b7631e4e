//! Reads the first bytes of an answer, which tell whether it is a stream of events.

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use http::header::{CONTENT_TYPE, HeaderMap};
use openclaw_classify::{Failure, Phase, TimeoutPhase};
use openclaw_wire::BodyKind;
use tokio::time::Instant;

use crate::client::transport_failure;
use crate::deadlines::{AttemptDeadline, Deadlines};

/// The kind of body that the headers of an answer declare.
pub(crate) fn declared_kind(headers: &HeaderMap) -> BodyKind {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    BodyKind::declared(content_type.unwrap_or_default())
}

/// Reads as much of `source`, whose head came at `heard`, as its kind needs to be known.
pub(crate) async fn first_bytes(
    source: &mut (impl Stream<Item = hyper::Result<Bytes>> + Unpin),
    said: BodyKind,
    deadlines: &Deadlines,
    heard: Instant,
    end: AttemptDeadline,
) -> Result<(Bytes, BodyKind), Failure> {
    let mut read = Bytes::new();
    loop {
        if let Some(kind) = said.detect(&read) {
            return Ok((read, kind));
        }
        let (until, phase) = match said {
            BodyKind::Events => (heard + deadlines.first_content, TimeoutPhase::FirstContent),
            BodyKind::Document if read.is_empty() => (heard + deadlines.plain_body, TimeoutPhase::Idle),
            BodyKind::Document => (Instant::now() + deadlines.idle, TimeoutPhase::Idle),
        };
        match end.until(until, phase, source.next()).await {
            Ok(Some(Ok(piece))) if read.is_empty() => read = piece,
            Ok(Some(Ok(piece))) => read = Bytes::from([read, piece].concat()),
            Ok(Some(Err(error))) => {
                return Err(transport_failure::of_error(&error, Phase::BeforeFirstContent));
            }
            Ok(None) => return Ok((read, said)),
            Err(waited_for) => return Err(transport_failure::timeout(waited_for, Phase::BeforeFirstContent)),
        }
    }
}
