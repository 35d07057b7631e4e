//! Buffers a stream until it is complete, so that a break is a failed attempt and not a cut answer (`buffered`).

use std::collections::VecDeque;

use openclaw_classify::{Failure, Phase};

use super::{AnswerStep, LiveAnswer};

/// The most that is buffered of one stream, in bytes.
const MAX_BUFFERED: usize = 64 * 1024 * 1024;

/// Reads `live` to its end, and returns it to be read once more from its beginning.
///
/// # Errors
/// When it breaks off, shows no answer, or is larger than the buffer.
pub async fn buffer_whole(mut live: LiveAnswer) -> Result<LiveAnswer, Failure> {
    let (mut buffered, mut bytes) = (VecDeque::new(), 0_usize);
    loop {
        match live.next().await {
            AnswerStep::Events(events) => {
                bytes = bytes.saturating_add(events.len());
                if bytes > MAX_BUFFERED {
                    return Err(live.failed(Failure {
                        message: Some(format!("the stream is larger than {MAX_BUFFERED} bytes")),
                        phase: Some(Phase::BeforeFirstContent),
                        ..Failure::default()
                    }));
                }
                buffered.push_back(events);
            }
            AnswerStep::Finished(end) => return Ok(live.replay(buffered, end)),
            AnswerStep::Hollow(_, failure) => return Err(unseen(*failure)),
            AnswerStep::Cut(failure) => return Err(unseen(failure)),
            // Only an answer that follows another one can differ from it.
            AnswerStep::Mismatch => return Err(live.failed(Failure::default())),
        }
    }
}

/// A failure before any content was shown.
fn unseen(failure: Failure) -> Failure {
    Failure {
        phase: Some(Phase::BeforeFirstContent),
        ..failure
    }
}
