//! The automatic override of a fallback: written before its attempt, rolled back after a failure, dropped when stale.

mod fallback_choice;
mod rollback;
mod stale_override;

pub use fallback_choice::{FallbackChoice, PersistOutcome, SkipCause, persist_fallback};
pub use rollback::{Rollback, roll_back};
pub use stale_override::{drop_override, drop_stale_override, is_stale_override};
