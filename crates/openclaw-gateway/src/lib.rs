#![doc = include_str!("../README.md")]

mod admin;
pub mod agents;
mod attempt;
mod circuit;
mod credentials;
pub mod disk;
mod events;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod gateway;
mod http;
mod logins;
pub mod metrics;
pub mod older;
pub mod providers;
mod repair;
pub mod report;
pub mod secrets;
pub mod server;
mod sessions;
pub mod telemetry;
pub mod terminal_escape;
pub mod wires;

pub use agents::AgentError;
pub use gateway::{Gateway, PlacedProviderError, ReloadError, Setup, SetupError};
pub use openclaw_upstream::EndpointError;
pub use providers::ProviderError;
pub use telemetry::OtlpError;
