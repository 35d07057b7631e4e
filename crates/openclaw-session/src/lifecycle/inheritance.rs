//! Inheritance between sessions: parents, spawned children, cron jobs (S-1.4c, S-2.1 row L, S-2.4a, A5).

use jiff::Timestamp;
use openclaw_chain::{OverrideOwner, StoredOverride};
use openclaw_ids::{ModelRef, ProviderId};

use crate::entry::SessionEntry;
use crate::entry::{ModelOverride, PinSource, StoredPin};

/// The override that counts for a session, and its owner: its own, else its parent's with the parent's source, so
/// that a person's choice stays strict in the child (S-1.4c, A5).
pub fn effective_override(
    entry: &SessionEntry,
    parent: Option<&SessionEntry>,
    default_provider: &ProviderId,
) -> (StoredOverride, OverrideOwner) {
    let own = entry.stored_override(default_provider);
    if counts(&own) {
        return (own, OverrideOwner::Session);
    }
    let inherited = parent.map(|parent| parent.stored_override(default_provider));
    match inherited.filter(counts) {
        Some(inherited) => (inherited, OverrideOwner::Parent),
        None => (own, OverrideOwner::Session),
    }
}

fn counts(stored: &StoredOverride) -> bool {
    match stored {
        StoredOverride::Auto(_) | StoredOverride::Legacy(_) | StoredOverride::User(_) => true,
        StoredOverride::LegacyAuto | StoredOverride::None => false,
    }
}

/// The model that a sub-agent is spawned with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnModel {
    /// Configured for sub-agents; counts as automatic and as its own origin (S-1.3a).
    Configured(ModelRef),
    /// Named by the spawning run; counts as a person's.
    Explicit(ModelRef),
}

/// The entry of a sub-agent that is spawned with a model (S-2.1 row L).
#[must_use]
pub fn spawn_with_model(entry: &SessionEntry, model: &SpawnModel, now: Timestamp) -> SessionEntry {
    let mut next = entry.clone();
    next.model_override = match model {
        SpawnModel::Configured(model) => ModelOverride::fallback(model, model),
        SpawnModel::Explicit(model) => ModelOverride::user(model),
    };
    next.forget_ended_fallback();
    next.touch(now);
    next
}

/// The entry of a fresh cron session, which takes over what a person chose in the main session and nothing that was
/// chosen for them (S-2.4a).
#[must_use]
pub fn copy_user_selection(from: &SessionEntry, into: &SessionEntry, now: Timestamp) -> SessionEntry {
    let mut next = into.clone();
    if from.has_override() && !from.is_auto() {
        next.model_override = from.model_override.clone();
        next.forget_ended_fallback();
    }
    if let Some(pin) = from.profile_pin().filter(|pin| pin.source == PinSource::User) {
        next.pin = StoredPin::from(Some(pin));
    }
    next.touch(now);
    next
}

#[cfg(test)]
mod tests;
