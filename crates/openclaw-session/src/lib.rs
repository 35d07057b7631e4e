#![doc = include_str!("../README.md")]

// The engine of the README, which is tested here, names the crate as its users do.
#[cfg(test)]
extern crate self as openclaw_session;

mod command;
mod entry;
mod fallback_override;
mod lifecycle;
mod live_switch;
mod notice;
mod primary_probe;
mod profile_pin;
mod status;
mod store;
#[cfg(test)]
mod testing;
mod turn_kind;
mod user_selection;

pub use command::{Command, CommandError, ModelArgument, parse_command};
pub use entry::{
    FailoverState, LastAnswer, ModelOverride, Notice, NoticeKind, NoticeState, OverrideSource, PinSource,
    ProfilePin, RunTrace, SelectionSnapshot, SessionEntry, StepOutcome, StoredPin, TraceStep, record_answer,
    record_trace,
};
pub use fallback_override::{
    FallbackChoice, PersistOutcome, Rollback, SkipCause, drop_override, drop_stale_override,
    is_stale_override, persist_fallback, roll_back,
};
pub use lifecycle::{
    Reset, RotationCause, SessionRotation, SpawnModel, copy_user_selection, effective_override,
    record_compaction, reset, spawn_with_model,
};
pub use live_switch::{
    ChainPosition, LiveRun, LiveSwitch, MAX_REDIRECTS, Progress, Redirect, RunSelection, SwitchOrigin,
    live_switch, redirect, switch_message,
};
pub use notice::{
    FailedAttempt, FinishedTurn, NoticeOutbox, NoticeTransition, acknowledge_notice, no_visible_reply_text,
    notice_transition, reason_summary, record_notice, selected_model,
};
pub use primary_probe::{
    PROBE_INTERVAL, PrimaryProbe, clear_after_probe, mark_probe, probe_due, settle_failed_probe,
    without_auto_selection,
};
pub use profile_pin::{
    OrderOrigin, PinDecision, PinFacts, ProfileAvailability, SessionAge, choose_pin, record_served_profile,
    store_pin,
};
pub use status::{ConfiguredModelSource, StatusFacts, report_lines, status_lines};
#[cfg(any(test, feature = "conformance"))]
pub use store::conformance;
pub use store::{
    CasOutcome, ImportedSessions, MemorySessionStore, Revision, SessionStore, StoreError, VersionedEntry,
    export_sessions_json, format_sessions_json, parse_sessions_json, update,
};
#[cfg(feature = "sqlite")]
pub use store::{OpenError, SqliteSessionStore};
pub use turn_kind::{TurnKind, TurnRights, preserves_user_state};
pub use user_selection::{
    LiveEffect, MergeOutcome, ModelChoice, ProfileChoice, UserSelection, apply_user_selection, merge,
};
