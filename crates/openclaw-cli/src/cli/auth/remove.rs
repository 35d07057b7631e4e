//! `auth remove`: forgets a stored credential.

use std::io;

use clap::Args;
use openclaw_auth_store::ProfileStore;
use openclaw_config::Environment;
use openclaw_ids::{AgentId, ProfileId};
use serde::Serialize;
use serde_json::json;

use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::Render;
use crate::terminal::screen::{Screen, now};

/// Arguments of `auth remove`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct RemoveArgs {
    /// The credential, such as `openai:work`
    #[arg(value_name = "PROFILE")]
    profile: String,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway auth remove openai:work
  openclaw-gateway auth remove openai:work --agent ops";

/// Why there is nothing to remove.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum NotStored {
    /// It is the main agent's.
    #[error("{profile} belongs to agent `main`, and agent `{agent}` only inherits it; use --agent main")]
    LegacyLocations {
        /// The credential.
        profile: ProfileId,
        /// The agent that was named.
        agent: AgentId,
    },
    /// It comes from outside.
    #[error("{0} is not stored: it comes from the configuration or the environment; change it there")]
    Ambient(ProfileId),
    /// There is none.
    #[error("agent `{agent}` has no credential `{profile}`; `auth list` shows the ones it has")]
    Unknown {
        /// The credential.
        profile: ProfileId,
        /// The agent that was named.
        agent: AgentId,
    },
}

/// Removes the credential.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &RemoveArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let id = ProfileId::try_new(&arguments.profile)?;
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    let ReadAgent { own, seen, .. } = ReadAgent::open(&files, &agent)?;
    if !own.profiles.contains_key(&id) {
        let profile = id.clone();
        return Err(if seen.profiles.contains_key(&id) {
            NotStored::LegacyLocations { profile, agent }
        } else if seen.ambient.contains_key(&id) {
            NotStored::Ambient(profile)
        } else {
            NotStored::Unknown { profile, agent }
        }
        .into());
    }
    runtime()?.block_on(files.own_store(&agent)?.remove(id.clone(), now()))?;
    let removed = RemovedCredential { agent, profile: id };
    screen.render(&removed, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// A credential that is no longer stored.
struct RemovedCredential {
    agent: AgentId,
    profile: ProfileId,
}

impl Render for RemovedCredential {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        screen.line(format!("Removed {} from agent {}.", self.profile, self.agent))
    }

    fn json(&self) -> impl Serialize {
        json!({"agent": self.agent, "profile": self.profile, "done": "removed"})
    }
}
