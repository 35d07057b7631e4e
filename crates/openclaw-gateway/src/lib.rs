#![doc = include_str!("../README.md")]

mod admin;
pub mod agents;
mod attempt;
mod credentials;
mod gateway;
mod http;
mod logins;
pub mod providers;
pub mod report;
pub mod server;
pub mod state;
pub mod telemetry;

pub use agents::AgentError;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use gateway::fuzzing;
pub use gateway::{Gateway, Setup, USER_AGENT, retention};
pub use openclaw_upstream::EndpointError;
pub use providers::ProviderError;
pub use state::{ProviderRowError, ReloadError, SetupError};
pub use telemetry::OtlpError;
