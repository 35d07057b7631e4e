//! Times during which an agent's stores cannot be written, or not in time.

use crate::random::SeededRandom;
use crate::time::{HOUR, MINUTE, SECOND, START};

/// A time during which writes go wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreOutage {
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
    /// It is done after so many milliseconds, when no caller may wait for it any more.
    Late(i64),
}

/// The store outages of a world: most worlds have some, none of them lasts long.
pub(crate) fn store_outages(seed: u64, hours: i64, agents: usize) -> Vec<StoreOutage> {
    let mut random = SeededRandom::of(seed, 7_000);
    let mut store_outages = Vec::new();
    for agent in 0..agents {
        let mut at = START + random.spread(10 * MINUTE, 8 * HOUR);
        while at < START + hours * HOUR {
            let until = at + random.spread(10 * SECOND, HOUR);
            let file = *random.pick(&[File::Sessions, File::Usage]);
            let how = match random.below(3) {
                0 => How::Forgotten,
                1 => How::Kept,
                _ => How::Late(random.spread(50, 20 * SECOND)),
            };
            store_outages.push(StoreOutage {
                agent,
                from: at,
                until,
                file,
                how,
            });
            at = until + random.spread(30 * MINUTE, 12 * HOUR);
        }
    }
    store_outages
}
