//! Holds a stream back until it is whole, so that a break is a failed attempt and nothing that anybody saw (`buffered`).

use std::collections::VecDeque;

use openclaw_classify::{Failure, Phase};

use super::live::{AnswerStep, LiveAnswer};

/// The most that is held back of one stream, in bytes.
const MAX_HELD: usize = 64 * 1024 * 1024;

/// Reads `live` to its end, and returns it to be read once more from its beginning.
///
/// # Errors
/// When it breaks off, shows no answer, or is larger than anybody can hold.
pub async fn whole(mut live: LiveAnswer) -> Result<LiveAnswer, Failure> {
    let (mut held, mut bytes) = (VecDeque::new(), 0_usize);
    loop {
        match live.next().await {
            AnswerStep::Events(events) => {
                bytes = bytes.saturating_add(events.len());
                if bytes > MAX_HELD {
                    return Err(live.failed(Failure {
                        message: Some(format!("the stream is larger than {MAX_HELD} bytes")),
                        phase: Some(Phase::BeforeFirstContent),
                        ..Failure::default()
                    }));
                }
                held.push_back(events);
            }
            AnswerStep::Finished(end) => return Ok(live.again(held, end)),
            AnswerStep::Hollow(_, failure) => return Err(unseen(*failure)),
            AnswerStep::Cut(failure) => return Err(unseen(failure)),
            // Only an answer that follows another one can differ from it.
            AnswerStep::Mismatch => return Err(live.failed(Failure::default())),
        }
    }
}

/// A failure whose content nobody saw.
fn unseen(failure: Failure) -> Failure {
    Failure {
        phase: Some(Phase::BeforeFirstContent),
        ..failure
    }
}
