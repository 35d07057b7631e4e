//! The automatic override of a fallback: written before its attempt, rolled back after a failure, dropped when stale.

mod persist;
mod rollback;
mod stale;

pub use persist::{FallbackChoice, PersistOutcome, SkipCause, persist_fallback};
pub use rollback::{Rollback, roll_back};
pub use stale::{drop_override, drop_stale_override, is_stale_override};
