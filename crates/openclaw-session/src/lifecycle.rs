//! How a session starts, starts over and goes on: inheritance, reset, compaction.

mod inheritance;
mod reset;

pub use inheritance::{SpawnModel, copy_user_selection, effective_override, spawn_with_model};
pub use reset::{Reset, RotationCause, SessionRotation, record_compaction, reset};
