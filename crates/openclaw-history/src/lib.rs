#![doc = include_str!("../README.md")]

mod entry;
pub mod explain;
mod millis;
mod operator_change;
pub mod recording;
pub mod replay;
#[cfg(feature = "sqlite")]
mod store;
mod window_changes;

pub use entry::{BrokenAnswer, CooldownTarget, Entry, Record, RunNote, RunOutcome, WindowChange, WindowNote};
pub use operator_change::commit_operator_change;
#[cfg(feature = "sqlite")]
pub use store::{
    History, HistoryError, HistoryReader, Retention, RunFilter, StoredRecord, StoredRun, StoredStory,
    StoredWindow, WindowFilter, history_path,
};
pub use window_changes::window_changes;
