//! The profile pin: which auth profile a turn starts with, and what its session remembers (S-5, R5, R6).

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};

use crate::entry::SessionEntry;
use crate::entry::{PinSource, ProfilePin, StoredPin};

/// Whether a profile can be used for the requested provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileAvailability {
    /// It belongs to other providers.
    Incompatible,
    /// There is no such profile.
    Missing,
    /// It is in cooldown, disabled or blocked.
    CoolingDown,
    /// It can be used now.
    Usable,
}

/// Where the rotation order came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderOrigin {
    /// Worked out from what was used last.
    Derived,
    /// Configured by a person; an automatic pin never outranks it (R6).
    Explicit,
}

/// Whether the session is new in this turn (`/new`, `/reset`, expiry, or the very first one).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionAge {
    /// The transcript goes on.
    Continuing,
    /// Its first turn.
    New,
}

/// What the choice of a pin depends on.
pub struct PinFacts<'a> {
    /// The provider's rotation order; empty when it has no profile.
    pub order: &'a [ProfileId],
    /// Where that order came from.
    pub origin: OrderOrigin,
    /// Whether a profile can be used.
    pub availability: &'a dyn Fn(&ProfileId) -> ProfileAvailability,
    /// Whether this is the session's first turn.
    pub session: SessionAge,
}

/// A turn's profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinDecision {
    /// What this run starts with; a person's pin is strict (R5).
    pub run: Option<ProfilePin>,
    /// What the entry remembers from now on, when that differs from what it holds.
    pub stored: Option<StoredPin>,
}

/// Chooses the profile once per turn, for the requested provider (S-5.1a).
///
/// A pin that cannot be right is dropped first (S-5.2). Then, in this order: a person's pin stays whatever happens to
/// it (R5), a new session moves on, a pin in cooldown is replaced for this run only (R6), a compaction moves on, a
/// missing pin, or one in cooldown, becomes the first usable profile, and else the pin stays (S-5.3). Under an explicit order
/// an automatic pin is always the first usable profile of it (R6). Else the profile that served the session last for this
/// provider is used where a pin is missing or rests (F-2).
///
/// That a new session ends a person's pin is the work of [`reset`](crate::reset): one that is there in the first turn
/// was taken after it.
pub fn choose_pin(entry: &SessionEntry, facts: &PinFacts<'_>) -> PinDecision {
    let pinned = entry.profile_pin().filter(|pin| facts.accepts(pin));
    let Some(first) = facts.first() else {
        let stored = if pinned.is_some() {
            entry.pin.clone()
        } else {
            StoredPin::default()
        };
        return decision(entry, None, stored);
    };
    let served_last = facts.served_last(entry).unwrap_or(first);
    let Some(pinned) = pinned else {
        return remember(entry, served_last);
    };
    let usable = facts.is_usable(&pinned.profile);
    match (facts.session, pinned.source) {
        (SessionAge::New | SessionAge::Continuing, PinSource::User) => {
            decision(entry, Some(pinned), entry.pin.clone())
        }
        (SessionAge::New, PinSource::Auto) => remember(entry, facts.after(&pinned.profile, first)),
        (SessionAge::Continuing, PinSource::Auto) if !usable && facts.is_usable(first) => {
            decision(entry, Some(automatic(served_last)), entry.pin.clone())
        }
        (SessionAge::Continuing, PinSource::Auto) if facts.origin == OrderOrigin::Explicit => {
            remember(entry, first)
        }
        (SessionAge::Continuing, PinSource::Auto) if was_compacted(entry) => {
            remember(entry, facts.after(&pinned.profile, first))
        }
        (SessionAge::Continuing, PinSource::Auto) if !usable => remember(entry, first),
        (SessionAge::Continuing, PinSource::Auto) => remember(entry, &pinned.profile),
    }
}

/// Writes what a decision remembers, and only the pin (S-5.3c); `None` when there is nothing to write.
///
/// Decide and store inside one [`update`](crate::update), so that two turns of one session move the pin once (BL-76).
pub fn store_pin(entry: &SessionEntry, decision: &PinDecision, now: Timestamp) -> Option<SessionEntry> {
    let mut next = entry.clone();
    next.pin = decision.stored.clone()?;
    next.touch(now);
    Some(next)
}

/// Remembers which profile served the session for `provider`, unless it is the pin anyway (F-2); `None` when there is
/// nothing to write.
pub fn record_served_profile(
    entry: &SessionEntry,
    provider: &ProviderId,
    profile: &ProfileId,
) -> Option<SessionEntry> {
    let pinned = entry.profile_pin().is_some_and(|pin| pin.profile == *profile);
    if pinned || entry.failover.sticky_profiles.get(provider) == Some(profile) {
        return None;
    }
    let mut next = entry.clone();
    next.failover
        .sticky_profiles
        .insert(provider.clone(), profile.clone());
    Some(next)
}

impl SessionEntry {
    /// The profiles that served the session last, by provider, where they are not its pin (F-2).
    pub fn sticky_profiles(&self) -> impl Iterator<Item = (&ProviderId, &ProfileId)> {
        self.failover.sticky_profiles.iter()
    }
}

impl PinFacts<'_> {
    /// The profile that served the session last for this provider, while it can be used.
    fn served_last<'p>(&'p self, entry: &SessionEntry) -> Option<&'p ProfileId> {
        if self.origin == OrderOrigin::Explicit || self.session == SessionAge::New {
            return None;
        }
        let sticky = |id: &&ProfileId| entry.failover.sticky_profiles.values().any(|known| known == *id);
        self.order.iter().filter(|id| self.is_usable(id)).find(sticky)
    }

    /// Whether a pin can be right for this provider (S-5.2).
    fn accepts(&self, pin: &ProfilePin) -> bool {
        let known = match (self.availability)(&pin.profile) {
            ProfileAvailability::Incompatible | ProfileAvailability::Missing => false,
            ProfileAvailability::CoolingDown | ProfileAvailability::Usable => true,
        };
        let listed = self.order.is_empty() || self.order.contains(&pin.profile);
        known && (listed || pin.source == PinSource::User)
    }

    fn is_usable(&self, profile: &ProfileId) -> bool {
        (self.availability)(profile) == ProfileAvailability::Usable
    }

    /// The first usable profile, else the first.
    fn first(&self) -> Option<&ProfileId> {
        let usable = self.order.iter().find(|profile| self.is_usable(profile));
        usable.or(self.order.first())
    }

    /// Where a pin moves on to: the next usable profile round the order, itself included; under an explicit order
    /// its `first`.
    fn after<'p>(&'p self, pinned: &'p ProfileId, first: &'p ProfileId) -> &'p ProfileId {
        match self.origin {
            OrderOrigin::Explicit => first,
            OrderOrigin::Derived => {
                let start = self
                    .order
                    .iter()
                    .position(|profile| profile == pinned)
                    .map_or(0, |at| at + 1);
                let (before, behind) = self.order.split_at(start);
                let mut walk = behind.iter().chain(before);
                walk.find(|profile| self.is_usable(profile)).unwrap_or(pinned)
            }
        }
    }
}

/// Whether the session was compacted since the pin was taken; a pin that does not say when counts as of now.
fn was_compacted(entry: &SessionEntry) -> bool {
    let taken_at = entry.pin.compaction_count;
    taken_at.is_some_and(|taken_at| entry.compaction_count > taken_at)
}

fn automatic(profile: &ProfileId) -> ProfilePin {
    ProfilePin {
        profile: profile.clone(),
        source: PinSource::Auto,
    }
}

/// Runs with `profile` and stores it as an automatic pin of this compaction (S-5.3a).
fn remember(entry: &SessionEntry, profile: &ProfileId) -> PinDecision {
    let stored = StoredPin {
        profile: Some(profile.clone()),
        source: Some(PinSource::Auto),
        compaction_count: Some(entry.compaction_count),
    };
    decision(entry, Some(automatic(profile)), stored)
}

fn decision(entry: &SessionEntry, run: Option<ProfilePin>, stored: StoredPin) -> PinDecision {
    PinDecision {
        run,
        stored: (stored != entry.pin).then_some(stored),
    }
}

#[cfg(test)]
mod tests;
