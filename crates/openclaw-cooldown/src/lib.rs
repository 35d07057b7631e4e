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

pub use availability::{Block, BlockKind, profile_set_block, soonest_expiry};
pub use config::CooldownConfig;
pub use endpoint::{EndpointWindow, record_endpoint_failure};
pub use event::{FailureEvent, MarkScope, SuccessEvent};
pub use gate::{Gate, GateFacts, Position, Probe, ProbeSlot, Skip, SkipKind, gate};
pub use transition::{
    adopt_secret, apply_stated_end, clear, clear_lane, cool_down_until, record_failure, record_success,
};
pub use usage_probe::{
    ChatGptUsageProbe, UsageCredential, UsageEffect, UsageFinding, UsageProbe, UsageReply, UsageRequest,
    codex_reset,
};
pub use usage_state::{BlockedOrigin, BlockedSource, Lane, ParseLaneError, ProfileUsage, Window};
pub use usage_stats::{UsageStats, adopt_usage_stats, to_usage_stats};
