#![doc = include_str!("../README.md")]

mod entry;
mod lenient;
mod memory;
mod persist;
mod rollback;
mod selection;
mod store;

pub use entry::{Failover, NoticeState, Runtime, SessionEntry};
pub use memory::MemorySessionStore;
pub use persist::{PersistFallback, Persisted, SkipCause, persist_fallback};
pub use rollback::{Rollback, roll_back};
pub use selection::{
    OverrideSource, PinSource, ProfilePin, Route, SelectionSnapshot, StoredPin, UnknownSource,
};
pub use store::{CasOutcome, Revision, SessionStore, StoreError, Versioned, update};

#[cfg(test)]
mod fixtures;
