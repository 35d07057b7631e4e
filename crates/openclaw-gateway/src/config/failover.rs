//! The settings of our own, in `failover.json5` beside the other program's configuration.

use std::time::Duration;

use openclaw_runner::RunSettings;
use serde::Deserialize;

/// `failover.json5`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    rename_all = "camelCase",
    expecting = "an object of settings such as { inlineWaitMs: 5000 }"
)]
pub struct FailoverConfig {
    /// The longest stated wait that is waited out on the same credential when nothing else is left (R2), in ms.
    pub inline_wait_ms: u64,
    /// Whether a recognised format fault goes to the next model instead of to the client (A1).
    pub advance_on_format: bool,
    /// What a `provider/model` in the request body means (A9).
    pub body_model_policy: BodyModelPolicy,
}

/// What a `provider/model` in the request body means (A9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyModelPolicy {
    /// The configured chain when the model belongs to it, else this model alone.
    #[default]
    Auto,
    /// The configured chain, started at this model.
    Chain,
    /// This model alone.
    Strict,
}

impl Default for FailoverConfig {
    fn default() -> Self {
        let settings = RunSettings::default();
        Self {
            inline_wait_ms: u64::try_from(settings.inline_wait.as_millis()).unwrap_or(u64::MAX),
            advance_on_format: settings.advance_on_format,
            body_model_policy: BodyModelPolicy::default(),
        }
    }
}

impl FailoverConfig {
    /// The part that the runner uses.
    pub fn run_settings(&self) -> RunSettings {
        RunSettings {
            inline_wait: Duration::from_millis(self.inline_wait_ms),
            advance_on_format: self.advance_on_format,
            ..RunSettings::default()
        }
    }
}
