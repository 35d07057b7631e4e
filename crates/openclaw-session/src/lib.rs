#![doc = include_str!("../README.md")]

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

pub use command::{Command, CommandError, TypedModel, parse_command};
pub use entry::{
    Failover, Notice, NoticeKind, NoticeState, OverrideSource, PinSource, ProfilePin, Route, RunTrace,
    Runtime, SelectionSnapshot, SessionEntry, StepOutcome, StoredPin, TraceStep, record_answer, record_trace,
};
pub use fallback_override::{
    PersistFallback, Persisted, Rollback, SkipCause, drop_override, drop_stale_override, is_stale_override,
    persist_fallback, roll_back,
};
pub use lifecycle::{
    Reset, RotationCause, SessionRotated, SpawnModel, compacted, copy_user_selection, effective_override,
    reset, spawn_with_model,
};
pub use live_switch::{
    ChainPosition, LiveRun, LiveSwitch, MAX_REDIRECTS, Progress, Redirect, RunSelection, SwitchOrigin,
    live_switch, redirect, switch_message,
};
pub use notice::{
    FailedAttempt, FinishedTurn, NoticeDesk, Transition, acknowledge_notice, no_visible_reply_text,
    reason_summary, record_notice, selected_model, transition,
};
pub use primary_probe::{
    PROBE_INTERVAL, PrimaryProbe, clear_after_probe, mark_probe, probe_due, settle_failed_probe,
    without_auto_selection,
};
pub use profile_pin::{
    OrderOrigin, PinDecision, PinFacts, ProfileStanding, SessionAge, choose_pin, store_pin,
};
pub use status::{ConfiguredBy, StatusFacts, report_lines, status_lines};
pub use store::{
    CasOutcome, ImportedSessions, MemorySessionStore, Revision, SessionStore, StoreError, Versioned,
    export_sessions_json, format_sessions_json, parse_sessions_json, update,
};
#[cfg(feature = "sqlite")]
pub use store::{OpenError, Place, SqliteSessionStore, open_to_look};
pub use turn_kind::{TurnKind, TurnRights, preserves_user_state};
pub use user_selection::{
    LiveEffect, Merge, ModelChoice, ProfileChoice, UserSelection, apply_user_selection, merge,
};
