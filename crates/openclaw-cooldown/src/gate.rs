//! The gate: whether a candidate of a chain is attempted, probed or skipped (replaces ).

use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelId;

use crate::{Block, BlockKind, EndpointWindow, ProfileUsage, millis, profile_set_block, soonest_expiry};

/// At least this long between a transient probe and the last probe or failure.
const THROTTLE: Duration = Duration::from_secs(30);

/// A primary is probed when its soonest end is this near.
const NEAR_END: Duration = Duration::from_mins(2);

/// Long windows are probed once this passed, or a tenth of the window if that is longer (D7, G6).
const CHECKPOINT: Duration = Duration::from_mins(30);

/// An unpaid bill of the only candidate is probed once this passed (G6).
const ONLY_CANDIDATE_BILLING: Duration = Duration::from_mins(5);

/// What the gate decides on.
#[derive(Debug, Clone, Copy)]
pub struct GateFacts<'a> {
    /// The candidate's position in the chain.
    pub position: Position,
    /// Whether the chain has no other candidate.
    pub is_only_candidate: bool,
    /// The candidate's model.
    pub model: &'a ModelId,
    /// The candidate's whole profile set; a profile never used is `ProfileUsage::default()`.
    pub profiles: &'a [&'a ProfileUsage],
    /// The cooldown of the candidate's endpoint, if any.
    pub endpoint: Option<&'a EndpointWindow>,
    /// When the provider was last probed, by any run (G4).
    pub last_probe_at: Option<Timestamp>,
    /// Whether an earlier candidate has the same provider (G2).
    pub has_earlier_sibling: bool,
    /// Whether this run already used the provider's transient probe.
    pub slot: ProbeSlot,
}

/// A candidate's position in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Position {
    /// Any later candidate.
    Fallback,
    /// The first candidate.
    Primary,
}

/// The one transient probe per provider and run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProbeSlot {
    /// Not used yet.
    Free,
    /// Used.
    Used,
}

/// The gate's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Nothing blocks: attempt normally.
    Open,
    /// Blocked, but attempt it once to find out.
    Probe(Probe),
    /// Blocked: go on to the next candidate.
    Skip(Skip),
}

/// A permitted probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Why the candidate is blocked.
    pub reason: Reason,
    /// When it would be free again.
    pub soonest: Option<Timestamp>,
    /// Whether it takes the run's slot: transient probes only.
    pub takes_slot: bool,
}

/// A refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skip {
    /// Why the candidate is blocked.
    pub reason: Reason,
    /// Which text reports it.
    pub kind: SkipKind,
    /// When it would be free again.
    pub soonest: Option<Timestamp>,
    /// Whether it may be attempted when the whole walk found nothing: a transient block whose throttle is open (G3).
    pub last_resort: bool,
}

/// The three kinds of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipKind {
    /// The credential was refused.
    Auth,
    /// A window is active.
    Cooldown,
    /// This run already probed the provider.
    SlotUsed,
}

/// What blocks, as the table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockCause {
    Endpoint,
    Profiles(BlockKind),
}

/// When a blocked candidate is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Once a tenth of the window (at least 30 min) passed since the last failure or probe; alone, once 5 min did.
    Billing,
    /// Once a tenth of the stated window (at least 30 min) passed since it was stated or probed.
    Checkpoint,
    /// Never.
    Never,
    /// Never, except as last resort when no candidate is left.
    LastResort,
    /// Throttle open, and near the end or alone.
    NearEnd,
    /// A sibling came before, and the throttle is open.
    Sibling,
}

/// The decision table: blocked by, then what holds for the primary and for any other candidate.
#[rustfmt::skip]
const TABLE: [(BlockCause, Rule, Rule); 7] = [
    (BlockCause::Profiles(BlockKind::Auth),             Rule::Never,      Rule::Never),
    (BlockCause::Profiles(BlockKind::Billing),          Rule::Billing,    Rule::Never),
    (BlockCause::Profiles(BlockKind::Stated),           Rule::Checkpoint, Rule::Never),
    (BlockCause::Profiles(BlockKind::TransientModel),   Rule::NearEnd,    Rule::LastResort),
    (BlockCause::Profiles(BlockKind::TransientProfile), Rule::NearEnd,    Rule::Sibling),
    (BlockCause::Endpoint,                      Rule::NearEnd,    Rule::LastResort),
    (BlockCause::Profiles(BlockKind::ModelNotFound),    Rule::NearEnd,    Rule::Never),
];

/// Decides whether a candidate is attempted, probed or skipped at `now`.
///
/// A candidate is blocked when every profile of its set is, or when its endpoint cools down.
pub fn gate(facts: &GateFacts<'_>, now: Timestamp) -> Gate {
    let block = profile_set_block(facts.profiles.iter().copied(), Some(facts.model), now);
    let endpoint = facts.endpoint.filter(|window| window.is_active(now));
    let (blocked, reason) = match (block, endpoint) {
        (None, None) => return Gate::Open,
        (None, Some(_)) => (BlockCause::Endpoint, Reason::Timeout),
        // A sibling's probe would only meet the endpoint's cooldown.
        (Some(block), Some(_)) if block.kind == BlockKind::TransientProfile => {
            (BlockCause::Endpoint, block.reason)
        }
        (Some(block), _) => (BlockCause::Profiles(block.kind), block.reason),
    };
    let candidate = BlockedCandidate {
        facts,
        block,
        now,
        soonest: soonest(facts, block, endpoint, now),
    };
    candidate.decide(rule(blocked, facts.position), reason)
}

fn rule(blocked: BlockCause, position: Position) -> Rule {
    let row = TABLE.iter().find(|(row, ..)| *row == blocked);
    row.map_or(Rule::Never, |(_, primary, fallback)| match position {
        Position::Primary => *primary,
        Position::Fallback => *fallback,
    })
}

/// When both the endpoint and one of the profiles are free.
fn soonest(
    facts: &GateFacts<'_>,
    block: Option<Block>,
    endpoint: Option<&EndpointWindow>,
    now: Timestamp,
) -> Option<Timestamp> {
    let profiles = block.and_then(|_| soonest_expiry(facts.profiles.iter().copied(), Some(facts.model), now));
    profiles.max(endpoint.map(|window| window.until))
}

/// One blocked candidate at one instant.
struct BlockedCandidate<'a> {
    facts: &'a GateFacts<'a>,
    block: Option<Block>,
    now: Timestamp,
    soonest: Option<Timestamp>,
}

impl BlockedCandidate<'_> {
    fn decide(&self, rule: Rule, reason: Reason) -> Gate {
        let skip = |kind, last_resort| {
            Gate::Skip(Skip {
                reason,
                kind,
                soonest: self.soonest,
                last_resort,
            })
        };
        let probe = |takes_slot| {
            Gate::Probe(Probe {
                reason,
                soonest: self.soonest,
                takes_slot,
            })
        };
        let throttle_open = self.throttle_open();
        let transient = |due: bool| match (due, self.facts.slot) {
            (true, ProbeSlot::Used) => skip(SkipKind::SlotUsed, throttle_open),
            (true, ProbeSlot::Free) if throttle_open => probe(true),
            (true, ProbeSlot::Free) | (false, _) => skip(SkipKind::Cooldown, throttle_open),
        };
        match rule {
            Rule::Billing if self.billing_due() => probe(false),
            Rule::Checkpoint if self.checkpoint_due() => probe(false),
            Rule::LastResort => transient(false),
            Rule::NearEnd => transient(self.facts.is_only_candidate || self.is_near()),
            Rule::Billing | Rule::Checkpoint | Rule::Never => skip(self.refusal(), false),
            Rule::Sibling => transient(self.facts.has_earlier_sibling),
        }
    }

    fn refusal(&self) -> SkipKind {
        let refused = self.block.is_some_and(|block| block.kind == BlockKind::Auth);
        if refused {
            SkipKind::Auth
        } else {
            SkipKind::Cooldown
        }
    }

    /// G1: nearness holds for plain rate limits too.
    fn is_near(&self) -> bool {
        self.soonest
            .is_none_or(|soonest| millis::elapsed(self.now, soonest) <= NEAR_END)
    }

    /// A fault of the endpoint is a failure too, although no profile bears it: a cooldown that the next request
    /// breaks would be none (D4, BL-42).
    fn throttle_open(&self) -> bool {
        let fault = self.facts.endpoint.map(|window| window.opened_at);
        let failure = if self.facts.is_only_candidate {
            None
        } else {
            self.last_failure().max(fault)
        };
        self.passed(THROTTLE, self.facts.last_probe_at.max(failure))
    }

    fn billing_due(&self) -> bool {
        let wait = if self.facts.is_only_candidate {
            ONLY_CANDIDATE_BILLING
        } else {
            self.checkpoint()
        };
        self.passed(wait, self.facts.last_probe_at.max(self.last_failure()))
    }

    fn checkpoint_due(&self) -> bool {
        let opened_at = self.block.map(|block| block.opened_at);
        self.passed(self.checkpoint(), self.facts.last_probe_at.max(opened_at))
    }

    fn checkpoint(&self) -> Duration {
        let window = self
            .block
            .map(|block| millis::elapsed(block.opened_at, block.until));
        CHECKPOINT.max(window.unwrap_or_default() / 10)
    }

    fn last_failure(&self) -> Option<Timestamp> {
        self.facts
            .profiles
            .iter()
            .filter_map(|usage| usage.last_failure_at)
            .max()
    }

    /// Whether `wait` is over since `start`; at its end it is, and without a start too.
    fn passed(&self, wait: Duration, start: Option<Timestamp>) -> bool {
        start.is_none_or(|start| millis::elapsed(start, self.now) >= wait)
    }
}

#[cfg(test)]
mod tests;
