//! Drops overrides: automatic ones that are stale, and ones that may not be used (S-7, S-2.1d, S-2.2d).

use jiff::Timestamp;
use openclaw_ids::ModelRef;

use crate::entry::ModelOverride;
use crate::entry::{LastAnswer, NoticeState, SessionEntry};

/// Whether a heartbeat turn must not use this session's own automatic override, because it replaces another
/// model than `primary` (S-7.1).
///
/// The model it replaces is its origin, else the model last announced as selected, else the override itself (S-7.2).
/// `resolve` normalises a reference the way the configuration does. Only the session's own override is meant, never an
/// inherited one.
pub fn is_stale_override(
    entry: &SessionEntry,
    primary: &ModelRef,
    resolve: &dyn Fn(&str) -> Option<ModelRef>,
) -> bool {
    entry.has_override() && entry.is_auto() && replaced_model(entry, resolve).as_ref() != Some(primary)
}

fn replaced_model(entry: &SessionEntry, resolve: &dyn Fn(&str) -> Option<ModelRef>) -> Option<ModelRef> {
    let named = || match (&entry.model_override.provider, &entry.model_override.model) {
        (Some(provider), Some(model)) => Some(ModelRef::new(provider.clone(), model.clone()).key()),
        (None, Some(model)) => Some(model.to_string()),
        (_, None) => None,
    };
    match entry.origin() {
        Some(origin) => resolve(&origin.key()).or(Some(origin)),
        None => entry
            .notice
            .selected
            .clone()
            .or_else(named)
            .and_then(|text| resolve(&text)),
    }
}

/// Removes a stale override; the turn runs on `primary` (S-7.3). The auth pin stays, or is the one that a person took
/// before the fallback; what the last answer came from goes when it was another model.
#[must_use]
pub fn drop_stale_override(entry: &SessionEntry, primary: &ModelRef, now: Timestamp) -> SessionEntry {
    let mut next = drop_override(entry, now);
    if !next.last_answer.names_no_model() && next.last_answer.model_ref().as_ref() != Some(primary) {
        next.last_answer = LastAnswer::default();
    }
    next
}

/// Removes an override that cannot be used: one the allowlist does not permit (S-2.1d), or an automatic one without
/// an origin (S-2.2d).
#[must_use]
pub fn drop_override(entry: &SessionEntry, now: Timestamp) -> SessionEntry {
    let mut next = entry.clone();
    next.model_override = ModelOverride::default();
    next.unpark_pin();
    next.forget_ended_fallback();
    next.notice = NoticeState::default();
    next.touch(now);
    next
}

#[cfg(test)]
mod tests;
