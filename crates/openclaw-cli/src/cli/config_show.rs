//! `config show`: what holds, wherever it was written, and what is a default.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use openclaw_auth_store::Credential;
use openclaw_config::{Environment, FailoverConfig};
use openclaw_gateway::providers::configured;
use openclaw_history::history_path;
use openclaw_ids::{AgentId, ModelRef, ProviderId};
use serde::Serialize;
use serde_json::Value;

use crate::files::{CommonArgs, Files};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Cell, Render, Screen, Style, Table};

/// Arguments of `config show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway config show
  openclaw-gateway config show --json | jq .settings

Secrets are never shown. `config check` says what is wrong with it.";

/// What holds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownConfig {
    files: ShownFiles,
    agents: Vec<ShownAgent>,
    providers: Vec<ShownProvider>,
    /// `failover.json5`, with what was not written there.
    settings: BTreeMap<String, Value>,
    /// The settings that are not as they are by default.
    changed: Vec<String>,
    /// `auth.cooldowns`, in milliseconds and counts.
    cooldowns: BTreeMap<&'static str, u64>,
}

/// Where everything is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownFiles {
    config: PathBuf,
    config_exists: bool,
    failover: PathBuf,
    failover_exists: bool,
    state: PathBuf,
    history: PathBuf,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownAgent {
    id: AgentId,
    default: bool,
    credentials: PathBuf,
    chain: Vec<ModelRef>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownProvider {
    id: ProviderId,
    base_url: String,
    /// The credentials that are not stored.
    ambient: Vec<String>,
}

/// Shows it.
pub(super) fn run(
    environment: &Environment,
    arguments: &ShowArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let shown = shown(&files)?;
    screen.render(&shown, arguments.common.output)?;
    Ok(Outcome::Fine)
}

fn shown(files: &Files) -> Result<ShownConfig, CommandError> {
    let settings = members(&files.config.failover)?;
    let defaults = members(&FailoverConfig::default())?;
    let differs = |(name, value): &(&String, &Value)| defaults.get(*name) != Some(value);
    let changed = settings
        .iter()
        .filter(differs)
        .map(|(name, _)| name.clone())
        .collect();
    let failover = files.environment.failover_config_path(&files.config.path);
    let agents = files.agents().into_iter().map(|id| ShownAgent {
        default: id == files.config.chain.default_agent(),
        credentials: files.credentials_folder(&id),
        chain: files.resolver.configured_chain(&id),
        id,
    });
    Ok(ShownConfig {
        files: ShownFiles {
            config: files.config.path.clone(),
            config_exists: files.config.exists,
            failover_exists: failover.exists(),
            failover,
            state: files.state_dir.clone(),
            history: history_path(&files.state_dir),
        },
        agents: agents.collect(),
        providers: providers(files),
        settings,
        changed,
        cooldowns: cooldowns(files),
    })
}

/// The settings by name; maps in them are sorted, for they have no order.
fn members(settings: &FailoverConfig) -> serde_json::Result<BTreeMap<String, Value>> {
    let value = serde_json::to_value(settings)?;
    let mut members: BTreeMap<String, Value> = serde_json::from_value(value)?;
    members.values_mut().for_each(Value::sort_all_objects);
    Ok(members)
}

/// The providers that are configured, that have a key, or whose models are in a chain.
fn providers(files: &Files) -> Vec<ShownProvider> {
    let mut ids: Vec<ProviderId> = Vec::new();
    ids.extend(configured(&files.config.chain.models));
    let chains = files
        .agents()
        .into_iter()
        .flat_map(|agent| files.resolver.configured_chain(&agent));
    ids.extend(chains.map(|model| model.provider().clone()));
    let keyed = files
        .ambient
        .iter()
        .filter(|profile| !matches!(profile.credential, Credential::Local(_)));
    ids.extend(keyed.map(|profile| profile.credential.provider().clone()));
    ids.sort_unstable();
    ids.dedup();
    let shown = |id: ProviderId| {
        let endpoint = files.endpoints.get(&id)?;
        let own = files
            .ambient
            .iter()
            .filter(|profile| *profile.credential.provider() == id);
        Some(ShownProvider {
            base_url: endpoint.base_url().to_owned(),
            ambient: own.map(|profile| profile.id.to_string()).collect(),
            id,
        })
    };
    ids.into_iter().filter_map(shown).collect()
}

fn cooldowns(files: &Files) -> BTreeMap<&'static str, u64> {
    let config = &files.config.auth.cooldowns;
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    BTreeMap::from([
        ("authPermanentBackoffMs", millis(config.auth_permanent_backoff())),
        ("authPermanentMaxMs", millis(config.auth_permanent_max())),
        ("billingMaxMs", millis(config.billing_max())),
        ("failureWindowMs", millis(config.failure_window())),
        ("overloadedBackoffMs", millis(config.overloaded_backoff())),
        (
            "overloadedProfileRotations",
            config.overloaded_profile_rotations().into(),
        ),
        (
            "rateLimitedProfileRotations",
            config.rate_limited_profile_rotations().into(),
        ),
    ])
}

/// A value without the members that say nothing.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let says_something = |value: &Value| match value {
                Value::Null => false,
                Value::Object(members) => !members.is_empty(),
                Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
            };
            let members = members
                .iter()
                .map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(members.filter(|(_, value)| says_something(value)).collect())
        }
        Value::Array(_) | Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

impl Render for ShownConfig {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show_files(&self.files, screen)?;
        screen.section("Agents", &agent_table(&self.agents))?;
        screen.section("Providers", &provider_table(&self.providers))?;
        screen.section("Settings of failover.json5", &self.setting_table())?;
        let mut table = Table::new(&["COOLDOWN", "VALUE"]);
        for (name, value) in &self.cooldowns {
            table.row([(*name).into(), (*value).into()]);
        }
        screen.section("auth.cooldowns", &table)
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

impl ShownConfig {
    fn setting_table(&self) -> Table {
        let mut table = Table::new(&["SETTING", "VALUE", ""]);
        for (name, value) in &self.settings {
            let is_changed = self.changed.contains(name);
            let tone = if is_changed { Style::Strong } else { Style::Plain };
            let word = if is_changed { "set" } else { "default" };
            table.row([
                name.as_str().into(),
                Cell::new(tone, without_empty(value).to_string()),
                Cell::new(Style::Dim, word),
            ]);
        }
        table
    }
}

fn show_files(files: &ShownFiles, screen: &mut Screen<'_>) -> io::Result<()> {
    let missing = |exists: bool| {
        if exists {
            ""
        } else {
            " (does not exist; defaults apply)"
        }
    };
    screen.toned(Style::Strong, "Files")?;
    screen.line(format!(
        "  Configuration  {}{}",
        files.config.display(),
        missing(files.config_exists)
    ))?;
    screen.line(format!(
        "  Our settings   {}{}",
        files.failover.display(),
        missing(files.failover_exists)
    ))?;
    screen.line(format!("  State          {}", files.state.display()))?;
    screen.line(format!("  History        {}", files.history.display()))
}

fn agent_table(agents: &[ShownAgent]) -> Table {
    let mut table = Table::new(&["AGENT", "CHAIN", "CREDENTIALS"]);
    for agent in agents {
        let chain: Vec<String> = agent.chain.iter().map(ModelRef::key).collect();
        let name = if agent.default {
            format!("{} (default)", agent.id)
        } else {
            agent.id.to_string()
        };
        table.row([
            name.into(),
            chain.join(", ").into(),
            agent.credentials.display().to_string().into(),
        ]);
    }
    table
}

fn provider_table(providers: &[ShownProvider]) -> Table {
    let mut table = Table::new(&["PROVIDER", "ADDRESS", "NOT STORED"]);
    for provider in providers {
        table.row([
            provider.id.as_str().into(),
            provider.base_url.as_str().into(),
            provider.ambient.join(", ").into(),
        ]);
    }
    table
}
