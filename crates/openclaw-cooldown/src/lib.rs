#![doc = include_str!("../README.md")]

mod availability;
mod config;
mod endpoint;
mod event;
mod gate;
mod ladder;
mod millis;
#[cfg(test)]
mod testing;
mod transition;
mod usage_probe;
mod usage_state;
mod usage_stats;

pub use availability::{Block, BlockKind, soonest_expiry, unavailable};
pub use config::CooldownConfig;
pub use endpoint::{EndpointWindow, endpoint_failed};
pub use event::{FailureEvent, MarkScope, SuccessEvent};
pub use gate::{Gate, GateFacts, Position, Probe, Skip, SkipKind, Slot, gate};
pub use transition::{adopt_secret, clear, clear_lane, explain, record, rest_until, succeed};
pub use usage_probe::{
    UsageCredential, UsageEffect, UsageFinding, UsageProbe, UsageQuestion, UsageReply, Wham, codex_reset,
};
pub use usage_state::{BlockedOrigin, BlockedSource, Lane, ProfileUsage, UnknownLane, Window};
pub use usage_stats::{UsageStats, adopt_foreign, mirror};
