//! Availability: which window blocks a profile or a set of profiles, why, and until when (D15, R-10.3).

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelId;

use crate::usage_stats::stored_reason;
use crate::{Lane, ProfileUsage, Window};

/// The window that keeps a profile from serving a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Why the window is open.
    pub reason: Reason,
    /// The first instant that is free again.
    pub until: Timestamp,
    /// When the window's latest episode began.
    pub opened_at: Timestamp,
    /// Which row of the gate's table applies.
    pub kind: BlockKind,
}

/// The kinds of blocks that the gate treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// The credential was refused.
    Auth,
    /// The bill is unpaid or the balance used up.
    Billing,
    /// The provider does not have the model.
    ModelNotFound,
    /// The provider stated the end (D7).
    Stated,
    /// A transient failure of this model alone.
    TransientModel,
    /// A transient failure of the whole profile.
    TransientProfile,
}

/// Which reason to name first when windows end at the same time (cooldown.md 1.1); absent ones come last.
const PRIORITY: &[Reason] = &[
    Reason::AuthPermanent,
    Reason::Auth,
    Reason::Billing,
    Reason::Format,
    Reason::ModelNotFound,
    Reason::Overloaded,
    Reason::Timeout,
    Reason::RateLimit,
    Reason::EmptyResponse,
    Reason::NoErrorDetails,
    Reason::Unclassified,
    Reason::Unknown,
];

impl ProfileUsage {
    /// The active window that blocks `model` on this profile; the latest-ending one, ties by priority (D15).
    /// `None` as model asks whether any window is active.
    pub fn block(&self, model: Option<&ModelId>, now: Timestamp) -> Option<Block> {
        self.blocking(model, now)
            .map(|(lane, window)| block_of(lane, window))
            .max_by_key(rank)
    }
}

/// Why a set of profiles can't serve `model`: the latest-ending block, ties by priority (D15). `None` when a
/// profile is usable, and for an empty set.
pub fn profile_set_block<'a>(
    usages: impl IntoIterator<Item = &'a ProfileUsage>,
    model: Option<&ModelId>,
    now: Timestamp,
) -> Option<Block> {
    let blocks: Option<Vec<Block>> = usages.into_iter().map(|usage| usage.block(model, now)).collect();
    blocks?.into_iter().max_by_key(rank)
}

/// When the first of `usages` may serve `model` again, over the windows that block it (D15).
///
/// A rate limit of this very model alone counts by its latest end among the profiles, everything else by its
/// earliest. `None` when nothing blocks.
pub fn soonest_expiry<'a>(
    usages: impl IntoIterator<Item = &'a ProfileUsage>,
    model: Option<&ModelId>,
    now: Timestamp,
) -> Option<Timestamp> {
    let mut matching: Option<Timestamp> = None;
    let mut others: Option<Timestamp> = None;
    for usage in usages {
        let Some(until) = usage.blocking(model, now).map(|(_, window)| window.until).max() else {
            continue;
        };
        let limited =
            |(lane, window): (&Lane, &Window)| !lane.is_profile_wide() && window.reason == Reason::RateLimit;
        if model.is_some() && usage.blocking(model, now).all(limited) {
            matching = matching.max(Some(until));
        } else {
            others = Some(others.map_or(until, |known| known.min(until)));
        }
    }
    [matching, others].into_iter().flatten().min()
}

fn rank(block: &Block) -> (Timestamp, std::cmp::Reverse<usize>) {
    let reason = stored_reason(block.reason);
    let place = PRIORITY
        .iter()
        .position(|row| *row == reason)
        .unwrap_or(PRIORITY.len());
    (block.until, std::cmp::Reverse(place))
}

fn block_of(lane: &Lane, window: &Window) -> Block {
    Block {
        reason: window.reason,
        until: window.until,
        opened_at: window.opened_at,
        kind: kind(lane, window),
    }
}

fn kind(lane: &Lane, window: &Window) -> BlockKind {
    match (lane, window.reason) {
        (Lane::AuthPermanent, _) | (_, Reason::Auth | Reason::AuthPermanent) => BlockKind::Auth,
        (Lane::Billing, _) | (_, Reason::Billing) => BlockKind::Billing,
        (_, Reason::ModelNotFound) => BlockKind::ModelNotFound,
        (Lane::Blocked, _) => BlockKind::Stated,
        (Lane::Model(_) | Lane::Profile, _) if window.stated.is_some() => BlockKind::Stated,
        (Lane::Model(_), _) => BlockKind::TransientModel,
        (Lane::Profile, _) => BlockKind::TransientProfile,
    }
}

#[cfg(test)]
mod tests;
