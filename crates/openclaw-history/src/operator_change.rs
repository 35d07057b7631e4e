//! What a person changes about when something rests, outside of any run.

use jiff::Timestamp;
use openclaw_auth_store::{ChangeOutcome, StoreError, UsageChange, UsageStore};
use openclaw_ids::AgentId;
use openclaw_runner::Resting;

use crate::entry::WindowNote;
use crate::window_changes::window_changes;

/// Makes a change that a person asked for, and says what it did to windows.
///
/// # Errors
/// As the store's own commit.
pub async fn commit_by_person<U: UsageStore>(
    agent: &AgentId,
    store: &U,
    change: UsageChange,
    now: Timestamp,
) -> Result<(ChangeOutcome, Vec<WindowNote>), StoreError> {
    let before = Resting::of(&change, &store.snapshot());
    let made = change.clone();
    let applied = store.commit(change, now).await?;
    let after = Resting::of(&made, &store.snapshot());
    let notes = before.zip(after);
    let notes = notes.map(|(before, after)| window_changes(agent, None, &before, &after, now));
    Ok((applied, notes.unwrap_or_default()))
}
