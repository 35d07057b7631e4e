#![doc = include_str!("../README.md")]

mod admin;
mod agents;
mod attempt;
mod causes;
pub mod cli;
pub mod config;
mod demo;
pub mod environment;
mod gateway;
pub mod history;
mod http;
pub mod metrics;
mod providers;
mod report;
mod server;
mod sessions;
mod shutdown;
mod telemetry;
mod upstream;

pub use agents::AgentError;
pub use gateway::{Gateway, PlacedProviderError, ReloadError, Setup, SetupError};
pub use providers::ProviderError;
pub use telemetry::OtlpError;
pub use upstream::{EndpointError, UpstreamError};

#[cfg(test)]
#[path = "../tests/it/scripted.rs"]
mod scripted;
