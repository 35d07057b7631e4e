//! `auth list`: the credentials, without their secrets.

use std::io;

use clap::Args;
use openclaw_auth_store::{Eligibility, Health, OrderBasis};
use openclaw_config::Environment;
use openclaw_gateway::report::legacy_credentials::LegacyCredentials;
use openclaw_gateway::report::{ProfileReport, ProfilesReport};
use openclaw_gateway::report::{ago, left};
use serde::Serialize;

use crate::files::{Files, ReadAgent, ShownArgs, show_agent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `auth list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ListArgs {
    #[command(flatten)]
    shown: ShownArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway auth list                Those of the default agent, in the order they are tried
  openclaw-gateway auth list --agent ops    Those of another agent, the inherited ones included
  openclaw-gateway auth list --json | jq -r '.profiles[] | select(.eligibility != \"ok\") | .id'

Secrets are never shown. Of one that is not where its credential points, the place is named.";

/// Shows the credentials.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ListArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    show_agent(environment, &arguments.shown, screen, listed)
}

/// What is stored, and what older versions left.
#[derive(Debug, Serialize)]
struct CredentialList {
    #[serde(flatten)]
    report: ProfilesReport,
    /// Files of older versions and the credentials that are in them alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    older: Vec<LegacyCredentials>,
}

fn listed(files: &Files, agent: &ReadAgent) -> CredentialList {
    CredentialList {
        report: ProfilesReport::of(&files.installation(), &agent.state(), now()),
        older: files.left_for(agent),
    }
}

impl Render for CredentialList {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show_stored(&self.report, screen)?;
        let mut older = self.older.iter();
        older.try_for_each(|older| screen.line(format!("\n{older}.")))
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn show_stored(report: &ProfilesReport, screen: &mut Screen<'_>) -> io::Result<()> {
    let heads = &[
        "PROFILE",
        "KIND",
        "SECRET",
        "OWNER",
        "STATE",
        "ORDER",
        "RESTS FOR",
        "LAST USED",
    ];
    let mut table = Table::new(heads);
    // What needs no credential is of interest once it was called.
    let shown: Vec<&ProfileReport> = report
        .profiles
        .iter()
        .filter(|profile| !profile.is_idle_local())
        .collect();
    if shown.is_empty() && report.rejected.is_empty() {
        screen.line(format!("Agent {} has no credential.", report.agent))?;
        return screen.line("Store one: openclaw-gateway auth add <provider>");
    }
    for profile in shown {
        table.row(row(profile));
    }
    screen.toned(Style::Strong, format!("Credentials of agent {}", report.agent))?;
    screen.table(&table)?;
    for profile in &report.profiles {
        if let Some(problem) = &profile.problem {
            screen.line(format!("\n{} cannot be used: {problem}", profile.id))?;
        }
    }
    let mut explicit = Table::new(&["PROVIDER", "ORDER", "SET BY"]);
    for order in report.orders.iter().filter(|order| order.explicit) {
        let listed: Vec<&str> = order.order.iter().map(openclaw_ids::ProfileId::as_str).collect();
        let by = match order.basis {
            OrderBasis::AgentOrder => "auth order set",
            OrderBasis::ConfigOrder | OrderBasis::ConfiguredProfiles | OrderBasis::StoredProfiles => {
                "auth.order of the configuration"
            }
        };
        explicit.row([
            order.provider.as_str().into(),
            listed.join(", ").into(),
            by.into(),
        ]);
    }
    screen.section("Orders", &explicit)?;
    for key in &report.rejected {
        screen.line(format!(
            "\n`{key}` is stored and no credential; it is left as it is."
        ))?;
    }
    Ok(())
}

fn row(profile: &ProfileReport) -> [Cell; 8] {
    let now = now();
    let state = match (profile.eligibility, profile.health) {
        (Eligibility::Ok, Health::Ok | Health::Static) => Cell::new(Style::Good, "ok"),
        (Eligibility::Ok, health) => Cell::new(Style::Warn, health.as_str()),
        (why, _) => Cell::new(Style::Bad, why.as_str()),
    };
    let order = match (profile.position, profile.passed_over) {
        (Some(position), _) => Cell::from(position),
        (None, Some(why)) => Cell::new(Style::Dim, why.as_str()),
        (None, None) => Cell::from(""),
    };
    let end = profile
        .windows
        .iter()
        .map(|window| (window.until, window))
        .max_by_key(|(until, _)| *until);
    let cooldown = end.map(|(until, window)| {
        let which = window
            .model
            .as_ref()
            .map(|model| format!(" for {model}"))
            .unwrap_or_default();
        format!("{}{which} ({})", left(until, now), window.reason)
    });
    [
        profile.id.as_str().into(),
        profile.kind.into(),
        profile.secret.into(),
        profile.owner.as_str().into(),
        state,
        order,
        Cell::new(Style::Warn, cooldown.unwrap_or_default()),
        profile
            .last_used
            .map(|at| ago(at, now))
            .unwrap_or_default()
            .into(),
    ]
}
