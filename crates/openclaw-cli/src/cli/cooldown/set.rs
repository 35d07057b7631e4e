//! `cooldown set`: makes a credential cool down for a given time.

use std::io;

use clap::Args;
use jiff::{SignedDuration, Timestamp};
use openclaw_auth_store::UsageChange;
use openclaw_config::Environment;
use openclaw_gateway::report::CooldownsReport;
use openclaw_gateway::report::left;
use openclaw_ids::{AgentId, ProfileId};
use serde::Serialize;
use serde_json::json;

use crate::cli::auth::NotStored;
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, history::commit, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::Render;
use crate::terminal::duration_arg;
use crate::terminal::screen::{Screen, now};

/// Arguments of `cooldown set`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct SetArgs {
    /// The credential, such as `openai:work`
    #[arg(value_name = "PROFILE")]
    profile: String,
    /// How long, such as `90s`, `2h 30m` or `1d`
    #[arg(long = "for", value_name = "TIME", value_parser = duration_arg::span)]
    duration: SignedDuration,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Other credentials and models take over, as for a limit whose end the provider stated. It is no
failure: nothing is counted. The first model of a chain is tried once in a while all the same, so
that a rest that was too long does no harm.

Examples:
  openclaw-gateway cooldown set openai:work --for 2h
  openclaw-gateway cooldown set openai:work --for 30m    A shorter one takes its place
  openclaw-gateway cooldown clear openai:work            The way back";

/// A cooldown whose end is beyond the calendar.
#[derive(Debug, thiserror::Error)]
#[error("--for ends after the last day that can be written; write a shorter time, such as 30d")]
struct SetError;

/// Opens the window.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &SetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let id = ProfileId::try_new(&arguments.profile)?;
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    if ReadAgent::open(&files, &agent)?.seen.credential(&id).is_none() {
        return Err(NotStored::Unknown { profile: id, agent }.into());
    }
    let store = files.store(&agent)?;
    let started = now();
    let until = started.checked_add(arguments.duration).map_err(|_| SetError)?;
    let change = UsageChange::CoolDown {
        profile: id.clone(),
        until,
    };
    runtime()?.block_on(commit(&files, &agent, &store, change))?;
    drop(store);
    let read = ReadAgent::open(&files, &agent)?;
    let report = CooldownsReport::of(&files.installation(), &read.state(), started);
    let opened = OpenedCooldown {
        agent,
        profile: id,
        started,
        until,
        report,
    };
    screen.render(&opened, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// A cooldown that was set.
struct OpenedCooldown {
    agent: AgentId,
    profile: ProfileId,
    started: Timestamp,
    until: Timestamp,
    /// All that cool down now, of which the credential's windows are shown.
    report: CooldownsReport,
}

impl Render for OpenedCooldown {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        screen.line(format!(
            "{} rests in agent {} for {}.",
            self.profile,
            self.agent,
            left(self.until, self.started)
        ))
    }

    fn json(&self) -> impl Serialize {
        let mut profiles = self.report.profiles.iter();
        let own = profiles.find(|profile| profile.profile == self.profile);
        json!({"agent": self.agent, "profile": self.profile, "windows": own.map(|own| &own.windows)})
    }
}
