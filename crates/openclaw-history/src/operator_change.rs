//! Changes of cooldowns by an operator, outside of any run.

use jiff::Timestamp;
use openclaw_auth_store::{ChangeOutcome, StoreError, UsageChange, UsageStore};
use openclaw_ids::AgentId;
use openclaw_runner::CooldownWindows;

use crate::entry::WindowNote;
use crate::window_changes::window_changes;

/// Commits a change that an operator made, and returns what it did to cooldown windows.
///
/// # Errors
/// As the store's own commit.
pub async fn commit_operator_change<U: UsageStore>(
    agent: &AgentId,
    store: &U,
    change: UsageChange,
    now: Timestamp,
) -> Result<(ChangeOutcome, Vec<WindowNote>), StoreError> {
    let before = CooldownWindows::of(&change, &store.snapshot());
    let made = change.clone();
    let applied = store.commit(change, now).await?;
    let after = CooldownWindows::of(&made, &store.snapshot());
    let notes = before.zip(after);
    let notes = notes.map(|(before, after)| window_changes(agent, None, &before, &after, now));
    Ok((applied, notes.unwrap_or_default()))
}
