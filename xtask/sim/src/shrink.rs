//! Makes a world in which something does not hold smaller, as long as it still does not.

use crate::play::{FoundViolation, play};
use crate::setup::Setup;
use crate::time::{HOUR, START};

/// How often a smaller world is tried.
const TRIES: usize = 60;

/// The smallest world found in which the same check does not hold, and how.
pub(crate) fn shrink(setup: Setup, found: FoundViolation, taped: u64) -> (Setup, FoundViolation) {
    let mut best = Best {
        check: found.violation.check,
        setup,
        found,
        taped,
        tries: 0,
    };
    let last = best.found.trace.ended.max(best.found.trace.began) - START;
    best.setup.hours = (last / HOUR + 1).min(best.setup.hours);
    best.without_sessions();
    best.without_spells();
    best.without_jams();
    best.without_sessions();
    (best.setup, best.found)
}

struct Best {
    check: &'static str,
    setup: Setup,
    found: FoundViolation,
    taped: u64,
    tries: usize,
}

impl Best {
    fn try_out(&mut self, smaller: Setup) -> bool {
        if self.tries >= TRIES {
            return false;
        }
        self.tries += 1;
        let played = play(smaller.clone(), self.taped, |_| {});
        match played.found {
            Some(found) if found.violation.check == self.check => {
                self.setup = smaller;
                self.found = found;
                true
            }
            _ => false,
        }
    }

    /// Leaves out halves of the sessions, then quarters, then single ones.
    fn without_sessions(&mut self) {
        let mut size = self.setup.sessions.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < self.setup.sessions.len() && self.setup.sessions.len() > size {
                let mut smaller = self.setup.clone();
                let end = (at + size).min(smaller.sessions.len());
                smaller.sessions.drain(at..end);
                if !self.try_out(smaller) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Leaves out all store outages, then halves of them.
    fn without_jams(&mut self) {
        let mut size = self.setup.store_outages.len();
        while size > 0 {
            let mut at = 0;
            while at < self.setup.store_outages.len() {
                let mut smaller = self.setup.clone();
                let end = (at + size).min(smaller.store_outages.len());
                smaller.store_outages.drain(at..end);
                if !self.try_out(smaller) {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Leaves out all troubles of a provider, then halves of them.
    fn without_spells(&mut self) {
        for provider in 0..self.setup.providers.len() {
            let mut size = self.setup.providers[provider].spells.len();
            while size > 0 {
                let mut at = 0;
                while at < self.setup.providers[provider].spells.len() {
                    let mut smaller = self.setup.clone();
                    let spells = &mut smaller.providers[provider].spells;
                    let end = (at + size).min(spells.len());
                    spells.drain(at..end);
                    if !self.try_out(smaller) {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
    }
}
