//! The process with the configuration that new requests are answered by, and how a reload replaces it.

use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use jiff::Timestamp;
use openclaw_classify::error_chain;
use openclaw_config::FileError;
use openclaw_ids::ModelRef;
use openclaw_runner::{Clock, SystemClock};
use serde_json::json;
use tokio::sync::{Mutex, watch};

use super::SetupError;
use super::generation::{Draft, Generation};
use super::process::Process;
use crate::agents::AgentSettings;

/// A gateway's process with the configuration that is used now.
pub(crate) struct GatewayState {
    pub(crate) process: Arc<Process>,
    generation: watch::Sender<Arc<Generation>>,
    /// Why the last reload was refused; none when it was taken over.
    refused: SyncMutex<Option<ReloadRefusal>>,
    /// One reload after the other.
    reloading: Mutex<()>,
}

/// A reload that changed nothing.
#[derive(Debug, Clone)]
pub(crate) struct ReloadRefusal {
    pub(crate) at: Timestamp,
    pub(crate) problem: String,
}

/// The configuration was not taken over; the one before it is used on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReloadError {
    /// One of the files.
    #[error(transparent)]
    File(#[from] FileError),
    /// Reading was interrupted, because the process is ending.
    #[error("the configuration was not read, because the process is ending")]
    Interrupted,
    /// There is nothing to read.
    #[error("this gateway has no configuration files to read again; restart it instead")]
    NoFiles,
    /// Clients would no longer be asked for a token.
    #[error(
        "the token that clients must send is gone from the configuration; put it back, or restart the gateway to run \
         without one"
    )]
    TokenGone,
    /// What the files say cannot be used.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A model that cannot be called joins a chain.
    #[error(
        "`{model}` cannot be called, because provider `{provider}` has no address; set models.providers.{provider}.baseUrl, \
         or correct the name",
        provider = model.provider()
    )]
    Uncallable {
        /// The model.
        model: ModelRef,
    },
}

impl GatewayState {
    pub(crate) fn new(process: Arc<Process>, first: Generation) -> Self {
        Self {
            process,
            generation: watch::Sender::new(Arc::new(first)),
            refused: SyncMutex::default(),
            reloading: Mutex::default(),
        }
    }

    /// The configuration that a new request is answered by.
    pub(crate) fn generation(&self) -> Arc<Generation> {
        Arc::clone(&self.generation.borrow())
    }

    /// Why the last reload changed nothing, if it was refused.
    pub(crate) fn refused(&self) -> Option<ReloadRefusal> {
        self.refused
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Reads the files again and answers new requests by what they say; those in flight end as they began. Usage state,
    /// sessions and open windows stay.
    ///
    /// # Errors
    /// [`ReloadError`]; nothing was changed then.
    pub(crate) async fn reload(&self) -> Result<Arc<Generation>, ReloadError> {
        let _one = self.reloading.lock().await;
        let outcome = self.read_and_swap().await;
        let refusal = match &outcome {
            Ok(generation) => {
                let number = generation.number;
                tracing::info!(
                    generation = number,
                    "the configuration was read again and is used from now on"
                );
                let events = self.process.telemetry.events();
                events.tell(generation.since, "reload", &json!({ "generation": number }));
                for warning in generation.warnings() {
                    tracing::warn!("{warning}");
                }
                if !generation.restart_needed.is_empty() {
                    tracing::warn!("restart needed: {}", generation.restart_needed.join(", "));
                }
                None
            }
            Err(error) => {
                let problem = error_chain::line(error);
                tracing::error!(
                    error = problem,
                    "the configuration was not reloaded; the one before it is used on"
                );
                Some(ReloadRefusal {
                    at: SystemClock.now(),
                    problem,
                })
            }
        };
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
        outcome
    }

    async fn read_and_swap(&self) -> Result<Arc<Generation>, ReloadError> {
        let before = self.generation();
        let (draft, settings) = self.read(before.config.exists).await?;
        let next = draft
            .into_generation(before.number.saturating_add(1), &self.process)
            .await?;
        // A gateway that other machines can reach must not lose its token because a file lost a line.
        if before.token.is_some() && next.token.is_none() {
            return Err(ReloadError::TokenGone);
        }
        let known = before.uncallable();
        if let Some(model) = next.uncallable().into_iter().find(|model| !known.contains(model)) {
            return Err(ReloadError::Uncallable { model });
        }
        self.process.agents.apply(settings).await;
        let next = Arc::new(next);
        self.generation.send_replace(Arc::clone(&next));
        Ok(next)
    }

    /// Reads the files, and follows what they point to, where that may take its time.
    async fn read(&self, present: bool) -> Result<(Draft, AgentSettings), ReloadError> {
        let process = Arc::clone(&self.process);
        let reading = tokio::task::spawn_blocking(move || {
            let files = process.files.as_ref().ok_or(ReloadError::NoFiles)?;
            let draft = Draft::try_new(files.load_again(present)?, &process.environment)?;
            let settings = draft.agent_settings();
            Ok((draft, settings))
        });
        reading.await.map_err(|_| ReloadError::Interrupted)?
    }
}
