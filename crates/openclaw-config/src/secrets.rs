//! `secrets`: the files and commands that pointers to secrets name.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;

/// The `secrets` section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(
    default,
    expecting = "an object such as { providers: { vault: { source: \"file\", path: \"~/secrets.json\" } } }"
)]
pub struct SecretsConfig {
    /// The alias for pointers that name none, by kind.
    pub defaults: SecretDefaults,
    /// The files and commands, by alias.
    pub providers: BTreeMap<String, SecretProvider>,
}

/// The alias for pointers that name none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, expecting = "an object such as { file: \"vault\" }")]
pub struct SecretDefaults {
    /// For commands.
    pub exec: Option<String>,
    /// For files.
    pub file: Option<String>,
}

/// One source of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    tag = "source",
    rename_all = "lowercase",
    expecting = "an object such as { source: \"file\", path: \"~/secrets.json\" }"
)]
pub enum SecretProvider {
    /// The environment; every variable may be named.
    Env {},
    /// A command.
    Exec(CommandConfig),
    /// A file.
    File(FileConfig),
    /// A kind that only OpenClaw knows.
    #[serde(other)]
    Other,
}

/// A file of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    rename_all = "camelCase",
    expecting = "an object such as { source: \"file\", path: \"~/secrets.json\" }"
)]
pub struct FileConfig {
    /// Where it is; `~` is the home directory.
    pub path: String,
    /// The most bytes that are read.
    #[serde(default = "most_bytes")]
    pub max_bytes: NonZeroU64,
    /// Whether others may read the file, too.
    #[serde(default)]
    pub allow_insecure_path: bool,
}

/// A command that prints secrets.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    rename_all = "camelCase",
    expecting = "an object such as { source: \"exec\", command: \"/usr/local/bin/get-secret\" }"
)]
pub struct CommandConfig {
    /// The program, by its whole path; no shell is involved.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables that it gets, beside those of `pass_env`.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables of this process that it gets, too; no others.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// Whether it must answer in JSON; else what it prints is the secret.
    #[serde(default = "yes")]
    pub json_only: bool,
    /// How long it may run, in milliseconds.
    #[serde(default = "five_seconds")]
    pub timeout_ms: NonZeroU64,
    /// How long it may print nothing, in milliseconds; as long as it may run, unless set.
    #[serde(default)]
    pub no_output_timeout_ms: Option<NonZeroU64>,
    /// The most bytes that it may print.
    #[serde(default = "most_bytes")]
    pub max_output_bytes: NonZeroU64,
    /// Folders of which one must hold the program; any, when none is named.
    #[serde(default)]
    pub trusted_dirs: Vec<String>,
    /// Whether others may change the program.
    #[serde(default)]
    pub allow_insecure_path: bool,
    /// Whether the path may be a link.
    #[serde(default)]
    pub allow_symlink_command: bool,
}

fn yes() -> bool {
    true
}

/// Five seconds.
fn five_seconds() -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(4_999)
}

/// One MiB.
fn most_bytes() -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add((1 << 20) - 1)
}
