//! The configuration: the other program's file, read only, and the settings of our own beside it.

mod client_token;
mod deadlines;
mod failover;
mod file;
mod files;
mod includes;
mod limits;
mod logins;
mod misspelt;
mod place;
mod secrets;
mod stream;
mod variables;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_auth_store::AuthConfig;
use openclaw_chain::{AuthMode, ChainConfig, ModelSetting};
use openclaw_ids::{ModelRef, ProviderId};
use secrecy::SecretString;
use serde::Deserialize;

pub use client_token::{ClientToken, ClientTokenError, GatewayAuthConfig, GatewayAuthMode, GatewayConfig};
pub use deadlines::{DeadlineRow, DeadlineSettings};
pub use failover::{
    AdminSetting, BodyModelPolicy, CommandSetting, FailoverConfig, InlineWaitSetting, NoticeSetting,
};
pub use file::FileError;
pub use file::{parse_root, read};
pub use files::ConfigFiles;
pub(crate) use includes::{Include, REMEDY as INCLUDE_REMEDY};
pub(crate) use logins::LoginUrl;
pub use logins::{LoginConfig, LoginConfigs, TokenBody};
pub(crate) use misspelt::Misspelt;
pub use secrets::{CommandConfig, FileConfig, SecretDefaults, SecretProvider, SecretsConfig};
pub use stream::{Rescue, StreamSettings};

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
    /// Settings of our own.
    pub failover: FailoverConfig,
    /// Where other files would be included.
    pub(crate) includes: Vec<Include>,
    /// `env`: variables for whatever points to one that the process lacks.
    pub(crate) variables: BTreeMap<String, SecretString>,
    /// Keys that nobody reads, and which were probably meant.
    pub(crate) misspelt: Vec<Misspelt>,
}

/// The sections of the root that are read apart from the chain.
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

    /// Reads the text of our own settings file at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub(crate) fn parse_failover(path: &Path, text: &str) -> Result<FailoverConfig, FileError> {
        file::parse_root(path, text)?;
        file::parse_as(path, text)
    }

    /// This configuration with other settings of our own.
    #[must_use]
    pub(crate) fn with_failover(mut self, failover: FailoverConfig) -> Self {
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
            includes: includes::of(&root),
            variables: variables::of(&root),
            misspelt: misspelt::keys(&root),
        })
    }

    /// The file, and the place in it where the value at `keys` is written, for what turned out wrong after reading.
    pub(crate) fn place_of(&self, keys: &[&str]) -> String {
        let path = self.path.display();
        let text = file::read(&self.path).ok().flatten();
        match text.and_then(|text| place::place_of(&text, keys)) {
            Some((line, column)) => format!("{path}:{line}:{column}"),
            None => path.to_string(),
        }
    }

    /// Whether nothing says which models to use, so that the machine may be searched for some.
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
