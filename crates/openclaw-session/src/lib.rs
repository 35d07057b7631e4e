#![doc = include_str!("../README.md")]

mod answer;
mod command;
mod entry;
mod inherit;
mod lenient;
mod live_switch;
mod memory;
mod merge;
mod notice;
mod persist;
mod pin;
mod probe;
mod reset;
mod rollback;
mod selection;
mod sessions_json;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stale;
mod status;
mod store;
#[cfg(test)]
mod testing;
mod trace;
mod turn;
mod user_selection;

pub use answer::record_answer;
pub use command::{Command, CommandError, TypedModel, parse_command};
pub use entry::{Failover, NoticeState, Runtime, SessionEntry};
pub use inherit::{SpawnModel, copy_user_selection, effective_override, spawn_with_model};
pub use live_switch::{
    ChainPosition, LiveRun, LiveSwitch, MAX_REDIRECTS, Progress, Redirect, RunSelection, SwitchOrigin,
    live_switch, redirect, switch_message,
};
pub use memory::MemorySessionStore;
pub use merge::{Merge, merge};
pub use notice::{
    FailedAttempt, FinishedTurn, Notice, NoticeDesk, NoticeKind, Transition, acknowledge_notice,
    no_visible_reply_text, reason_summary, record_notice, selected_model, transition,
};
pub use persist::{PersistFallback, Persisted, SkipCause, persist_fallback};
pub use pin::{OrderOrigin, PinDecision, PinFacts, ProfileStanding, SessionAge, choose_pin, store_pin};
pub use probe::{
    PROBE_INTERVAL, PrimaryProbe, clear_after_probe, mark_probe, probe_due, settle_failed_probe,
    without_auto_selection,
};
pub use reset::{Reset, RotationCause, SessionRotated, compacted, reset};
pub use rollback::{Rollback, roll_back};
pub use selection::{OverrideSource, PinSource, ProfilePin, Route, SelectionSnapshot, StoredPin};
pub use sessions_json::{ImportedSessions, export_sessions_json, format_sessions_json, parse_sessions_json};
#[cfg(feature = "sqlite")]
pub use sqlite::{OpenError, Place, SqliteSessionStore, open_to_look};
pub use stale::{drop_override, drop_stale_override, is_stale_override};
pub use status::{ConfiguredBy, StatusFacts, report_lines, status_lines};
pub use store::{CasOutcome, Revision, SessionStore, StoreError, Versioned, update};
pub use trace::{RunTrace, StepOutcome, TraceStep, record_trace};
pub use turn::{TurnKind, TurnRights, preserves_user_state};
pub use user_selection::{LiveEffect, ModelChoice, ProfileChoice, UserSelection, apply_user_selection};
