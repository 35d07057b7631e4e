//! What commands share that read the history.

use std::path::PathBuf;

use super::CommandError;
use super::files::Files;
use crate::history::{HistoryReader, Rested, WindowChange, WindowNote, history_path};

/// There is no history yet.
#[derive(Debug, thiserror::Error)]
#[error(
    "there is no history in {}: no gateway has answered a request here yet, or it is switched off by history.enabled",
    .0.display()
)]
struct NoHistory(PathBuf);

/// The history of the state directory.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(super) fn open(files: &Files) -> Result<HistoryReader, CommandError> {
    let found = HistoryReader::open(&files.state_dir)?;
    Ok(found.ok_or_else(|| NoHistory(history_path(&files.state_dir)))?)
}

/// What a window is about, for people.
pub(super) fn rested(note: &WindowNote) -> String {
    match &note.rested {
        Rested::Profile { profile, lane } => match lane {
            openclaw_cooldown::Lane::Model(model) => format!("{profile} for {model}"),
            openclaw_cooldown::Lane::AuthPermanent
            | openclaw_cooldown::Lane::Billing
            | openclaw_cooldown::Lane::Blocked
            | openclaw_cooldown::Lane::Profile => profile.to_string(),
        },
        Rested::Endpoint { endpoint } => format!("address of {endpoint}"),
    }
}

/// What happened to a window, for people.
pub(super) fn window_word(change: WindowChange) -> &'static str {
    match change {
        WindowChange::Cleared => "set free",
        WindowChange::Extended => "made longer",
        WindowChange::Opened => "opened",
        WindowChange::Shortened => "made shorter",
    }
}
