#![doc = include_str!("../README.md")]

mod config;
mod environment;
mod failover;
mod file;
mod findings;
mod gateway;
mod paths;
mod permission_audit;
mod secrets;

pub use config::{Config, ConfigFiles};
pub use environment::{CONFIG_VARIABLE, Environment, FAILOVER_VARIABLE};
pub use failover::{
    AdminSetting, BodyModelPolicy, CommandSetting, DeadlineRow, DeadlineSettings, FailoverConfig,
    HistoryConfig, InlineWaitSetting, LONGEST_WAIT, LoginConfig, LoginConfigs, LoginUrl, LoginUrlError,
    NoticeSetting, Rescue, StreamSettings, TokenBody, wait,
};
pub use file::{FileError, parse_root, read};
pub use findings::{INCLUDE_REMEDY, Include, MisspeltKey};
pub use gateway::{ClientToken, ClientTokenError, GatewayAuthConfig, GatewayAuthMode, GatewayConfig};
pub use paths::{
    CREDENTIALS_FILE, SESSIONS_FILE, SESSIONS_JSON, agents_folder, credentials_folder,
    default_credentials_folder, inherited_credentials_folder, sessions_folder,
};
pub use permission_audit::{ExposedFile, permission_audit};
pub use secrets::{CommandConfig, FileConfig, SecretDefaults, SecretProvider, SecretsConfig};
