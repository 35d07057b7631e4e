//! What requests are answered from: the state of the process, and the configuration that is used at the moment.

mod agent_snapshot;
mod auth_throttle;
mod client_token;
mod endpoints;
mod gateway_state;
mod generation;
mod in_flight;
mod process;
mod request_ids;
mod retry_cap;

use openclaw_config::ClientTokenError;

use crate::agents::AgentError;
use crate::telemetry::OtlpError;

pub(crate) use agent_snapshot::AgentSnapshot;
pub(crate) use auth_throttle::AuthThrottle;
pub use client_token::{TOKEN_VARIABLE, client_token};
pub use endpoints::{ProviderRowError, configured_endpoints, discover_providers};
pub(crate) use gateway_state::GatewayState;
pub use gateway_state::ReloadError;
pub(crate) use generation::{Draft, Generation};
pub(crate) use in_flight::{InFlight, InFlightPermit};
pub(crate) use process::Process;
pub(crate) use request_ids::RequestIds;
pub(crate) use retry_cap::RetryCap;

/// A gateway cannot be put together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The default agent's state.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The token of clients.
    #[error(transparent)]
    ClientToken(#[from] ClientTokenError),
    /// Metrics cannot be pushed.
    #[error(transparent)]
    Otlp(#[from] OtlpError),
    /// A provider row.
    #[error(transparent)]
    Provider(#[from] ProviderRowError),
}
