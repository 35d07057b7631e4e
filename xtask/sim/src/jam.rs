//! Times during which an agent's stores cannot be written, or not in time.

use crate::dice::Dice;
use crate::time::{HOUR, MINUTE, SECOND, START};

/// A time during which writes go wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jam {
    pub(crate) agent: usize,
    pub(crate) from: i64,
    pub(crate) until: i64,
    pub(crate) file: File,
    pub(crate) how: How,
}

/// Which of an agent's stores it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum File {
    Sessions,
    Usage,
}

/// What becomes of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// It fails, and nothing of it is known.
    Forgotten,
    /// It fails, and the process knows it all the same.
    Kept,
    /// It is done after so many milliseconds, when nobody may wait for it any more.
    Late(i64),
}

/// The jams of a world: most worlds have some, none of them lasts long.
pub(crate) fn jams(seed: u64, hours: i64, agents: usize) -> Vec<Jam> {
    let mut dice = Dice::of(seed, 7_000);
    let mut jams = Vec::new();
    for agent in 0..agents {
        let mut at = START + dice.spread(10 * MINUTE, 8 * HOUR);
        while at < START + hours * HOUR {
            let until = at + dice.spread(10 * SECOND, HOUR);
            let file = *dice.pick(&[File::Sessions, File::Usage]);
            let how = match dice.below(3) {
                0 => How::Forgotten,
                1 => How::Kept,
                _ => How::Late(dice.spread(50, 20 * SECOND)),
            };
            jams.push(Jam {
                agent,
                from: at,
                until,
                file,
                how,
            });
            at = until + dice.spread(30 * MINUTE, 12 * HOUR);
        }
    }
    jams
}
