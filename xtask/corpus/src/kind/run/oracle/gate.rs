//! Whether a resting candidate is skipped or probed (R-4.4, and the table that replaces it).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::state::{Block, CredentialView, Lane};
use crate::kind::Switches;
use crate::kind::cooldown::oracle::{MINUTE, view::STRENGTH};

/// At least so long between probes.
const THROTTLE: i64 = 30_000;
/// So near to the end a primary is probed.
const NEAR: i64 = 120_000;

/// Everything that counts for one candidate.
pub(super) struct Case<'a> {
    pub(super) on: &'a Switches,
    pub(super) now: i64,
    pub(super) place: CandidatePosition,
    /// An earlier candidate has the same provider.
    pub(super) sibling: bool,
    pub(super) slot_used: bool,
    pub(super) probed: Option<i64>,
    pub(super) seen: &'a [CredentialView],
    pub(super) soonest: Option<i64>,
}

/// Where the candidate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CandidatePosition {
    /// First and last.
    Alone,
    First,
    Later,
}

/// What becomes of the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gate {
    Probe {
        reason: String,
        takes_slot: bool,
    },
    Skip {
        reason: String,
        why: SkipCause,
        last_resort: bool,
    },
}

/// The three texts of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkipCause {
    Auth,
    Cooldown,
    Slot,
}

impl Case<'_> {
    pub(super) fn gate(&self) -> Gate {
        let block = self.latest();
        let reason = if self.on.holds("D15") {
            block.map_or("unknown", |block| &block.reason).to_owned()
        } else {
            self.scored()
        };
        let stated = block.filter(|block| matches!(block.lane, Lane::Blocked { .. }) && self.on.holds("D7"));
        let open = self.throttle_open();
        let skip = |why, last_resort| Gate::Skip {
            reason: reason.clone(),
            why,
            last_resort,
        };
        let probe = |takes_slot| Gate::Probe {
            reason: reason.clone(),
            takes_slot,
        };
        match reason.as_str() {
            "auth" | "auth_permanent" => skip(SkipCause::Auth, false),
            "billing" if self.is_first() && self.bill_due(block, open) => probe(false),
            "billing" => skip(SkipCause::Cooldown, false),
            _ if stated.is_some() => {
                let since = self.probed.max(stated.map(|block| block.opened));
                if self.is_first() && self.passed(checkpoint(stated), since) {
                    probe(false)
                } else {
                    skip(SkipCause::Cooldown, false)
                }
            }
            "model_not_found" if !self.is_first() => skip(SkipCause::Cooldown, false),
            "format" if !self.is_first() && !self.on.holds("D15") => skip(SkipCause::Cooldown, false),
            "format" | "model_not_found" if !self.on.holds("D15") => {
                if self.due(&reason, open) {
                    probe(false)
                } else {
                    skip(SkipCause::Cooldown, false)
                }
            }
            _ => {
                let due = if self.is_first() {
                    self.due(&reason, open)
                } else {
                    self.lent(block)
                };
                if !due {
                    skip(SkipCause::Cooldown, open)
                } else if self.slot_used {
                    skip(SkipCause::Slot, open)
                } else if self.is_first() || open || !self.on.holds("G2") {
                    probe(true)
                } else {
                    skip(SkipCause::Cooldown, open)
                }
            }
        }
    }

    fn is_first(&self) -> bool {
        self.place != CandidatePosition::Later
    }

    fn is_alone(&self) -> bool {
        self.place == CandidatePosition::Alone
    }

    ///
    fn due(&self, reason: &str, open: bool) -> bool {
        let reset = self.seen.iter().flat_map(|seen| &seen.blocks);
        let reset = reset
            .into_iter()
            .any(|block| block.lane == Lane::Blocked { sourced: true });
        let eager = reason == "rate_limit" && !reset && !self.on.holds("G1");
        let near = self.soonest.is_none_or(|soonest| self.now >= soonest - NEAR);
        open && (self.is_alone() || eager || near)
    }

    /// Whether a later candidate may be probed.
    fn lent(&self, block: Option<&Block>) -> bool {
        let whole = block.is_none_or(|block| block.lane != Lane::Model);
        !self.on.holds("G2") || self.sibling && whole
    }

    fn bill_due(&self, block: Option<&Block>, open: bool) -> bool {
        if !self.on.holds("G6") {
            return self.due("billing", open);
        }
        let wait = if self.is_alone() {
            5 * MINUTE
        } else {
            checkpoint(block)
        };
        self.passed(wait, self.probed.max(self.failed()))
    }

    fn throttle_open(&self) -> bool {
        let failed = self.failed().filter(|_| self.on.holds("G4") && !self.is_alone());
        self.passed(THROTTLE, self.probed.max(failed))
    }

    fn failed(&self) -> Option<i64> {
        self.seen.iter().filter_map(|seen| seen.failed).max()
    }

    fn passed(&self, wait: i64, since: Option<i64>) -> bool {
        since.is_none_or(|since| self.now - since >= wait)
    }

    /// D15: the window that ends last, the strongest of those that end together.
    fn latest(&self) -> Option<&Block> {
        let blocks = self.seen.iter().flat_map(|seen| &seen.blocks);
        blocks.max_by_key(|block| (block.until, Reverse(strength(&block.reason))))
    }

    ///
    fn scored(&self) -> String {
        let mut scores: BTreeMap<String, i64> = BTreeMap::new();
        for seen in self.seen {
            let has = |lane: fn(&Lane) -> bool| seen.blocks.iter().find(|block| lane(&block.lane));
            let shut = has(|lane| *lane == Lane::Disabled).filter(|block| strength(&block.reason) < 99);
            if let Some(block) = shut {
                *scores.entry(block.reason.clone()).or_default() += 1000;
            } else if has(|lane| matches!(lane, Lane::Blocked { .. })).is_some() {
                *scores.entry("rate_limit".to_owned()).or_default() += 1000;
            } else if has(|lane| matches!(lane, Lane::Model | Lane::Short)).is_some() {
                let counts = seen
                    .counts
                    .iter()
                    .filter(|(reason, count)| *count > 0 && strength(reason) < 99);
                let counts: Vec<_> = counts.cloned().collect();
                if counts.is_empty() {
                    *scores.entry("unknown".to_owned()).or_default() += 1;
                }
                for (reason, count) in counts {
                    *scores.entry(reason).or_default() += count;
                }
            }
        }
        let best = scores
            .into_iter()
            .max_by_key(|(reason, score)| (*score, Reverse(strength(reason))));
        best.map_or_else(|| "unknown".to_owned(), |(reason, _)| reason)
    }
}

/// D7, G6: half an hour, or a tenth of the window.
fn checkpoint(block: Option<&Block>) -> i64 {
    block
        .map_or(0, |block| (block.until - block.opened) / 10)
        .max(30 * MINUTE)
}

fn strength(reason: &str) -> usize {
    STRENGTH
        .split(' ')
        .position(|known| known == reason)
        .unwrap_or(99)
}
