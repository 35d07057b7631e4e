//! What a gateway keeps for as long as its process runs, whatever becomes of its configuration.

use std::path::PathBuf;
use std::sync::Arc;

use openclaw_config::{ConfigFiles, Environment, HistoryConfig};
use openclaw_upstream::Upstream;

use super::{AuthThrottle, InFlight, RequestIds, RetryCap};
use crate::agents::Agents;
use crate::telemetry::Telemetry;

/// What all generations of the configuration share.
pub(crate) struct Process {
    /// The state of each agent.
    pub(crate) agents: Agents,
    /// The variables this process was started with; nothing changes them.
    pub(crate) environment: Environment,
    /// Where the configuration is read from; none when a program made it.
    pub(crate) files: Option<ConfigFiles>,
    pub(crate) auth_throttle: AuthThrottle,
    /// What the history was opened with; a reload cannot change it.
    pub(crate) history: HistoryConfig,
    pub(crate) ids: RequestIds,
    pub(crate) in_flight: InFlight,
    pub(crate) retry_cap: RetryCap,
    /// Where state is kept.
    pub(crate) state_dir: PathBuf,
    /// Watches what happens in runs.
    pub(crate) telemetry: Arc<Telemetry>,
    pub(crate) upstream: Upstream,
}
