#![doc = include_str!("../README.md")]

mod admin;
mod agents;
mod attempt;
mod circuit;
pub mod cli;
pub mod config;
mod credentials;
mod demo;
mod disk;
pub mod environment;
mod events;
mod exposed;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gateway;
mod http;
mod layout;
mod logins;
pub mod metrics;
mod older;
mod open_files;
mod providers;
mod repair;
mod report;
mod secrets;
mod server;
mod sessions;
mod shutdown;
mod telemetry;
mod visible;
mod wires;

pub use agents::AgentError;
pub use gateway::{Gateway, PlacedProviderError, ReloadError, Setup, SetupError};
pub use openclaw_upstream::EndpointError;
pub use providers::ProviderError;
pub use telemetry::OtlpError;
