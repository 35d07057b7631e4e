//! A gateway, put together from its configuration and the machine it runs on.

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod router;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderValue;
use openclaw_config::{Config, ConfigFiles, Environment, HistoryConfig};
use openclaw_history::{History, Retention};
use openclaw_ids::{AgentId, ModelRef};
use openclaw_runner::{Clock, RunObserver, SystemClock};
use openclaw_upstream::Upstream;

use crate::agents::{AgentContext, Agents, LegacyLogins};
use crate::http::GatewayService;
use crate::state::{
    AuthThrottle, Draft, GatewayState, InFlight, Process, ReloadError, RequestIds, RetryCap, SetupError,
};
use crate::telemetry::metrics::Metrics;
use crate::telemetry::{Collector, Telemetry, resource};

/// What this program calls itself towards providers.
pub const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("openclaw-gateway/", env!("CARGO_PKG_VERSION")));

/// What a gateway is made of.
pub struct Setup {
    /// Variables of the process.
    pub environment: Environment,
    /// What was configured.
    pub config: Config,
    /// Where that was read, so that it can be read again; none when a program made it.
    pub files: Option<ConfigFiles>,
    /// Where state is kept; created when it is missing.
    pub state_dir: PathBuf,
    /// Is told of every decision.
    pub observer: Option<Arc<dyn RunObserver>>,
}

/// A gateway that is ready to answer. Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway {
    state: Arc<GatewayState>,
}

impl Gateway {
    /// Puts a gateway together and opens the default agent's state, so that damage is found now and not by the first
    /// request. Without any configured model or provider the machine is searched for some.
    ///
    /// # Errors
    /// [`SetupError`]; nothing was damaged then.
    pub async fn open(setup: Setup) -> Result<Self, SetupError> {
        let Setup {
            environment,
            config,
            files,
            state_dir,
            observer,
        } = setup;
        let push = Collector::find(&environment)?.map(|collector| collector.metrics());
        let metrics = Metrics::new(push.transpose()?, resource(&environment));
        let telemetry = Arc::new(Telemetry::new(metrics, config.failover.history.enabled, observer));
        let keep = config.failover.history.clone();
        let draft = Draft::try_new(config, &environment)?;
        // Opened when the rest turned out usable.
        let history = history_of(state_dir.clone(), keep.clone());
        let shared = AgentContext {
            legacy: LegacyLogins::of(&environment, &state_dir),
            state_dir: state_dir.clone(),
            telemetry: Arc::clone(&telemetry),
        };
        let process = Process {
            agents: Agents::new(shared, draft.agent_settings()),
            retry_cap: RetryCap::of(&environment),
            auth_throttle: AuthThrottle::default(),
            history: keep,
            ids: RequestIds::new(),
            in_flight: InFlight::default(),
            state_dir,
            telemetry,
            upstream: Upstream::new(USER_AGENT),
            environment,
            files,
        };
        let first = draft.into_generation(1, &process).await?;
        process.telemetry.keep_in(history.await);
        let state = Arc::new(GatewayState::new(Arc::new(process), first));
        Ok(Self { state })
    }

    /// Reads the configuration again and answers new requests by it; those in flight end as they began.
    ///
    /// # Errors
    /// [`ReloadError`]; the configuration before is used on then.
    pub async fn reload(&self) -> Result<(), ReloadError> {
        self.state.reload().await.map(drop)
    }

    /// Ends the answers that would otherwise never end: the streams of live events.
    pub fn stopping(&self) {
        self.state.process.telemetry.events().end();
    }

    /// Ends what is told of this gateway: what happened is kept, and the last metrics are pushed.
    pub async fn close(&self) {
        self.flush().await;
        let process = Arc::clone(&self.state.process);
        // It blocks until they are delivered; a process that is ending delivers nothing more.
        let _ = tokio::task::spawn_blocking(move || process.telemetry.metrics().shut_down()).await;
    }

    /// Waits until what happened so far is kept.
    pub async fn flush(&self) {
        if let Some(history) = self.state.process.telemetry.history() {
            history.flush().await;
        }
    }

    /// The HTTP routes.
    pub fn router(&self) -> Router {
        Router::new().fallback_service(self.service())
    }

    /// The same without a router around it.
    pub fn service(&self) -> GatewayService {
        router::service(Arc::clone(&self.state))
    }

    /// How many connections of clients may be open while the process may have `files` open: the other half is for calls,
    /// which silent clients must not starve.
    pub fn most_connections(&self, files: Option<u64>) -> usize {
        let configured = self.state.generation().config.failover.max_connections;
        let configured = usize::try_from(configured.get()).unwrap_or(usize::MAX);
        let half = files.and_then(|files| usize::try_from(files / 2).ok());
        half.map_or(configured, |half| configured.min(half))
    }

    /// What was found on this machine; none when something was configured.
    pub fn found(&self) -> Option<String> {
        self.state.generation().found.as_ref().map(ToString::to_string)
    }

    /// What is wrong and stops nothing, for people: configured secrets that cannot be used, each with its key and the
    /// variable it names, and files that others on this machine may read.
    pub fn warnings(&self) -> Vec<String> {
        self.state.generation().warnings()
    }

    /// Every agent with its chain of models, for people.
    pub fn chains(&self) -> Vec<(AgentId, Vec<String>)> {
        let chains = self.state.generation().chains().into_iter();
        chains
            .map(|(agent, chain)| (agent, chain.iter().map(ModelRef::key).collect()))
            .collect()
    }
}

/// How long and how much the history keeps; none when it is switched off.
pub fn retention(config: &HistoryConfig) -> Option<Retention> {
    config.enabled.then(|| Retention {
        age: config.max_age(),
        bytes: config.max_bytes(),
    })
}

/// The history of `state_dir`; one that cannot be used stops nothing.
async fn history_of(state_dir: PathBuf, config: HistoryConfig) -> History {
    let open = move || History::open_or_off(&state_dir, retention(&config), SystemClock.now());
    // Opening does not panic; a process that is ending keeps nothing more.
    tokio::task::spawn_blocking(open).await.unwrap_or_default()
}
