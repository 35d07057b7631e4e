//! Whether a text announces what is read off its numbers: a size that does not fit, a time to come back.

use super::marks::{Mark, Marks};
use super::relation;
use crate::hint::CUES;
use crate::needles::Needles;

/// What a text may state.
#[derive(Clone, Copy, Default)]
pub(super) struct Announced {
    /// A size beside its limit.
    pub(super) size: bool,
    /// When a limit ends.
    pub(super) time: bool,
}

/// The words of both, those of times first.
const TIMES: usize = CUES.len();
const COUNT: usize = TIMES + relation::DECISIVE.len();
static WORDS: Needles<COUNT> = Needles::new({
    let mut words = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        words[at] = if at < TIMES {
            CUES[at]
        } else {
            relation::DECISIVE[at - TIMES]
        };
        at += 1;
    }
    words
});

/// Words announce only numbers that follow them.
pub(super) fn announced(text: &str, marks: Marks) -> Announced {
    let mut announced = Announced::default();
    if !marks.may_hold(Mark::Number) {
        return announced;
    }
    let Some(last) = text.bytes().rposition(|byte| byte.is_ascii_digit()) else {
        return announced;
    };
    for (word, _) in WORDS.find_in(&text[..last]) {
        announced.time |= word < TIMES;
        announced.size |= word >= TIMES;
        if announced.time && announced.size {
            break;
        }
    }
    announced
}
