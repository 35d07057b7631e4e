#![doc = include_str!("../README.md")]

mod alias;
mod candidates;
mod config;
mod image;
mod lint;
mod names;
mod policy;
mod primary;
mod resolver;
mod source;
#[cfg(test)]
mod testing;
mod vendor;

pub use candidates::{Candidate, CandidateOrigin, ChainExplanation, DropCause, Dropped};
pub use config::{
    AgentConfig, AgentDefaults, AgentsConfig, AuthMode, ChainConfig, HeartbeatConfig, ImageModelSetting,
    ModelEntry, ModelRow, ModelSetting, ModelsConfig, ProviderConfig, SecretValue, SettingForm,
    SubagentsConfig,
};
pub use lint::{Credentials, Finding, LINT_RULES, LintRule, Severity, lint};
pub use names::{BuiltInAliases, split_profile};
pub use resolver::{Capabilities, Needs, Resolver, SelectionError, Shortfall, Support};
pub use source::{
    CronBasis, CronPayload, IgnoredOverride, OneOffPolicy, OverrideOwner, Requested, RunKind, Selection,
    SelectionFacts, SelectionSource, StoredOverride,
};
pub use vendor::{BarePrefix, ProviderRules, VendorRules};
