//! `failover.json5`: the settings that OpenClaw does not have, in a file beside its configuration.

mod deadlines;
mod history;
mod logins;
mod stream;

use std::num::{NonZeroU32, NonZeroUsize};

use openclaw_ids::ProviderId;
use serde::{Deserialize, Serialize};

pub use deadlines::{DeadlineRow, DeadlineSettings, LONGEST_WAIT, wait};
pub use history::HistoryConfig;
pub use logins::{LoginConfig, LoginConfigs, LoginUrl, LoginUrlError, TokenBody};
pub use stream::{Rescue, StreamSettings};

/// `failover.json5`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    default,
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object of settings such as { inlineWaitMs: 5000 }"
)]
pub struct FailoverConfig {
    /// Who may use `/admin/v1` and the page at `/`.
    pub admin: AdminSetting,
    /// Whether a recognised format fault goes to the next model instead of to the client (A1).
    pub advance_on_format: bool,
    /// Whether a request whose tool-call ids a provider refuses is repaired and sent once more (R4).
    pub allow_format_retry: bool,
    /// What a `provider/model` in the request body means (A9).
    pub body_model_policy: BodyModelPolicy,
    /// Whether `/model`, `/new`, `/reset` and `/status` are answered by the gateway when they are the whole last message
    /// of a session.
    pub commands: CommandSetting,
    /// Providers that manage their own limits: none of their models cools down (D8).
    pub cooldown_bypass: Vec<ProviderId>,
    /// How long is waited for what (BL-93).
    pub deadlines: DeadlineSettings,
    /// What is kept of decisions.
    pub history: HistoryConfig,
    /// When a short stated wait is waited out on the same credential (R2).
    pub inline_wait: InlineWaitSetting,
    /// The longest stated wait that is waited out (R2), in ms.
    pub inline_wait_ms: u64,
    /// Where logins are used and refreshed, where that differs from what is known.
    #[serde(skip_serializing)]
    pub logins: LoginConfigs,
    /// The most calls of one run (A8); none for no limit.
    pub max_attempts: Option<NonZeroUsize>,
    /// The most requests that are answered at the same time; further ones get an error with a time to retry.
    pub max_concurrent: NonZeroU32,
    /// The most connections of clients that are open at the same time; further ones get an error with a time to retry.
    pub max_connections: NonZeroU32,
    /// How users learn that another model answers (S-10).
    pub notices: NoticeSetting,
    /// What becomes of a stream that breaks off.
    pub stream: StreamSettings,
}

/// Who may use `/admin/v1` and the page at `/`, beside having the token where there is one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AdminSetting {
    /// This machine alone.
    #[default]
    Local,
    /// No client.
    Off,
    /// Every machine, with the token.
    Token,
}

/// What a `provider/model` in the request body means (A9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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

/// Whether the gateway answers commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandSetting {
    /// No: they go to the model like any other message.
    #[default]
    Off,
    /// Yes.
    On,
}

/// When a short stated wait is waited out (R2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InlineWaitSetting {
    /// Before another credential or model is tried.
    Always,
    /// Only when nothing else is left.
    #[default]
    Last,
}

/// How users learn that another model answers (S-10).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeSetting {
    /// By a response header, for programs to show.
    #[default]
    Header,
    /// By the header and by a line before the answer's text, for people who read in chat clients.
    Inline,
}

/// The longest stated wait that is waited out when nothing is set, in milliseconds (R2).
const INLINE_WAIT_MS: u64 = 5_000;
/// The number of answers that one process streams without strain.
const MAX_CONCURRENT: NonZeroU32 = NonZeroU32::MIN.saturating_add(2_047);
/// Twice as many, since clients keep connections that they do not use.
const MAX_CONNECTIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(4_095);

impl Default for FailoverConfig {
    fn default() -> Self {
        Self {
            admin: AdminSetting::default(),
            advance_on_format: false,
            allow_format_retry: true,
            body_model_policy: BodyModelPolicy::default(),
            commands: CommandSetting::default(),
            cooldown_bypass: Vec::new(),
            deadlines: DeadlineSettings::default(),
            history: HistoryConfig::default(),
            inline_wait: InlineWaitSetting::default(),
            inline_wait_ms: INLINE_WAIT_MS,
            logins: LoginConfigs::new(),
            max_attempts: None,
            max_concurrent: MAX_CONCURRENT,
            max_connections: MAX_CONNECTIONS,
            notices: NoticeSetting::default(),
            stream: StreamSettings::default(),
        }
    }
}
