//! The whole configuration: `openclaw.json`, which is only read, and `failover.json5` beside it.

mod files;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_auth_store::AuthConfig;
use openclaw_chain::{AuthMode, ChainConfig, ModelSetting};
use openclaw_ids::{ModelRef, ProviderId};
use secrecy::SecretString;
use serde::Deserialize;

use crate::environment::Environment;
use crate::failover::FailoverConfig;
use crate::file::{self, FileError, position};
use crate::findings::{Include, MisspeltKey, includes, typo_check};
use crate::gateway::GatewayConfig;
use crate::secrets::SecretsConfig;

pub use files::ConfigFiles;

/// Everything that was configured.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The configuration file; it need not exist.
    pub path: PathBuf,
    /// Whether that file exists.
    pub exists: bool,
    /// `agents` and `models`.
    pub chain: ChainConfig,
    /// `auth`.
    pub auth: AuthConfig,
    /// `secrets`.
    pub secrets: SecretsConfig,
    /// `gateway`.
    pub gateway: GatewayConfig,
    /// `failover.json5`: settings that OpenClaw does not have.
    pub failover: FailoverConfig,
    /// The `$include` keys, which are not followed.
    pub includes: Vec<Include>,
    /// `env`: variables that a pointer may name when the process lacks them.
    pub variables: BTreeMap<String, SecretString>,
    /// Misspelt keys, each with the nearest known key.
    pub misspelt: Vec<MisspeltKey>,
}

/// The sections of the root that `openclaw-chain` does not read.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a configuration object such as { auth: { … } }")]
struct Sections {
    #[serde(default)]
    auth: AuthConfig,
    #[serde(default)]
    secrets: SecretsConfig,
    #[serde(default)]
    gateway: GatewayConfig,
}

impl Config {
    /// Reads both files. One that does not exist leaves the defaults; unknown keys are ignored.
    ///
    /// # Errors
    /// When a file cannot be read, is not JSON5, or gives a known key a wrong value.
    pub fn load(path: &Path, failover_path: &Path) -> Result<Self, FileError> {
        let mut config = match file::read(path)? {
            Some(text) => Self::parse(path, &text)?,
            None => Self {
                path: path.to_owned(),
                ..Self::default()
            },
        };
        if let Some(text) = file::read(failover_path)? {
            config = config.with_failover(Self::parse_failover(failover_path, &text)?);
        }
        Ok(config)
    }

    /// Reads the text of `failover.json5` at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse_failover(path: &Path, text: &str) -> Result<FailoverConfig, FileError> {
        file::parse_root(path, text)?;
        file::parse_as(path, text)
    }

    /// This configuration with the settings of another `failover.json5`.
    #[must_use]
    pub fn with_failover(mut self, failover: FailoverConfig) -> Self {
        self.auth.cooldowns = self.auth.cooldowns.with_bypass(failover.cooldown_bypass.clone());
        self.failover = failover;
        self
    }

    /// Reads the text of the configuration file at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        let root = file::parse_root(path, text)?;
        let chain: ChainConfig = file::parse_as(path, text)?;
        let Sections {
            mut auth,
            secrets,
            gateway,
        } = file::parse_as(path, text)?;
        let providers = chain.models.providers.iter();
        auth.aws_sdk = providers
            .filter(|(_, provider)| provider.auth == Some(AuthMode::AwsSdk))
            .filter_map(|(id, _)| ProviderId::try_new(id).ok())
            .collect();
        Ok(Self {
            path: path.to_owned(),
            exists: true,
            chain,
            auth,
            secrets,
            gateway,
            failover: FailoverConfig::default(),
            includes: includes::all(&root),
            variables: variables::configured(&root),
            misspelt: typo_check::misspelt_keys(&root),
        })
    }

    /// The file, line and column of the value at `keys`, for faults that show only after reading.
    pub fn position_of(&self, keys: &[&str]) -> String {
        let path = self.path.display();
        let text = file::read(&self.path).ok().flatten();
        match text.and_then(|text| position::position_of(&text, keys)) {
            Some((line, column)) => format!("{path}:{line}:{column}"),
            None => path.to_string(),
        }
    }

    /// The variables of `process`, and where one is unset, the value that this configuration sets.
    #[must_use]
    pub fn environment(&self, process: &Environment) -> Environment {
        process.with_missing(&self.variables)
    }

    /// Whether no model is configured, so that the gateway may search this machine for some.
    pub fn names_no_model(&self) -> bool {
        let names_one = |setting: &ModelSetting| {
            setting.primary().is_some() || setting.fallbacks().is_some_and(|listed| !listed.is_empty())
        };
        let agents = &self.chain.agents;
        !names_one(&agents.defaults.model)
            && !agents.list.iter().any(|agent| names_one(&agent.model))
            && self.chain.models.providers.is_empty()
    }

    /// This configuration with `chain` as its default chain.
    #[must_use]
    pub fn with_default_chain<'a>(mut self, chain: impl Iterator<Item = &'a ModelRef>) -> Self {
        let mut keys = chain.map(ModelRef::key);
        if let Some(primary) = keys.next() {
            self.chain.agents.defaults.model = ModelSetting::object(Some(&primary), Some(keys.collect()));
        }
        self
    }
}

#[cfg(test)]
mod tests;
