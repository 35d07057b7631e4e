#![doc = include_str!("../README.md")]

mod config;
mod endpoint;
mod event;
mod explain;
mod gate;
mod lane;
mod manual;
mod millis;
mod mirror;
mod query;
mod record;
mod recover;
mod stats;
#[cfg(test)]
mod testing;
mod usage;
mod usage_probe;
mod wait;
mod window;

pub use config::CooldownConfig;
pub use endpoint::{EndpointWindow, endpoint_failed};
pub use event::{FailureEvent, MarkScope, SuccessEvent};
pub use explain::explain;
pub use gate::{Gate, GateFacts, Position, Probe, Skip, SkipKind, Slot, gate};
pub use lane::{Lane, UnknownLane};
pub use manual::{clear_lane, rest_until};
pub use mirror::{adopt_foreign, mirror};
pub use query::{Block, BlockKind, soonest_expiry, unavailable};
pub use record::record;
pub use recover::{adopt_secret, clear, succeed};
pub use stats::{BlockedSource, UsageStats};
pub use usage::ProfileUsage;
pub use usage_probe::{
    UsageCredential, UsageEffect, UsageFinding, UsageProbe, UsageQuestion, UsageReply, Wham, codex_reset,
};
pub use window::{BlockedOrigin, Window};
