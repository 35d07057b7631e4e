#![doc = include_str!("../README.md")]

mod alias;
mod allowlist;
mod candidates;
mod capability;
mod config;
mod image;
mod lint;
mod names;
mod policy;
mod primary;
mod profile_suffix;
mod resolver;
mod source;
#[cfg(test)]
mod testing;
mod vendor;

pub use alias::BuiltInAliases;
pub use allowlist::SelectionError;
pub use candidates::{Candidate, CandidateOrigin, ChainExplanation, DropCause, Dropped, Requested};
pub use capability::{Capabilities, Needs, Shortfall, Support};
pub use config::{
    AgentConfig, AgentDefaults, AgentsConfig, AuthMode, ChainConfig, HeartbeatConfig, ImageModelSetting,
    ModelEntry, ModelRow, ModelSetting, ModelsConfig, ProviderConfig, SecretValue, SettingForm,
    SubagentsConfig,
};
pub use lint::{Credentials, Finding, LINT_RULES, LintRule, Severity, lint};
pub use profile_suffix::split_profile;
pub use resolver::Resolver;
pub use source::{
    CronBasis, CronPayload, IgnoredOverride, OneOffPolicy, OverrideOwner, RunKind, Selection, SelectionFacts,
    SelectionSource, StoredOverride,
};
pub use vendor::{BarePrefix, ProviderRules, VendorRules};
